/* SPDX-License-Identifier: MIT */
/*
 * history_test.c - slices that are counted as a stream tells them, against a list of all that
 * happened.
 */
#include "unit.h"

#include "history.h"

#define MS 1000000ull

enum { SAMPLES = 3000 };

static uint64_t state = 11;

static uint64_t random_below(uint64_t bound)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % bound;
}

static void check_is(const struct history *history, const uint64_t *born_ns,
		     const uint64_t *gone_ns, size_t count)
{
	struct history expected, whole = *history;

	history_open(&expected);
	for (size_t i = 0; i < count; i++) {
		(void)history_slice(&expected, born_ns[i]);
		(void)history_slice(&expected, gone_ns[i]);
	}
	for (size_t i = 0; i < count; i++) {
		expected.alloc[born_ns[i] >> expected.shift]++;
		if (gone_ns[i])
			expected.gone[gone_ns[i] >> expected.shift]++;
		else
			expected.live[born_ns[i] >> expected.shift]++;
	}
	history_settle(&whole);
	CHECK(memcmp(&whole, &expected, sizeof(whole)) == 0);
}

/*
 * Clocks of CPUs that disagree, samples that are gone at once or late, frees that are taken back:
 * after each of them the slices are what they should be.
 */
UNIT_TEST(slices_are_what_happened)
{
	static uint64_t born_ns[SAMPLES], gone_ns[SAMPLES]; /* gone_ns 0: lives */
	struct history history;

	history_open(&history);
	for (size_t i = 0; i < SAMPLES; i++) {
		const size_t other = (size_t)random_below(i + 1);

		born_ns[i] = i * MS / 4 + random_below(3 * MS);
		history_add_alloc(&history, born_ns[i]);
		if (random_below(2)) {
			gone_ns[i] = born_ns[i] + random_below(2) * random_below(40 * MS);
			history_add_gone(&history, gone_ns[i]);
		} else {
			history_add_live(&history, born_ns[i]);
		}
		if (!gone_ns[other]) {
			gone_ns[other] = born_ns[i];
			history_add_gone(&history, gone_ns[other]);
			history_take_live(&history, born_ns[other]);
		} else if (random_below(4) == 0) {
			history_take_gone(&history, gone_ns[other]);
			history_add_live(&history, born_ns[other]);
			gone_ns[other] = 0;
		}
		check_is(&history, born_ns, gone_ns, i + 1);
	}
	CHECK_EQ(history.shift, 25); /* 763 ms */
}

UNIT_TEST(counts_saturate)
{
	struct history history, same;

	history_open(&history);
	history_add_alloc(&history, 5 * MS);
	history.at_hand_alloc = UINT32_MAX;
	history_add_alloc(&history, 5 * MS);
	history_add_alloc(&history, 40 * MS);
	history_add_alloc(&history, 5 * MS);
	history_settle(&history);
	CHECK_EQ(history.alloc[5 * MS >> history.shift], UINT32_MAX);
	CHECK_EQ(history.alloc[40 * MS >> history.shift], 1);
	same = history;
	history_add(&history, &same);
	CHECK_EQ(history.alloc[5 * MS >> history.shift], UINT32_MAX);
	CHECK_EQ(history.alloc[40 * MS >> history.shift], 2);
}

/* What was counted of the slice at hand is not forgotten when histories are added. */
UNIT_TEST(sums_have_the_slices_at_hand)
{
	struct history one, other;

	history_open(&one);
	history_open(&other);
	history_add_alloc(&one, 7 * MS);
	history_add_gone(&one, 7 * MS);
	history_add_alloc(&other, 7 * MS);
	history_add_live(&other, 7 * MS);
	history_add(&one, &other);
	CHECK_EQ(one.alloc[7 * MS >> one.shift], 2);
	CHECK_EQ(one.gone[7 * MS >> one.shift], 1);
	CHECK_EQ(one.live[7 * MS >> one.shift], 1);
}

UNIT_MAIN()
