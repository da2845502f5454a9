/* SPDX-License-Identifier: MIT */
/*
 * return_gadget: glibc has one; it is what it should be, and is no longer one where memory is not
 * as the file.
 */
#include "return_gadget.h"

#include <string.h>
#include <sys/mman.h>

#include "arch.h"
#include "own_images.h"
#include "unit.h"

#define PAGE 4096ul

UNIT_TEST(libc_has_one)
{
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");
	const uint64_t found = return_gadget_find(&own.images, libc, &own.memory, false).at;
	const uint8_t *code = (const uint8_t *)(uintptr_t)found;

	CHECK(found >= libc->lo && found < libc->hi);
	CHECK_EQ(arch_find_kept_call(code, 0, ARCH_GADGET_MAX), 0);
	CHECK(!arch_ends_in_call(code - ARCH_CALL_MAX));
	own_close(&own);
}

/* Such a register is less often a global variable than others. */
UNIT_TEST(for_any_function_it_calls_through_a_register_of_little_use)
{
	struct own own = own_open();
	const struct return_gadget found =
		return_gadget_find(&own.images, own_image(&own, "libc.so"), &own.memory, true);

	CHECK(found.at);
	CHECK_EQ(found.kept, arch_kept_call_register((const uint8_t *)(uintptr_t)found.at));
	printf("# kept register %u\n", found.kept);
	CHECK(found.kept <= 1);
	own_close(&own);
}

/* A breakpoint, say, which would be met by each sampled call. */
UNIT_TEST(changed_code_is_none)
{
	struct own own = own_open();
	const struct elf_image *libc = own_image(&own, "libc.so");
	const uint64_t found = return_gadget_find(&own.images, libc, &own.memory, false).at;
	uint8_t *page = (uint8_t *)(uintptr_t)(found / PAGE * PAGE);

	CHECK_EQ(mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	*(uint8_t *)(uintptr_t)found ^= 1;
	const uint64_t other = return_gadget_find(&own.images, libc, &own.memory, false).at;
	*(uint8_t *)(uintptr_t)found ^= 1;
	CHECK_EQ(mprotect(page, PAGE, PROT_READ | PROT_EXEC), 0);
	CHECK(other != found);
	own_close(&own);
}

UNIT_TEST(an_object_that_may_be_unloaded_has_none)
{
	struct own own = own_open();

	for (size_t i = 0; i < own.images.count; i++)
		own.images.image[i].is_pinned = false;
	CHECK_EQ(return_gadget_find(&own.images, own_image(&own, "libc.so"), &own.memory, false).at,
		 0);
	own_close(&own);
}

UNIT_MAIN()
