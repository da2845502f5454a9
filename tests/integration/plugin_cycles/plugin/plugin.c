/* SPDX-License-Identifier: MIT */
/*
 * A plug-in, built twice: with A defined its functions are in one order and have one set of sizes,
 * without it in the other order with another set. So code of one at the addresses of the other
 * shows, as both have the same size and are loaded at the same place.
 */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

void *_Znwm(size_t size); /* operator new, of the C++ library that comes and goes with this */

#ifdef A
#define BIT(name) name##_a
#else
#define BIT(name) name##_b
#endif

static char *text(size_t length)
{
	static char bytes[PLUGIN_TEXT_MAX + 1];

	memset(bytes, 'x', length);
	bytes[length] = 0;
	return bytes;
}

__attribute__((noinline)) void BIT(left)(const struct plugin_sizes *sizes, void **out);
__attribute__((noinline)) void BIT(moved)(const struct plugin_sizes *sizes, void **out);
__attribute__((noinline)) void BIT(passed)(const struct plugin_sizes *sizes);

#ifdef A
#include "left.h"
#include "moved.h"
#include "passed.h"
#else
#include "passed.h"
#include "moved.h"
#include "left.h"
#endif

void plugin_work(const struct plugin_sizes *sizes, void **out)
{
	BIT(left)(sizes, out);
	BIT(moved)(sizes, out);
	BIT(passed)(sizes);
	__asm__ volatile("" : : : "memory");
}

/* What stands in the slot by which this calls malloc. */
uintptr_t plugin_slot(void)
{
	uintptr_t address;

	__asm__ volatile("mov malloc@GOTPCREL(%%rip), %0" : "=r"(address));
	return address;
}
