/* SPDX-License-Identifier: MIT */
/* data_places_test.c - variables of the test itself, and what has none. */
#include "data_places.h"

#include "own_images.h"

static char alone[24] = "not in .bss";
static struct {
	char room[256];
} large;
static _Thread_local char of_thread[16];

static void check_variable(const struct data_places *places, const void *at, const void *lo,
			   size_t size, const char *name)
{
	const struct data_variable *variable = data_places_variable(places, address_of(at));

	CHECK(variable);
	CHECK_EQ(variable->lo, address_of(lo));
	CHECK_EQ(variable->hi, address_of(lo) + size);
	CHECK_STR(places->names + variable->name, name);
}

UNIT_TEST(variables_and_their_segments)
{
	struct own own = own_open();
	struct data_places places;

	CHECK_EQ(data_places_find(&own.images, &places), 0);
	CHECK(!places.is_cut);
	check_variable(&places, alone + 23, alone, sizeof(alone), "alone");
	check_variable(&places, large.room + 100, &large, sizeof(large), "large");
	for (size_t i = 1; i < places.variable_count; i++)
		CHECK(places.variable[i].lo >= places.variable[i - 1].hi);
	const struct data_segment *data = data_places_segment(&places, address_of(alone));
	const struct data_segment *bss = data_places_segment(&places, address_of(&large));

	CHECK(data && data->image->is_main && address_of(alone) < data->bss);
	CHECK(bss && bss->image->is_main && address_of(&large) >= bss->bss);
	/* of a version, whose name is left out */
	const struct data_variable *out = data_places_variable(&places, address_of(&stdout));
	CHECK(out && !strchr(places.names + out->name, '@'));
	data_places_close(&places);
	own_close(&own);
}

UNIT_TEST(stacks_code_and_thread_local_data_are_no_place)
{
	struct own own = own_open();
	struct data_places places;
	char on_stack = 1;

	CHECK_EQ(data_places_find(&own.images, &places), 0);
	CHECK(!data_places_segment(&places, address_of(&on_stack)));
	CHECK(!data_places_segment(&places, address_of(of_thread)));
	CHECK(!data_places_segment(&places, (remote_addr)(uintptr_t)own_open));
	CHECK(!data_places_variable(&places, 0));
	CHECK(!data_places_variable(&places, UINT64_MAX));
	data_places_close(&places);
	own_close(&own);
}

UNIT_MAIN()
