/* SPDX-License-Identifier: MIT */
/* event_list_test.c - what a stream becomes in the list of its allocations and frees. */
#include "event_list.h"

#include <errno.h>

#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_hooks.h"
#include "hi_wire.h"
#include "replayed.h"

#define LISTED_MAX 64u

struct listed {
	struct hi_trial_head head;
	struct hi_trial_event event[LISTED_MAX];
	uint64_t sum; /* of the bytes of all events */
	int exit_code;
};

/* What the analyzer makes of the stream; closes it. Events that say the time are left out. */
static struct listed list_of(FILE *stream)
{
	struct listed listed = {0};
	struct hi_trial_event event;
	FILE *list = memory_file();
	size_t count = 0;

	fflush(stream);
	lseek(fileno(stream), 0, SEEK_SET);
	listed.exit_code = hi_analyzer_list_events(fileno(stream), fileno(list));
	CHECK_EQ(pread(fileno(list), &listed.head, sizeof(listed.head), 0), sizeof(listed.head));
	CHECK_EQ(listed.head.magic, HI_TRIAL_MAGIC);
	for (uint64_t i = 0; i < listed.head.events; i++) {
		const off_t at = (off_t)(sizeof(listed.head) + i * sizeof(event));

		CHECK_EQ(pread(fileno(list), &event, sizeof(event), at), sizeof(event));
		listed.sum += event.op == HI_TRIAL_TIME ? 0 : event.bytes;
		if (event.op != HI_TRIAL_TIME && count < LISTED_MAX)
			listed.event[count++] = event;
	}
	fclose(list);
	fclose(stream);
	return listed;
}

static FILE *begin(void)
{
	FILE *stream = stream_begin(1);

	stream_stack(stream, 1, site_a, 2);
	return stream;
}

static void put_alloc(FILE *stream, uint16_t function, uint64_t address, uint64_t bytes,
		      uint64_t time_ns)
{
	struct hi_stream_alloc alloc = {.record.type = HI_STREAM_ALLOC,
					.time_ns = time_ns,
					.address = address,
					.bytes = bytes,
					.thread = stream_by,
					.function = function,
					.interval = 1,
					.stack = 1};

	stream_put(stream, &alloc, sizeof(alloc), NULL, 0);
}

static void put_free(FILE *stream, uint16_t type, uint64_t address, uint64_t time_ns)
{
	struct hi_stream_free record = {
		.record.type = type, .time_ns = time_ns, .address = address, .thread = stream_by};

	stream_put(stream, &record, sizeof(record), NULL, 0);
}

static void check_event(const struct hi_trial_event *event, enum hi_trial_op op, uint32_t block,
			uint64_t bytes)
{
	CHECK_EQ(event->op, op);
	CHECK_EQ(event->block, block);
	CHECK_EQ(event->bytes, bytes);
}

UNIT_TEST(blocks_get_numbers_that_are_used_again)
{
	FILE *stream = begin();

	put_alloc(stream, HI_FN_MALLOC, 0x1000, 100, 1000);
	put_alloc(stream, HI_FN_CALLOC, 0x2000, 50, 1001);
	put_free(stream, HI_STREAM_FREE, 0x1000, 1002);
	put_free(stream, HI_STREAM_FREE, 0x7000, 1003); /* older than the session */
	put_alloc(stream, HI_FN_MALLOC, 0x3000, 7, 1004);
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.exit_code, HI_EXIT_OK);
	CHECK_EQ(listed.head.refusal, HI_TRIAL_LISTED);
	CHECK_EQ(listed.head.events, 4);
	check_event(&listed.event[0], HI_TRIAL_MALLOC, 0, 100);
	check_event(&listed.event[1], HI_TRIAL_CALLOC, 1, 50);
	check_event(&listed.event[2], HI_TRIAL_FREE, 0, 0);
	check_event(&listed.event[3], HI_TRIAL_MALLOC, 0, 7);
	CHECK_EQ(listed.head.blocks, 2);
	CHECK_EQ(listed.head.most_bytes, 150);
	CHECK_EQ(listed.head.most_at, 2);
	CHECK_EQ(listed.head.last_bytes, 57);
	CHECK_EQ(listed.head.unknown_frees, 1);
	CHECK_STR(listed.head.name, "server");
}

