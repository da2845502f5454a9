/* SPDX-License-Identifier: MIT */
/* load_count_test.c - the dynamic linker's count of loaded objects, in this process. */
#include "load_count.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>

#include "own_images.h"

static int note_adds(struct dl_phdr_info *info, size_t size, void *adds)
{
	(void)size;
	*(uint64_t *)adds = info->dlpi_adds;
	return 1;
}

static uint64_t adds(void)
{
	uint64_t count = 0;

	dl_iterate_phdr(note_adds, &count);
	return count;
}

UNIT_TEST(it_is_the_count_that_the_dynamic_linker_gives)
{
	struct own own = own_open();
	const remote_addr at = load_count_find(&own.images, &own.memory);
	uint64_t before = 0, after = 0;

	if (!at)
		SKIP("this libc has none");
	CHECK_EQ(memory_read_u64(&own.memory, at, &before), 0);
	CHECK_EQ(before, adds());
	void *handle = dlmopen(LM_ID_NEWLM, LIBM_SO, RTLD_NOW);
	if (!handle)
		SKIP("no namespaces");
	CHECK_EQ(memory_read_u64(&own.memory, at, &after), 0);
	CHECK(after > before);
	CHECK_EQ(after, adds());
	dlclose(handle);
	CHECK_EQ(memory_read_u64(&own.memory, at, &after), 0);
	CHECK_EQ(after, adds());
	own_close(&own);
}

UNIT_TEST(what_is_not_the_list_of_this_process_has_none)
{
	struct own own = own_open();
	static struct r_debug debug = {.r_version = 1, .r_state = RT_CONSISTENT};
	static struct link_map nobody;

	debug.r_map = &nobody;
	own.images.r_debug = address_of(&debug);
	CHECK_EQ(load_count_find(&own.images, &own.memory), 0);
	own.images.r_debug = 0;
	CHECK_EQ(load_count_find(&own.images, &own.memory), 0);
	own_close(&own);
}

UNIT_MAIN()
