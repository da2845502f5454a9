/* SPDX-License-Identifier: MIT */
/* mapping_pieces_test.c - what is left of mappings, whatever is cut off them, and what is put back.
 */
#include "mapping_pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "unit.h"

#define PAGES 64u
#define STEPS 20000u

static struct mapping_pieces pieces;

struct seen {
	uint64_t bytes;
	unsigned last, parts;
};

static void see(void *context, const struct mapping_part *part)
{
	struct seen *seen = context;

	seen->bytes += part->bytes;
	seen->last += part->is_last;
	seen->parts++;
}

static struct seen cut(uint64_t lo, uint64_t hi)
{
	struct seen seen = {0};

	CHECK_EQ(mapping_pieces_cut(&pieces, lo, hi, see, &seen), 0);
	return seen;
}

UNIT_TEST(a_hole_leaves_two_ends_of_one_mapping)
{
	struct seen seen;

	CHECK_EQ(mapping_pieces_add(&pieces, 100, 200, 7, 1), 0);
	seen = cut(120, 150);
	CHECK_EQ(seen.bytes, 30);
	CHECK_EQ(seen.last, 0);
	CHECK_EQ(pieces.count, 2);
	seen = cut(150, 300);
	CHECK_EQ(seen.bytes, 50);
	CHECK_EQ(seen.last, 0);
	seen = cut(0, 300);
	CHECK_EQ(seen.bytes, 20);
	CHECK_EQ(seen.last, 1);
	CHECK_EQ(pieces.count, 0);
	mapping_pieces_close(&pieces);
}

UNIT_TEST(what_a_thread_took_off_is_put_back)
{
	struct seen seen = {0};

	CHECK_EQ(mapping_pieces_add(&pieces, 100, 200, 7, 1), 0);
	CHECK_EQ(mapping_pieces_add(&pieces, 200, 300, 8, 1), 0);
	CHECK_EQ(mapping_pieces_take_off(&pieces, 1, 150, 300, see, &seen), 0);
	CHECK_EQ(seen.bytes, 150);
	CHECK_EQ(seen.last, 1);
	CHECK_EQ(mapping_pieces_put_back(&pieces, 2, 150, see, &seen), 0);
	CHECK_EQ(seen.bytes, 150); /* it was another thread */
	CHECK_EQ(mapping_pieces_put_back(&pieces, 1, 150, see, &seen), 0);
	CHECK_EQ(seen.bytes, 300);
	CHECK_EQ(mapping_pieces_put_back(&pieces, 1, 150, see, &seen), 0);
	CHECK_EQ(seen.bytes, 300); /* once */
	seen = cut(0, 1000);
	CHECK_EQ(seen.bytes, 200);
	CHECK_EQ(seen.last, 2);
	mapping_pieces_close(&pieces);
}

UNIT_TEST(nothing_is_put_back_over_what_is_there_now)
{
	struct seen seen = {0};

	CHECK_EQ(mapping_pieces_add(&pieces, 100, 200, 7, 1), 0);
	CHECK_EQ(mapping_pieces_take_off(&pieces, 1, 100, 200, see, &seen), 0);
	CHECK_EQ(mapping_pieces_add(&pieces, 120, 130, 8, 1), 0);
	CHECK_EQ(mapping_pieces_put_back(&pieces, 1, 100, see, &seen), 0);
	CHECK_EQ(seen.bytes, 100);
	CHECK_EQ(cut(0, 1000).bytes, 10);
	mapping_pieces_close(&pieces);
}

UNIT_TEST(too_many_pieces_are_refused)
{
	for (uint64_t i = 0; i < MAPPING_PIECES_MAX; i++)
		CHECK_EQ(mapping_pieces_add(&pieces, 100 * i, 100 * i + 50, 0, 0), 0);
	CHECK_EQ(mapping_pieces_add(&pieces, UINT32_MAX, 1ull << 40, 0, 0), -E2BIG);
	mapping_pieces_close(&pieces);
}

/* The truth: which mapping has each page, as numbers from 1 on. */
static unsigned owner[PAGES], next_owner;

static unsigned pages_of(unsigned number)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PAGES; i++)
		count += owner[i] == number;
	return count;
}

static void clear(unsigned lo, unsigned hi, struct seen *out_truth)
{
	for (unsigned i = lo; i < hi; i++) {
		const unsigned number = owner[i];

		owner[i] = 0;
		out_truth->bytes += number != 0;
		out_truth->last += number && !pages_of(number);
	}
}

UNIT_TEST(any_order_of_calls_leaves_what_it_should)
{
	srand(4711);
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned lo = (unsigned)rand() % PAGES,
			       hi = lo + 1 + (unsigned)rand() % (PAGES - lo);
		struct seen truth = {0}, seen = {0};
		const bool is_undone = rand() % 4 == 0;

		if (is_undone) {
			CHECK_EQ(mapping_pieces_take_off(&pieces, 1, lo, hi, see, &seen), 0);
			CHECK_EQ(mapping_pieces_put_back(&pieces, 1, lo, see, &seen), 0);
			continue;
		}
		clear(lo, hi, &truth);
		CHECK_EQ(mapping_pieces_take_off(&pieces, 1, lo, hi, see, &seen), 0);
		CHECK_EQ(seen.bytes, truth.bytes);
		CHECK_EQ(seen.last, truth.last);
		if (rand() % 2)
			continue;
		next_owner++;
		for (unsigned i = lo; i < hi; i++)
			owner[i] = next_owner;
		CHECK_EQ(mapping_pieces_add(&pieces, lo, hi, next_owner, 0), 0);
	}
	/* what has gone is used again */
	CHECK(pieces.mapping_count < 2 * PAGES + MAPPING_UNDO * PAGES);
	mapping_pieces_close(&pieces);
}

UNIT_MAIN()