/* A realloc of one thread, with events of another one between its free and its allocation. */
UNIT_TEST(a_realloc_is_put_together_again)
{
	FILE *stream = begin();

	put_alloc(stream, HI_FN_MALLOC, 0x1000, 100, 1000);
	put_free(stream, HI_STREAM_FREE, 0x1000, 1001);
	stream_by = 2;
	put_alloc(stream, HI_FN_MALLOC, 0x1000, 30, 1002);
	stream_by = 1;
	put_alloc(stream, HI_FN_REALLOC, 0x4000, 300, 1003);
	put_alloc(stream, HI_FN_REALLOC, 0x5000, 20, 1004); /* of NULL */
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, 5);
	check_event(&listed.event[0], HI_TRIAL_MALLOC, 0, 100);
	CHECK_EQ(listed.event[1].op, HI_TRIAL_NOTHING);
	check_event(&listed.event[2], HI_TRIAL_MALLOC, 1, 30);
	CHECK_EQ(listed.event[2].thread, 1);
	check_event(&listed.event[3], HI_TRIAL_REALLOC, 0, 300);
	CHECK_EQ(listed.event[3].thread, 0);
	check_event(&listed.event[4], HI_TRIAL_MALLOC, 2, 20);
	CHECK_EQ(listed.head.threads, 2);
	CHECK_EQ(listed.head.reallocs, 1);
	CHECK_EQ(listed.head.frees, 0);
	CHECK_EQ(listed.head.allocations, 3);
}

UNIT_TEST(a_realloc_that_failed_has_freed_nothing)
{
	FILE *stream = begin();

	put_alloc(stream, HI_FN_MALLOC, 0x1000, 100, 1000);
	put_free(stream, HI_STREAM_FREE, 0x1000, 1001);
	put_free(stream, HI_STREAM_UNFREE, 0x1000, 1002);
	put_free(stream, HI_STREAM_FREE, 0x1000, 1003);
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, 3);
	CHECK_EQ(listed.event[1].op, HI_TRIAL_NOTHING);
	check_event(&listed.event[2], HI_TRIAL_FREE, 0, 0);
	CHECK_EQ(listed.head.frees, 1);
	CHECK_EQ(listed.head.last_blocks, 0);
}

/* A free that came with its allocation is made when its time comes, and before an address is used
 * again. */
UNIT_TEST(frees_come_in_the_order_of_time)
{
	const struct hi_stream_event event[] = {{.what = EVENT_AT(0x1000, EVENT_ALLOC),
						 .after_ns = 0,
						 .thread = 1,
						 .bytes = 10,
						 .stack = 1,
						 .lived_ns = 300},
						{.what = EVENT_AT(0x2000, EVENT_ALLOC),
						 .after_ns = 100,
						 .thread = 1,
						 .bytes = 20,
						 .stack = 1,
						 .lived_ns = 100},
						{.what = EVENT_AT(0x3000, EVENT_ALLOC),
						 .after_ns = 250,
						 .thread = 1,
						 .bytes = 30,
						 .stack = 1,
						 .lived_ns = HI_STREAM_LIVES},
						{.what = EVENT_AT(0x1000, EVENT_ALLOC),
						 .after_ns = 400,
						 .thread = 1,
						 .bytes = 40,
						 .stack = 1,
						 .lived_ns = HI_STREAM_LIVES}};
	FILE *stream = begin();

	stream_events(stream, event, sizeof(event));
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, 6);
	check_event(&listed.event[0], HI_TRIAL_MALLOC, 0, 10);
	check_event(&listed.event[1], HI_TRIAL_MALLOC, 1, 20);
	check_event(&listed.event[2], HI_TRIAL_FREE, 1, 0);
	check_event(&listed.event[3], HI_TRIAL_MALLOC, 1, 30);
	check_event(&listed.event[4], HI_TRIAL_FREE, 0, 0);
	check_event(&listed.event[5], HI_TRIAL_MALLOC, 0, 40);
	CHECK_EQ(listed.head.missed_frees, 0);
	CHECK_EQ(listed.head.most_bytes, 70);
	CHECK_EQ(listed.head.last_bytes, 70);
}

UNIT_TEST(an_address_that_comes_again_was_freed)
{
	FILE *stream = begin();

	put_alloc(stream, HI_FN_MALLOC, 0x1000, 100, 1000);
	put_alloc(stream, HI_FN_MALLOC, 0x1000, 60, 1001);
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, 3);
	check_event(&listed.event[1], HI_TRIAL_FREE, 0, 0);
	check_event(&listed.event[2], HI_TRIAL_MALLOC, 0, 60);
	CHECK_EQ(listed.head.missed_frees, 1);
	CHECK_EQ(listed.head.last_bytes, 60);
}

/* Its own free comes too late, and is not that of the new block. */
UNIT_TEST(a_free_of_an_earlier_block_frees_no_other)
{
	const struct hi_stream_event event[] = {{.what = EVENT_AT(0x1000, EVENT_ALLOC),
						 .after_ns = 0,
						 .thread = 1,
						 .bytes = 10,
						 .stack = 1,
						 .lived_ns = 300},
						{.what = EVENT_AT(0x1000, EVENT_ALLOC),
						 .after_ns = 200,
						 .thread = 1,
						 .bytes = 20,
						 .stack = 1,
						 .lived_ns = HI_STREAM_LIVES},
						{.what = EVENT_AT(0x2000, EVENT_ALLOC),
						 .after_ns = 400,
						 .thread = 1,
						 .bytes = 30,
						 .stack = 1,
						 .lived_ns = HI_STREAM_LIVES}};
	FILE *stream = begin();

	stream_events(stream, event, sizeof(event));
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, 4);
	CHECK_EQ(listed.head.last_bytes, 50);
	CHECK_EQ(listed.head.missed_frees, 1);
}

