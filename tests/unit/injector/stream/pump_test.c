/* SPDX-License-Identifier: MIT */
/* pump_test.c - rounds and their mark, the end, and what is wrong with the ring or the reader. */
#include "pumped.h"

#include <errno.h>
#include <pthread.h>

UNIT_TEST(what_was_reserved_after_the_mark_waits_for_the_next_round)
{
	prepare();
	put_free(HI_RECORD_FREE, 1, 0x7000);
	pump_mark(&pump);
	put_free(HI_RECORD_FREE, 2, 0x7000);
	CHECK_EQ(pump_round(&pump, false), 0);
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 1);
	expect_nothing();
	round_once();
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 2);
	put_free(HI_RECORD_FREE, 3, 0x7000);
	CHECK_EQ(pump_round(&pump, true), 0); /* the last round knows no mark */
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 3);
	finish();
}

UNIT_TEST(an_unfinished_record_holds_up_all_but_the_last_round)
{
	prepare();
	struct hi_record_free unfinished = {.address = 1};
	put_header(&unfinished.header, sizeof(unfinished), HI_RECORD_FREE | BUSY);
	put(&unfinished, sizeof(unfinished));
	put_free(HI_RECORD_FREE, 2, 0x7000);
	round_once();
	expect_nothing();
	CHECK_EQ(pump_round(&pump, true), 0);
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 2);
	expect_nothing();
	finish();
}

/* Takes everything out of the pipe, and keeps it where the stream is read back. */
static void *read_slowly(void *from)
{
	static uint8_t bytes[1 << 16];
	for (ssize_t got; (got = read(*(const int *)from, bytes, sizeof(bytes))) > 0;)
		CHECK_EQ(write(file, bytes, (size_t)got), got);
	return NULL;
}

UNIT_TEST(a_full_output_leaves_nothing_in_the_ring_at_the_end)
{
	static uint8_t filler[1 << 20];
	const struct stream_part part = {filler, sizeof(filler)};
	int ends[2];
	pthread_t reader;
	prepare();
	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	CHECK_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	out.fd = ends[1];
	while (!stream_out_is_full(&out)) {
		struct hi_stream_maps maps = {.text_size = sizeof(filler)};
		CHECK_EQ(stream_out_record(&out, HI_STREAM_MAPS, &maps, sizeof(maps), &part, 1), 0);
		read_to += maps.record.size;
	}
	put_free(HI_RECORD_FREE, 1, 0x7000);
	put_free(HI_RECORD_FREE, 2, 0x7000);
	CHECK_EQ(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
	CHECK_EQ(pump_drain(&pump, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(stream_out_drain(&out, UNIT_PATIENCE_MS), 0);
	close(ends[1]);
	CHECK_EQ(pthread_join(reader, NULL), 0);
	close(ends[0]);
	expect(HI_STREAM_THREAD);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 1);
	CHECK_EQ(expect(HI_STREAM_FREE)->free.address, 2);
	expect_nothing();
	finish();
}

UNIT_TEST(before_the_ring_is_connected_there_is_nothing_to_do)
{
	prepare();
	pump.reader = (struct ring_reader){0};
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), 0);
	CHECK_EQ(pump_round(&pump, true), 0);
	expect_nothing();
	finish();
}

UNIT_TEST(a_ring_that_was_scribbled_over_ends_the_stream_behind_what_was_good)
{
	prepare();
	put_free(HI_RECORD_FREE, 1, 0x7000);
	struct hi_record_free bad = {.header = {.size = 33, .type_busy = HI_RECORD_FREE}};
	put(&bad, sizeof(bad));
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), -EPROTO);
	expect(HI_STREAM_THREAD);
	expect(HI_STREAM_FREE);
	expect_nothing();
	CHECK_EQ(pump_round(&pump, true), -EPROTO); /* and it ends */
	ring->head = UINT64_MAX - HI_RING_UNIT + 1;
	CHECK_EQ(pump_round(&pump, true), -EPROTO);
	finish();
}

UNIT_TEST(any_content_of_the_ring_is_survived)
{
	uint64_t random = 88172645463325252u;
	prepare();
	for (unsigned round = 0; round < 3000; round++) {
		union ring_record record;
		for (size_t i = 0; i < 16; i++)
			record.word[i] = random =
				random * 6364136223846793005u + 1442695040888963407u;
		/* A plausible head, or it would end at the size at once. */
		record.header.size = (uint32_t)(1 + random % 4) * HI_RING_UNIT;
		record.header.type_busy = (uint32_t)(random >> 32) % 6;
		record.alloc.frame_count = (uint32_t)(random >> 40) % 20;
		put(&record, record.header.size);
		round_once();
	}
	for (const union stream_any *any; (any = next());)
		CHECK(any->record.type == HI_STREAM_THREAD || any->record.type == HI_STREAM_ALLOC ||
		      any->record.type == HI_STREAM_FREE || any->record.type == HI_STREAM_UNFREE);
	CHECK_EQ(ring->tail, ring->head);
	finish();
}

UNIT_TEST(a_reader_that_went_away_is_an_error_code)
{
	int ends[2];
	prepare();
	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	out.fd = ends[1];
	put_free(HI_RECORD_FREE, 1, 0x7000);
	pump_mark(&pump);
	CHECK_EQ(pump_round(&pump, false), -EPIPE);
	finish();
}

UNIT_MAIN()
