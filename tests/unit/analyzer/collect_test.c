/* SPDX-License-Identifier: MIT */
/* collect_test.c - the far end of an attach: files, progress and summary out of one stream. */
#include "unit.h"

#include <fcntl.h>

#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "stream_file.h"
#include "stream_writer.h"

static const uint64_t frames[] = {0x400100, 0x400200};

/* A descriptor of its own for reading, as the pipe's far end is. */
static int begin_reading(FILE *file)
{
	fflush(file);
	lseek(fileno(file), 0, SEEK_SET);
	return fileno(file);
}

/* Like text_of(), but nobody has to free it. */
static char *contents(FILE *file, size_t *out_size)
{
	static char *kept[8];
	static size_t turn;

	turn = (turn + 1) % 8;
	free(kept[turn]);
	kept[turn] = text_of(file, out_size);
	return kept[turn];
}

static FILE *whole_stream(void)
{
	FILE *file = memory_file();

	stream_header(file, 1);
	stream_alloc(file, 0x7000, 3000, frames, 2);
	stream_stats(file);
	stream_alloc(file, 0x7100, 1000, frames, 1);
	stream_free(file, 0x7100);
	stream_stats(file);
	stream_end(file);
	return file;
}

/* In an exact session, so that the intervals are nothing but that. */
UNIT_TEST(what_was_passed_over_is_said)
{
	struct hi_stream_stats stats = {.record.type = HI_STREAM_STATS,
					.time_ns = 4000,
					.no_thread_slot = 7,
					.passed_bytes = 1024};
	FILE *stream = memory_file(), *heap = memory_file(), *summary = memory_file();
	const struct hi_analyzer_outputs outputs = {.stream_fd = fileno(stream),
						    .status_fd = -1,
						    .heap_fd = fileno(heap),
						    .pprof_fd = -1,
						    .summary_fd = fileno(summary)};
	size_t size;

	stream_header(stream, 1);
	stream_alloc(stream, 0x7000, 3072, frames, 2);
	stream_put(stream, &stats, sizeof(stats), NULL, 0);
	stream_memory(stream, 10u << 20, 20u << 20);
	stream_memory(stream, 30u << 20, 40u << 20);
	stream_end(stream);
	begin_reading(stream);
	CHECK_EQ(hi_analyzer_collect(&outputs), 0);
	CHECK(strstr(contents(summary, &size), "up to 7 allocations of 1kB were passed over") !=
	      NULL);
	CHECK(strstr(contents(summary, &size),
		     "in use:    3kB in 1 objects, 95% interval 3kB .. 4kB") != NULL);
	CHECK(strstr(contents(summary, &size), "before:    10MB of anonymous memory at the start; "
					       "what is in it is not known\n") != NULL);
	CHECK(strstr(contents(heap, &size), "\n# no_thread_slot 7\n# passed_bytes 1024\n") != NULL);
}

UNIT_TEST(everything_is_written)
{
	FILE *stream = whole_stream(), *heap = memory_file(), *pprof = memory_file(),
	     *summary = memory_file(), *status = memory_file();
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = begin_reading(stream),
		.status_fd = fileno(status),
		.heap_fd = fileno(heap),
		.pprof_fd = fileno(pprof),
		.summary_fd = fileno(summary),
	};
	const struct hi_analyzer_status *seen;
	size_t size;
	char *text;

	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
	seen = (const void *)contents(status, &size);
	CHECK_EQ(size, 2 * sizeof(*seen));
	CHECK_EQ(seen[0].samples, 1);
	CHECK_EQ(seen[1].samples, 2);
	CHECK_EQ(seen[1].live_bytes, 3000);
	CHECK_EQ(seen[1].live_objects, 1);
	CHECK_EQ(seen[1].bad_records, 0);
	text = contents(heap, &size);
	CHECK(strncmp(text, "heap profile:      1:     3000 [     2:     4000] @ heap_v2/1\n",
		      61) == 0);
	text = contents(pprof, &size);
	CHECK(size > 20 && text[0] == 0x1f && (unsigned char)text[1] == 0x8b);
	text = contents(summary, &size);
	CHECK(strstr(text, "  in use:    2.93kB in 1 objects (allocated in the window and still "
			   "live)\n") != NULL);
	CHECK(strstr(text, "  allocated: 3.91kB in 2 objects\n") != NULL);
	CHECK(strstr(text, "  samples:   2 (100.0% complete stacks), dropped 5 (60.00% of the "
			   "samples)\n") != NULL);
	CHECK(strstr(text, "  note: the reader did not keep up; --sample ") != NULL);
	CHECK(strstr(text, "2 frees were dropped") != NULL);
}

/*
 * No sample is not nothing: at most three intervals, most likely. Where all is counted it is
 * nothing.
 */