UNIT_TEST(alignments_are_guessed_by_addresses)
{
	FILE *stream = begin();

	put_alloc(stream, HI_FN_MEMALIGN, 0x10040, 200, 1000);
	put_alloc(stream, HI_FN_POSIX_MEMALIGN, 0x20000, 100, 1001);
	put_alloc(stream, HI_FN_ALIGNED_ALLOC, 0x100000, 100000, 1002);
	put_alloc(stream, HI_FN_VALLOC, 0x31000, 10, 1003);
	stream_end(stream);
	const struct listed listed = list_of(stream);

	for (int i = 0; i < 4; i++)
		CHECK_EQ(listed.event[i].op, HI_TRIAL_ALIGNED);
	CHECK_EQ(listed.event[0].alignment_bits, 6);
	CHECK_EQ(listed.event[1].alignment_bits, 6);
	CHECK_EQ(listed.event[2].alignment_bits, 12);
	CHECK_EQ(listed.event[3].alignment_bits, 12);
	CHECK_EQ(listed.head.aligned, 4);
}

/* Once a millisecond is enough. */
UNIT_TEST(the_list_says_what_time_it_is)
{
	FILE *stream = begin();

	put_alloc(stream, HI_FN_MALLOC, 0x1000, 100, 1000);
	put_alloc(stream, HI_FN_MALLOC, 0x2000, 100, 5000000);
	put_alloc(stream, HI_FN_MALLOC, 0x3000, 100, 5000100);
	put_alloc(stream, HI_FN_MALLOC, 0x4000, 100, 60000000000);
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, 4 + 2);
}

UNIT_TEST(more_events_than_are_kept_in_memory)
{
	const uint64_t count = EVENT_LIST_WINDOW * 3 + 5;
	FILE *stream = begin();

	for (uint64_t i = 0; i < count; i++)
		put_alloc(stream, HI_FN_MALLOC, 0x1000 + i * 16, i, 1000);
	stream_end(stream);
	const struct listed listed = list_of(stream);

	CHECK_EQ(listed.head.events, count);
	CHECK_EQ(listed.head.blocks, count);
	CHECK_EQ(listed.sum, count * (count - 1) / 2);
	for (uint32_t i = 0; i < LISTED_MAX; i++)
		check_event(&listed.event[i], HI_TRIAL_MALLOC, i, i);
}

UNIT_TEST(a_sampled_stream_is_refused)
{
	FILE *stream = stream_begin(4096);

	stream_stack(stream, 1, site_a, 2);
	stream_alloc_on(stream, 0x1000, 100, 1);
	stream_end(stream);
	struct listed listed = list_of(stream);
	CHECK_EQ(listed.exit_code, HI_EXIT_FAILED);
	CHECK_EQ(listed.head.refusal, HI_TRIAL_SAMPLED);

	stream = stream_begin(4096);
	stream_end(stream);
	listed = list_of(stream);
	CHECK_EQ(listed.exit_code, HI_EXIT_FAILED);
	CHECK_EQ(listed.head.refusal, HI_TRIAL_SAMPLED);
}

UNIT_TEST(what_is_no_stream_is_refused)
{
	FILE *stream = memory_file();

	fputs("no stream", stream);
	struct listed listed = list_of(stream);
	CHECK_EQ(listed.exit_code, HI_EXIT_FAILED);
	CHECK_EQ(listed.head.refusal, HI_TRIAL_NO_STREAM);
	CHECK(*listed.head.text);

	stream = begin();
	stream_end(stream);
	CHECK_EQ(list_of(stream).head.refusal, HI_TRIAL_EMPTY);
}

/* The order of time, and of serial numbers at one time. */
UNIT_TEST(due_frees_are_taken_in_order)
{
	struct due_frees due = {0};
	struct due_free one, before = {0};
	uint32_t random = 7;
	size_t taken = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		random = random * 1103515245u + 12345u;
		CHECK_EQ(due_frees_add(&due,
				       &(struct due_free){.time_ns = random >> 24, .serial = i}),
			 0);
	}
	CHECK(!due_frees_take(&(struct due_frees){0}, UINT64_MAX, &one));
	while (due_frees_take(&due, 100, &one)) {
		CHECK(one.time_ns <= 100);
		CHECK(one.time_ns > before.time_ns ||
		      (one.time_ns == before.time_ns && (!taken || one.serial > before.serial)));
		before = one;
		taken++;
	}
	const size_t first = taken;
	CHECK(first > 200 && first < 800);
	while (due_frees_take(&due, UINT64_MAX, &one)) {
		CHECK(one.time_ns > 100);
		taken++;
	}
	CHECK_EQ(taken, 1000);
	due_frees_close(&due);
}

UNIT_MAIN()
