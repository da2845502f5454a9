/* SPDX-License-Identifier: MIT */
/*
 * leaky_shapes.c - leaks by when and how fast they leak, and by what goes on beside them.
 */
#include "programs.h"

/* ---- beside much else ------------------------------------------------------------------- */

static SITE void leak_audit_record(void)
{
	void *block = filled(malloc(300), 300);

	USE(block);
	count_leaked(300);
}

static void below_churn(void)
{
	churn(300e6);
	for (unsigned i = due(200); i; i--)
		leak_audit_record();
}

static SITE void leak_timer(void)
{
	void *block = filled(malloc(200), 200);

	USE(block);
	count_leaked(200);
}

static void idle_and_slow(void)
{
	for (unsigned i = due(50); i; i--)
		leak_timer();
}

static SITE void leak_video_frame(void)
{
	void *block = filled(malloc(9000), 9000);

	USE(block);
	count_leaked(9000);
}

static void fast(void)
{
	for (unsigned i = due(500); i; i--)
		leak_video_frame();
}

static SITE void *load_catalog_item(void)
{
	void *block = filled(malloc(2000), 2000);

	USE(block);
	return block;
}

static SITE void leak_metric_point(void)
{
	void *block = filled(malloc(240), 240);

	USE(block);
	count_leaked(240);
}

static void warm_up_and_leak(void)
{
	static void *catalog[30000];
	static size_t count;

	for (unsigned i = seconds() < 10 ? due(3000) : 0; i; i--)
		catalog[count++] = load_catalog_item();
	USE(catalog);
	for (unsigned i = due(500); i; i--)
		leak_metric_point();
}

#define ENTRIES 15000

static void *entries[ENTRIES];

static SITE void *cache_entry(void)
{
	void *block = filled(malloc(2000), 2000);

	USE(block);
	return block;
}

static void fill_cache(void)
{
	for (size_t i = 0; i < ENTRIES; i++)
		entries[i] = cache_entry();
}

static SITE void leak_cache_key(void)
{
	void *block = filled(malloc(500), 500);

	USE(block);
	count_leaked(500);
}

static void beside_cache(void)
{
	for (unsigned i = due(1500); i; i--) {
		void **at = &entries[random_below(ENTRIES)];

		free(*at);
		*at = cache_entry();
	}
	for (unsigned i = due(300); i; i--)
		leak_cache_key();
}

/* Frees 15 of 16 blocks again, so that the heap keeps its size and has holes. */
static void make_holes(void)
{
	enum { BLOCKS = 100000, SIZE = 2000 };
	static void *blocks[BLOCKS];

	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = filled(malloc(SIZE), SIZE);
	for (size_t i = 0; i < BLOCKS; i++) {
		if (i % 16)
			free(blocks[i]);
	}
}

static SITE void leak_thumbnail(void)
{
	const size_t size = 500 + random_below(1000);
	void *block = filled(malloc(size), size);

	USE(block);
	count_leaked((int64_t)size);
}

static void into_holes(void)
{
	for (unsigned i = due(500); i; i--)
		leak_thumbnail();
}

/* ---- now and then ----------------------------------------------------------------------- */

static SITE void leak_batch_result(void)
{
	void *block = filled(malloc(1024), 1024);

	USE(block);
	count_leaked(1024);
}

static void bursts(void)
{
	for (unsigned i = is_time(5) ? 1000 : 0; i; i--)
		leak_batch_result();
}

static SITE void leak_poll_result(void)
{
	void *block = filled(malloc(700), 700);

	USE(block);
	count_leaked(700);
}

static void pauses(void)
{
	for (unsigned i = (int)seconds() % 4 < 2 ? due(800) : 0; i; i--)
		leak_poll_result();
}

static SITE void leak_retry_entry(void)
{
	void *block = filled(malloc(800), 800);

	USE(block);
	count_leaked(800);
}

static void starts_late(void)
{
	for (unsigned i = seconds() > 15 ? due(400) : 0; i; i--)
		leak_retry_entry();
}

const struct program leaky_shapes[] = {
	{"below_churn", "leak_audit_record", 0, 0, NULL, below_churn,
	 "60 KB a second beside 300 MB a second that are freed"},
	{"idle_and_slow", "leak_timer", 2, 0, NULL, idle_and_slow,
	 "10 KB a second in a process that does hardly anything"},
	{"fast", "leak_video_frame", 100, 5, NULL, fast, "4.5 MB a second"},
	{"warm_up_and_leak", "leak_metric_point", 100, 5, NULL, warm_up_and_leak,
	 "60 MB are loaded in the first ten seconds and stay; 120 KB a second leak"},
	{"beside_cache", "leak_cache_key", 50, 5, fill_cache, beside_cache,
	 "a full cache turns over 3 MB a second; 150 KB a second leak"},
	{"into_holes", "leak_thumbnail", 200, 10, make_holes, into_holes,
	 "500 KB a second leak into 190 MB that were freed: resident memory stays the same"},
	{"bursts", "leak_batch_result", 100, 3, NULL, bursts, "1000 blocks at once every 5 s"},
	{"pauses", "leak_poll_result", 20, 1, NULL, pauses, "leaks for 2 s, pauses for 2 s"},
	{"starts_late", "leak_retry_entry", 100, 3, NULL, starts_late,
	 "320 KB a second, from second 15 on"},
	{0},
};