UNIT_TEST(none_sampled_has_an_upper_bound)
{
	for (uint64_t interval = 1; interval <= 1u << 20; interval <<= 20) {
		FILE *stream = memory_file(), *heap = memory_file(), *pprof = memory_file(),
		     *summary = memory_file();
		struct hi_analyzer_outputs outputs = {.status_fd = -1,
						      .heap_fd = fileno(heap),
						      .pprof_fd = fileno(pprof),
						      .summary_fd = fileno(summary)};
		size_t size;

		stream_header(stream, interval);
		stream_stats(stream);
		stream_end(stream);
		outputs.stream_fd = begin_reading(stream);
		CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
		const char *text = contents(summary, &size);
		CHECK_EQ(strstr(text,
				"in use:    0 in 0 objects, 95% interval 0 .. 3MB (allocated") !=
				 NULL,
			 interval > 1);
		CHECK_EQ(strstr(text, "allocated: 0 in 0 objects, 95% interval 0 .. 3MB\n") != NULL,
			 interval > 1);
	}
}

/*
 * Of so many rows that to sum them up takes a while, what is in use is told a little late, and
 * never for long.
 */
UNIT_TEST(many_rows_are_summed_up_now_and_then)
{
	enum { STACKS = 50, SIZES = 1000, ROWS = STACKS * SIZES, TOLD = 8 };
	FILE *stream = memory_file(), *summary = memory_file(), *status = memory_file();
	const struct hi_analyzer_status *seen;
	unsigned sums = 0;
	size_t size;

	stream_header(stream, 1);
	for (uint64_t i = 0; i < ROWS; i++)
		stream_alloc(stream, 0x10000 + 0x1000 * i, 1 + i % SIZES,
			     (const uint64_t[]){0x400100 + i / SIZES}, 1);
	for (uint64_t i = 0; i < TOLD; i++) {
		stream_alloc(stream, 0x8000 + 0x100 * i, 1, frames, 1);
		stream_stats(stream);
	}
	stream_end(stream);
	const struct hi_analyzer_outputs outputs = {.stream_fd = begin_reading(stream),
						    .status_fd = fileno(status),
						    .heap_fd = -1,
						    .pprof_fd = -1,
						    .summary_fd = fileno(summary)};
	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
	seen = (const void *)contents(status, &size);
	CHECK_EQ(size, TOLD * sizeof(*seen));
	for (unsigned i = 0; i < TOLD; i++) {
		CHECK_EQ(seen[i].samples, ROWS + i + 1);
		CHECK(seen[i].live_objects <= seen[i].samples &&
		      seen[i].live_objects + 3 > seen[i].samples);
		sums += seen[i].live_objects == seen[i].samples;
	}
	CHECK_EQ(sums, 3);
}

/* The descriptors are the caller's, before and after. */
UNIT_TEST(what_is_not_wanted_is_left_out)
{
	FILE *stream = whole_stream(), *summary = memory_file();
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = begin_reading(stream),
		.status_fd = -1,
		.heap_fd = -1,
		.pprof_fd = -1,
		.summary_fd = fileno(summary),
	};

	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
	CHECK(fcntl(outputs.stream_fd, F_GETFD) >= 0);
	CHECK(fcntl(outputs.summary_fd, F_GETFD) >= 0);
}

UNIT_TEST(nobody_looks_at_the_progress)
{
	FILE *stream = whole_stream(), *heap = memory_file();
	int pipe_fd[2];
	size_t size;

	CHECK_EQ(pipe(pipe_fd), 0);
	close(pipe_fd[0]);
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = begin_reading(stream),
		.status_fd = pipe_fd[1],
		.heap_fd = fileno(heap),
		.pprof_fd = -1,
		.summary_fd = open("/dev/null", O_WRONLY),
	};
	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
	contents(heap, &size);
	CHECK(size > 100);
}

UNIT_TEST(a_full_disk_is_told)
{
	FILE *stream = whole_stream(), *pprof = memory_file(), *summary = memory_file();
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = begin_reading(stream),
		.status_fd = -1,
		.heap_fd = open("/dev/full", O_WRONLY),
		.pprof_fd = fileno(pprof),
		.summary_fd = fileno(summary),
	};
	size_t size;

	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_FAILED);
	CHECK(strstr(contents(summary, NULL),
		     "cannot write the heap profile: No space left on device\n") != NULL);
	contents(pprof, &size);
	CHECK(size > 20);
}

UNIT_TEST(a_session_that_died_leaves_what_it_had)
{
	FILE *stream = memory_file(), *heap = memory_file(), *summary = memory_file();

	stream_header(stream, 1);
	stream_alloc(stream, 0x7000, 3000, frames, 2);
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = begin_reading(stream),
		.status_fd = -1,
		.heap_fd = fileno(heap),
		.pprof_fd = -1,
		.summary_fd = fileno(summary),
	};
	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_OK);
	CHECK(strstr(contents(heap, NULL), "[     2:     3000]") != NULL);
	CHECK(strstr(contents(summary, NULL), "note: the record stream was cut off at byte ") !=
	      NULL);
}

UNIT_TEST(no_stream_at_all)
{
	FILE *summary = memory_file();
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = open("/dev/null", O_RDONLY),
		.status_fd = -1,
		.heap_fd = -1,
		.pprof_fd = -1,
		.summary_fd = fileno(summary),
	};

	CHECK_EQ(hi_analyzer_collect(&outputs), HI_EXIT_FAILED);
	CHECK(strstr(contents(summary, NULL), "the record stream is unusable: empty\n") != NULL);
}

UNIT_MAIN()
