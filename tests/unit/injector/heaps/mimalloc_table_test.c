/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_table: how entries of a table are told from each other, wherever memory is: kernels have
 * addresses of 39 to 52 bits. The table is laid out here, at an address that this process need not
 * have.
 */
#include "mimalloc_table.h"

#include <string.h>

#include "unit.h"

#define TABLE 264u
#define ENTRY 96u
#define SLICES 512u
#define BLOCK_BYTES 64u
#define START 384u /* of the blocks of a page */
#define KEY 40u    /* or what other builds have there */

static uint8_t byte[TABLE + (SLICES + 1) * ENTRY];

static void write_number(unsigned slice, unsigned at, uint64_t number, size_t bytes)
{
	memcpy(byte + TABLE + slice * ENTRY + at, &number, bytes);
}

/* Of a segment at that address: its own slice, a page, and free ones. */
static void lay_table(remote_addr segment, const uint64_t key[2])
{
	memset(byte, 0, sizeof(byte));
	write_number(0, 0, 1, 4);
	write_number(1, 0, 1, 4);
	write_number(2, 0, SLICES - 2, 4);
	write_number(1, 10, 1, 2); /* blocks made */
	write_number(1, 12, (MIMALLOC_SLICE_BYTES - START) / BLOCK_BYTES,
		     2);                                                /* there is room for */
	write_number(1, 16, segment + MIMALLOC_SLICE_BYTES + START, 8); /* free ones */
	write_number(1, 28, BLOCK_BYTES, 4);
	write_number(1, KEY, key[0], 8);
	write_number(1, KEY + 8, key[1], 8);
}

static bool has_keys(remote_addr segment, remote_addr end, const uint64_t key[2])
{
	const struct heap_bytes table = {.lo = segment,
					 .size = sizeof(byte),
					 .byte = byte,
					 .known_hi = segment + sizeof(byte)};
	const struct mimalloc_head head = {.slices = SLICES, .info_slices = 1, .entries = SLICES};
	struct mimalloc_layout layout = {.table_at = TABLE};

	lay_table(segment, key);
	CHECK(mimalloc_table_parse(&table, segment, &head, end, &layout));
	CHECK_EQ(layout.slice_bytes, ENTRY);
	CHECK(!layout.has_start);
	return layout.has_keys;
}

/* Keys are random, and mostly no addresses; what else is there are addresses, or nothing. */
UNIT_TEST(keys_are_no_addresses)
{
	for (unsigned bits = 39; bits <= 52; bits++) {
		const remote_addr end = 1ull << bits, segment = end - 4ull * MIMALLOC_SEGMENT_BYTES;
		const uint64_t addresses[2] = {segment + MIMALLOC_SLICE_BYTES, end - 4096};
		const uint64_t keys[2] = {0x123456789abcdef1, 0xfedcba9876543210};
		const uint64_t one_is_small[2] = {1, end}, none[2] = {0, 0};

		CHECK(!has_keys(segment, end, addresses));
		CHECK(!has_keys(segment, end, none));
		CHECK(has_keys(segment, end, keys));
		CHECK(has_keys(segment, end, one_is_small));
	}
}

UNIT_MAIN()
