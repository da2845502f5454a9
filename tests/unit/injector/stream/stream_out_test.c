/* SPDX-License-Identifier: MIT */
/* stream_out: whole records, padded, in order, and never a wait for a reader that does not read. */
#include "stream_out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static int add(struct stream_out *out, const char *text)
{
	struct hi_stream_maps record = {.text_size = (uint32_t)strlen(text)};
	const struct stream_part part = {text, strlen(text)};
	return stream_out_record(out, HI_STREAM_MAPS, &record, sizeof(record), &part, 1);
}

UNIT_TEST(pads_records_to_eight_bytes)
{
	int ends[2];
	struct stream_out out;
	struct {
		struct hi_stream_maps record;
		char text[8];
	} got;
	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	CHECK_EQ(stream_out_open(&out, ends[1]), 0);
	CHECK_EQ(add(&out, "hello"), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	CHECK_EQ(read(ends[0], &got, sizeof(got)), (ssize_t)sizeof(got));
	CHECK_EQ(got.record.record.size, sizeof(got));
	CHECK_EQ(got.record.record.type, HI_STREAM_MAPS);
	CHECK_EQ(memcmp(got.text, "hello\0\0\0", 8), 0);
	stream_out_close(&out);
}

UNIT_TEST(queues_while_the_reader_sleeps_and_says_when_it_is_full)
{
	int ends[2];
	struct stream_out out;
	static char text[1 << 20];
	memset(text, 'x', sizeof(text) - 1);
	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	CHECK_EQ(stream_out_open(&out, ends[1]), 0);
	unsigned queued = 0;
	while (!stream_out_is_full(&out)) {
		CHECK_EQ(add(&out, text), 0);
		CHECK_EQ(stream_out_flush(&out), 0);
		queued++;
	}
	CHECK(queued >= 12);
	CHECK_EQ(stream_out_drain(&out, 1), -ETIMEDOUT);
	static char sink[1 << 16];
	while (out.end > out.begin) {
		CHECK(read(ends[0], sink, sizeof(sink)) > 0);
		CHECK_EQ(stream_out_flush(&out), 0);
	}
	CHECK(!stream_out_is_full(&out));
	stream_out_close(&out);
}

UNIT_TEST(a_long_queue_is_seldom_moved)
{
	enum { ROUNDS = 2000 };
	static char text[1 << 15], sink[1 << 16];
	int ends[2];
	struct stream_out out;
	unsigned moved = 0;
	memset(text, 'x', sizeof(text) - 1);
	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	CHECK_EQ(stream_out_open(&out, ends[1]), 0);
	while (!stream_out_is_full(&out))
		CHECK_EQ(add(&out, text), 0);
	CHECK_EQ(stream_out_flush(&out), 0);
	for (unsigned round = 0; round < ROUNDS; round++) { /* as much comes as goes */
		CHECK(read(ends[0], sink, sizeof(text)) > 0);
		CHECK_EQ(stream_out_flush(&out), 0);
		const size_t begin = out.begin;
		CHECK_EQ(add(&out, text), 0);
		moved += out.begin < begin;
	}
	CHECK(moved <= 8);
	CHECK(out.room <= 32u << 20);
	stream_out_close(&out);
}

UNIT_TEST(keeps_the_first_error)
{
	int ends[2];
	struct stream_out out;
	signal(SIGPIPE, SIG_IGN);
	CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
	CHECK_EQ(stream_out_open(&out, ends[1]), 0);
	close(ends[0]);
	CHECK_EQ(add(&out, "lost"), 0);
	CHECK_EQ(stream_out_flush(&out), -EPIPE);
	CHECK_EQ(add(&out, "refused"), -EPIPE);
	CHECK_EQ(stream_out_drain(&out, 10), -EPIPE);
	stream_out_close(&out);
}

UNIT_MAIN()
