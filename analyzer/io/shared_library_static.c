/* SPDX-License-Identifier: MIT */
/*
 * shared_library_static.c - see shared_library.h. In the static program capstone is linked in, and
 * it is the only library that is found.
 */
#include "shared_library.h"

#include <string.h>

/* These are declared by name alone: disassembler.c knows their types. */
#define FUNCTIONS(X) \
	X(cs_open)   \
	X(cs_close)  \
	X(cs_option) \
	X(cs_malloc) \
	X(cs_free)   \
	X(cs_disasm_iter)

#define DECLARE(function) void function(void);
FUNCTIONS(DECLARE)

#define ROW(function) {#function, function},
static const struct linked_function {
	const char *name;
	void (*address)(void);
} linked[] = {FUNCTIONS(ROW)};

static const char capstone[] = "libcapstone.so.";

bool shared_library_is_loadable(void)
{
	return false;
}

void *shared_library_open(const char *file)
{
	return strncmp(file, capstone, strlen(capstone)) == 0 ? (void *)linked : NULL;
}

void shared_library_close(void *library)
{
	(void)library;
}

bool shared_library_find(void *library, const char *function, void *out_function)
{
	(void)library;
	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++) {
		if (strcmp(linked[i].name, function) == 0) {
			memcpy(out_function, &linked[i].address, sizeof(linked[i].address));
			return true;
		}
	}
	return false;
}
