/* SPDX-License-Identifier: MIT */
/* words_test.c - words of this process's own memory. */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "hi_wire.h"
#include "unit.h"

#define SECOND_NS 1000000000ull
#define MAP_BYTES ((size_t)8 << 20)
#define MAP_WORDS (MAP_BYTES / 8)

static struct memory memory;
static struct words words;
static uint64_t *map;

/* Each word of the map is its own number + 1. */
static void begin(uint64_t deadline_ns)
{
	CHECK_EQ(memory_open(&memory, getpid(), getpid()), 0);
	CHECK_EQ(words_open(&words, &memory, deadline_ns), 0);
	map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	for (size_t i = 0; i < MAP_WORDS; i++)
		map[i] = i + 1;
}

static void end(void)
{
	munmap(map, MAP_BYTES);
	words_close(&words);
	memory_close(&memory);
}

struct seen {
	uint64_t next; /* address */
	size_t count, zeros;
};

static void look(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct seen *seen = visitor;

	CHECK(at >= seen->next);
	seen->next = at + count * 8;
	seen->count += count;
	for (size_t i = 0; i < count; i++) {
		seen->zeros += !word[i];
		if (word[i])
			CHECK_EQ(word[i], (at - (uintptr_t)map) / 8 + i + 1);
	}
}

static int walk(size_t first, size_t count, struct seen *out_seen)
{
	const struct mark_memory of_words = words_memory(&words);
	const uint64_t lo = (uintptr_t)map + first * 8;

	*out_seen = (struct seen){.next = lo};
	return of_words.walk(of_words.context, lo, lo + count * 8, look, out_seen);
}

UNIT_TEST(ranges_of_each_size_have_their_words)
{
	static const size_t sizes[] = {0,    1,    2,    3,     511,   512,    513,
				       2047, 2048, 2049, 32768, 70000, 131072, 140000};
	struct seen seen;

	begin(clock_now_ns() + 60 * SECOND_NS);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t first = 0; first < 4100; first += 37) {
			CHECK_EQ(walk(first, sizes[i], &seen), 0);
			CHECK_EQ(seen.count, sizes[i]);
			CHECK_EQ(seen.zeros, 0);
		}
	end();
}

UNIT_TEST(many_small_ranges_need_few_reads)
{
	struct seen seen;

	begin(clock_now_ns() + 60 * SECOND_NS);
	for (size_t i = 0; i + 2 <= MAP_WORDS; i += 4) {
		CHECK_EQ(walk(i, 2, &seen), 0);
		CHECK_EQ(seen.count, 2);
	}
	CHECK_EQ(words.bytes, MAP_BYTES / 2);
	CHECK(words.reads <= 1024);
	/* in another order, where they are not far from each other */
	for (size_t i = 0; i < MAP_WORDS / 32; i++)
		CHECK_EQ(walk(i * 7919 % (MAP_WORDS / 32) * 4, 2, &seen), 0);
	CHECK(words.reads <= 1024 + 128);
	end();
}

UNIT_TEST(what_is_not_mapped_beside_a_small_range_does_no_harm)
{
	const size_t page = HI_PAGE_BYTES / 8;
	struct seen seen;

	begin(clock_now_ns() + 60 * SECOND_NS);
	CHECK_EQ(munmap(map + 2 * page, 3 * HI_PAGE_BYTES), 0);
	CHECK_EQ(walk(2 * page - 2, 2, &seen), 0);
	CHECK_EQ(seen.count, 2);
	CHECK_EQ(seen.zeros, 0);
	CHECK_EQ(walk(5 * page, 2, &seen), 0);
	CHECK_EQ(seen.count, 2);
	CHECK_EQ(seen.zeros, 0);
	/* and in it: left out, or no pointers */
	CHECK_EQ(walk(2 * page - 2, 4, &seen), 0);
	CHECK_EQ(seen.count - seen.zeros, 2);
	CHECK_EQ(walk(0, 40000, &seen), 0);
	CHECK_EQ(seen.count - seen.zeros, 40000 - 3 * page);
	end();
}

/* Pages of shared memory are not the process's own, but it can write to them. */
UNIT_TEST(shared_memory)
{
	struct seen seen;

	begin(clock_now_ns() + 60 * SECOND_NS);
	munmap(map, MAP_BYTES);
	map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	map[MAP_WORDS / 2] = MAP_WORDS / 2 + 1;
	words.is_sparing = words.is_shared = true;
	CHECK_EQ(walk(0, MAP_WORDS, &seen), 0);
	CHECK_EQ(seen.count - seen.zeros, 1);
	CHECK_EQ(seen.count, HI_PAGE_BYTES / 8);
	words.is_shared = false;
	CHECK_EQ(walk(0, MAP_WORDS, &seen), 0);
	CHECK_EQ(seen.count, 0);
	end();
}

/* More than is kept: what is in the place of another is not taken for it. */
UNIT_TEST(far_ranges_are_told_apart)
{
	const size_t far = (size_t)128 << 20;
	uint64_t *other = mmap(NULL, 2 * far, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct seen seen;

	CHECK(other != MAP_FAILED);
	begin(clock_now_ns() + 60 * SECOND_NS);
	munmap(map, MAP_BYTES);
	map = other;
	for (unsigned round = 0; round < 3; round++)
		for (size_t at = 0; at < 2 * far / 8; at += far / 8) {
			map[at] = at + 1;
			CHECK_EQ(walk(at, 1, &seen), 0);
			CHECK_EQ(seen.zeros, 0);
		}
	munmap(other, 2 * far);
	map = NULL;
	words_close(&words);
	memory_close(&memory);
}

UNIT_TEST(a_walk_ends_at_its_deadline)
{
	struct seen seen;

	begin(clock_now_ns());
	CHECK_EQ(walk(0, 2, &seen), -ETIMEDOUT);
	CHECK_EQ(walk(0, 70000, &seen), -ETIMEDOUT);
	CHECK_EQ(walk(0, MAP_WORDS, &seen), -ETIMEDOUT);
	end();
}

UNIT_MAIN()
