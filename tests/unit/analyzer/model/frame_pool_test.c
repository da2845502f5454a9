/* SPDX-License-Identifier: MIT */
/* frame_pool_test.c - arrays from the pool do not overlap, whatever their sizes are. */
#include "unit.h"

#include "frame_pool.h"

#define ARRAYS 3000u

/* Mostly short, and a few that are longer than a chunk. */
static size_t size_of(uint32_t array)
{
	return array % 1000 == 999 ? 300000 : array % 61;
}

UNIT_TEST(arrays_keep_what_is_written_to_them)
{
	static uint32_t *array[ARRAYS];
	struct frame_pool pool = {0};

	for (uint32_t i = 0; i < ARRAYS; i++) {
		array[i] = frame_pool_take(&pool, size_of(i));
		CHECK(array[i] != NULL);
		for (size_t k = 0; k < size_of(i); k++)
			array[i][k] = i;
	}
	for (uint32_t i = 0; i < ARRAYS; i++) {
		for (size_t k = 0; k < size_of(i); k++)
			CHECK_EQ(array[i][k], i);
	}
	frame_pool_close(&pool);
	CHECK(pool.chunk == NULL);
}

UNIT_TEST(no_frames_are_an_array_too)
{
	struct frame_pool pool = {0};

	CHECK(frame_pool_take(&pool, 0) != NULL);
	frame_pool_close(&pool);
}

UNIT_MAIN()
