/* SPDX-License-Identifier: MIT */
/*
 * heapfile_test.c - what is written is read back, what others write is read too, and damage is
 * named by its line.
 */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "estimate.h"
#include "heapfile.h"
#include "heapfile_text.h"
#include "stream_file.h"

#define LO 0x400000u

static void set(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
}

static void add_lines(struct profile_frame *frame)
{
	frame->line = calloc(2, sizeof(*frame->line));
	frame->line_count = 2;
	set(&frame->line[0].function, "inner");
	set(&frame->line[0].system_name, "_Z5innerv");
	set(&frame->line[0].file, "/src/a b.c");
	frame->line[0].line = 7;
	set(&frame->line[1].function, "evil\n;\t\\name");
	set(&frame->line[1].system_name, "evil\n;\t\\name");
}

/*
 * Two stacks: one with everything freed, one with everything live, and names that try to break out
 * of their lines.
 */
static void make_profile(struct profile *profile)
{
	struct profile_module module = {.lo = LO,
					.hi = LO + 0x1000,
					.file_offset = 0x1000,
					.bias = 0x3ff000,
					.build_id = {0xde, 0xad},
					.build_id_size = 2};
	uint32_t frame[2], stack, row, index;
	char path[] = "/opt/my server\n# module 1-2 0 0 - /x";

	module.path = path;
	CHECK_EQ(profile_open(profile), 0);
	profile->meta.pid = 1234;
	profile->meta.interval = 4096;
	profile->meta.duration_ns = 5000000000ull;
	profile->meta.end_reason = 1;
	profile->meta.samples = 5;
	profile->meta.peak_inuse_bytes = 5000;
	profile->meta.peak_ns = 2500000000u;
	profile->meta.missed_frees = 11;
	profile->meta.memory = (struct profile_memory){
		.anonymous_begin = 12, .anonymous_end = 13, .writable_end = 14, .spread = 15};
	profile->meta.mapped_begin.bytes[MAPPED_STACK] = 16;
	profile->meta.mapped_end.bytes[MAPPED_FILE] = 17;
	profile->meta.runtimes = 5;
	heap_history_add(&profile->meta.heap, &(struct heap_moment){1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
	set(&profile->meta.heap.name, "glibc 2.36");
	set(&profile->meta.hooked, "glibc in /lib/libc.so.6: all\njemalloc: none\n");
	set(&profile->meta.unhooked, "je_malloc in the\nprogram");
	set(&profile->meta.caveat[HI_CAVEAT_OTHER_MEANS], "it grew by 5MB,\n# end");
	set(&profile->meta.caveat[HI_CAVEAT_MISSED_FREES], "frees go past");
	set(&profile->meta.version, "0.1.0");
	set(&profile->meta.comm, "my\nserver");
	set(&profile->meta.cmdline, "/opt/my server --x");
	set(&profile->meta.maps, "00400000-00401000 r-xp 00001000 00:00 0 /opt/my server\n");
	CHECK_EQ(profile_add_module(profile, &module, &index), 0);
	CHECK_EQ(profile_frame_at(profile, LO + 0x100, 0, &frame[0]), 0);
	CHECK_EQ(profile_frame_at(profile, LO + 0x200, 0, &frame[1]), 0);
	add_lines(&profile->frame[frame[0]]);
	CHECK_EQ(profile_stack_of(profile, frame, 2, 0, &stack), 0);
	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){stack, 48, profile->meta.interval,
							  PROFILE_NEW, 0},
				&row),
		 0);
	profile->row[row].alloc_count = 3;
	profile->row[row].alloc_bytes = 144;
	profile->row[row].alloc_slack = 24;
	profile->row[row].freed_count = 3;
	profile->row[row].freed_ns = 9000;
	CHECK_EQ(profile_stack_of(profile, frame, 1, 0, &stack), 0);
	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){stack, 64, profile->meta.interval,
							  PROFILE_NEW, 0},
				&row),
		 0);
	profile->row[row].alloc_count = profile->row[row].inuse_count = 2;
	profile->row[row].alloc_bytes = profile->row[row].inuse_bytes = 128;
	profile->row[row].alloc_slack = profile->row[row].inuse_slack = 16;
	profile->row[row].inuse_ns = 4000;
}

static char *written(const struct profile *profile)
{
	FILE *file = memory_file();
	char *text;

	heapfile_write(profile, file);
	text = text_of(file, NULL);
	fclose(file);
	return text;
}

static int read_text(const char *text, size_t size, struct profile *profile)
{
	FILE *file = memory_file();
	struct input input;
	int err;

	fwrite(text, 1, size, file);
	CHECK_EQ(profile_open(profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	err = heapfile_read(&input, profile);
	input_close(&input);
	fclose(file);
	return err;
}

UNIT_TEST(the_text_is_what_the_field_knows)
{
	struct profile profile;

	make_profile(&profile);
	char *text = written(&profile);
	CHECK(strncmp(text,
		      "heap profile:      2:      128 [     5:      272] @ heap_v2/4096\n# "
		      "heapinject 0.1.0\n",
		      84) == 0);
	CHECK(strstr(text, "\n     0:        0 [     3:      144] @ 0x00400100 0x00400200\n") !=
	      NULL);
	CHECK(strstr(text, "\n     2:      128 [     2:      128] @ 0x00400100\n") != NULL);
	CHECK(strstr(text, "\n\nMAPPED_LIBRARIES:\n00400000-00401000 r-xp 00001000 00:00 0 /opt/my "
			   "server\n# end\n") != NULL);
	free(text);
	profile_close(&profile);
}

/* go pprof decides by the header whether there are two sample types or four. */
UNIT_TEST(header_totals_always_differ)
{
	struct profile profile;
	char *text;

	make_profile(&profile);
	profile.row[0] = profile.row[1];
	text = written(&profile);
	CHECK(strncmp(text, "heap profile:      4:      256 [     5:      256] @ ", 50) == 0);
	free(text);
	profile.row_count = 0;
	text = written(&profile);
	CHECK(strncmp(text, "heap profile:      0:        0 [     1:        0] @ ", 50) == 0);
	free(text);
	profile_close(&profile);
}

UNIT_TEST(what_is_written_is_read_back)
{
	struct profile out, in;

	make_profile(&out);
	out.row[1].grain = 1 << 20;
	char *text = written(&out);
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	CHECK_EQ(in.row[0].grain, 0);
	CHECK_EQ(in.row[1].grain, 1 << 20);
	CHECK_EQ(in.meta.pid, 1234);
	CHECK_EQ(in.meta.interval, 4096);
	CHECK_EQ(in.meta.duration_ns, 5000000000ull);
	CHECK_EQ(in.meta.samples, 5);
	CHECK_EQ(in.meta.peak_inuse_bytes, 5000);
	CHECK_EQ(in.meta.peak_ns, 2500000000u);
	CHECK_EQ(in.meta.missed_frees, 11);
	CHECK_EQ(in.meta.memory.anonymous_begin, 12);
	CHECK_EQ(in.meta.memory.anonymous_end, 13);
	CHECK_EQ(in.meta.memory.writable_end, 14);
	CHECK_EQ(in.meta.memory.spread, 15);
	CHECK_EQ(in.meta.mapped_begin.bytes[MAPPED_STACK], 16);
	CHECK_EQ(in.meta.mapped_end.bytes[MAPPED_FILE], 17);
	CHECK_EQ(in.meta.runtimes, 5);
	CHECK_EQ(in.meta.heap.count, 1);
	CHECK_EQ(memcmp(in.meta.heap.moment, out.meta.heap.moment, sizeof(struct heap_moment)), 0);
	CHECK_STR(in.meta.heap.name, "glibc 2.36");
	CHECK(!heap_history_is_refused(&in.meta.heap));
	CHECK_STR(in.meta.hooked, "glibc in /lib/libc.so.6: all\njemalloc: none\n");
	CHECK_STR(in.meta.unhooked, "je_malloc in the\nprogram");
	CHECK_STR(in.meta.caveat[HI_CAVEAT_OTHER_MEANS], "it grew by 5MB,?# end");
	CHECK_STR(in.meta.caveat[HI_CAVEAT_MISSED_FREES], "frees go past");
	CHECK(!in.meta.caveat[HI_CAVEAT_IMPOSSIBLE] && !in.meta.caveat[HI_CAVEAT_UNHOOKED]);
	CHECK_STR(in.meta.comm, "my\nserver");
	CHECK_STR(in.meta.version, "0.1.0");
	CHECK_STR(in.meta.maps, out.meta.maps);
	CHECK_EQ(in.module_count, 1);
	CHECK_EQ(in.module[0].lo, LO);
	CHECK_EQ(in.module[0].bias, 0x3ff000);
	CHECK_EQ(in.module[0].build_id_size, 2);
	CHECK_EQ(in.module[0].build_id[1], 0xad);
	CHECK_STR(in.module[0].path, out.module[0].path);
	CHECK_EQ(in.row_count, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(in.row[i].alloc_count, out.row[i].alloc_count);
		CHECK_EQ(in.row[i].alloc_bytes, out.row[i].alloc_bytes);
		CHECK_EQ(in.row[i].inuse_bytes, out.row[i].inuse_bytes);
		CHECK_EQ(in.row[i].key.size_class, out.row[i].key.size_class);
		CHECK_EQ(in.row[i].key.interval, 4096);
		CHECK_EQ(in.row[i].alloc_slack, out.row[i].alloc_slack);
		CHECK_EQ(in.row[i].inuse_slack, out.row[i].inuse_slack);
		CHECK_EQ(in.row[i].freed_count, out.row[i].freed_count);
		CHECK(in.row[i].freed_ns == out.row[i].freed_ns &&
		      in.row[i].inuse_ns == out.row[i].inuse_ns);
	}
	const struct profile_frame *frame = &in.frame[in.stack[in.row[0].key.stack].frame[0]];
	CHECK_EQ(frame->address, LO + 0x100);
	CHECK_EQ(frame->module, 0);
	CHECK_EQ(frame->line_count, 2);
	CHECK_STR(frame->line[0].function, "inner");
	CHECK_STR(frame->line[0].system_name, "_Z5innerv");
	CHECK_STR(frame->line[0].file, "/src/a b.c");
	CHECK_EQ(frame->line[0].line, 7);
	CHECK_STR(frame->line[1].function, "evil\n;\t\\name");
	CHECK(frame->line[1].file == NULL);
	profile_close(&in);
	profile_close(&out);
	free(text);
}

/*
 * The only name that a frame has in the file is its address: those that have none, or one that is
 * taken, get one.
 */
UNIT_TEST(frames_that_share_an_address)
{
	const struct profile_line lines[] = {{.function = strdup("named"), .line = 1},
					     {.function = strdup("other"), .line = 2}};
	struct profile out, in;
	uint32_t frame[4], stack, row;

	CHECK_EQ(profile_open(&out), 0);
	out.meta.interval = 1;
	CHECK_EQ(profile_frame_named(&out, &lines[0], 1, &frame[0]), 0);
	CHECK_EQ(profile_frame_named(&out, &lines[1], 1, &frame[1]), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 1, -1, &frame[2]), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 1, 0, &frame[3]), 0);
	CHECK_EQ(profile_frame_lines(&out.frame[frame[3]], &lines[0], 1), 0);
	CHECK_EQ(profile_stack_of(&out, frame, 4, 0, &stack), 0);
	CHECK_EQ(
		profile_row_at(&out, &(struct profile_row_key){stack, 64, 1, PROFILE_NEW, 0}, &row),
		0);
	out.row[row].alloc_count = out.row[row].inuse_count = 1;
	out.row[row].alloc_bytes = out.row[row].inuse_bytes = 64;
	char *text = written(&out);
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	CHECK_EQ(in.stack[0].frame_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct profile_frame *read = &in.frame[in.stack[0].frame[i]];

		CHECK_EQ(read->line_count, i != 2);
		if (read->line_count)
			CHECK_STR(read->line[0].function, i == 1 ? "other" : "named");
	}
	CHECK_EQ(in.frame[in.stack[0].frame[2]].address, LO + 1);
	free(text);
	free(lines[0].function);
	free(lines[1].function);
	profile_close(&in);
	profile_close(&out);
}

/* Nor does one get the name of another that was there before. */
UNIT_TEST(a_frame_without_a_name_takes_none_from_another)
{
	const struct profile_line line = {.function = (char[]){"named"}, .line = 1};
	const struct profile_module module = {.lo = LO,
					      .hi = LO + 0x1000,
					      .bias = LO,
					      .number = 1,
					      .path = (char[]){"/opt/lib thing.so"}};
	struct profile out, in;
	uint32_t frame[3], stack, row, index;

	CHECK_EQ(profile_open(&out), 0);
	out.meta.interval = 1;
	CHECK_EQ(profile_add_module(&out, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 1, -1, &frame[0]), 0);
	CHECK_EQ(profile_frame_lines(&out.frame[frame[0]], &line, 1), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 1, (int32_t)index, &frame[1]), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 1, 7, &frame[2]), 0);
	CHECK_EQ(profile_stack_of(&out, frame, 3, 0, &stack), 0);
	CHECK_EQ(
		profile_row_at(&out, &(struct profile_row_key){stack, 64, 1, PROFILE_NEW, 0}, &row),
		0);
	out.row[row].alloc_count = out.row[row].inuse_count = 1;
	out.row[row].alloc_bytes = out.row[row].inuse_bytes = 64;
	char *text = written(&out);
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	static const char *const names[] = {"named", "lib thing.so+0x0", "0x"};
	for (size_t i = 0; i < 3; i++) {
		const struct profile_frame *read = &in.frame[in.stack[0].frame[i]];

		CHECK_EQ(read->line_count, 1);
		CHECK(strncmp(read->line[0].function, names[i], strlen(names[i])) == 0);
	}
	free(text);
	profile_close(&in);
	profile_close(&out);
}

static uint32_t add_row(struct profile *profile, uint64_t size, uint64_t interval, uint64_t count,
			uint64_t inuse)
{
	uint32_t row;

	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){profile->row[0].key.stack,
							  profile_size_class(size), interval,
							  PROFILE_NEW, 0},
				&row),
		 0);
	profile->row[row].alloc_count = count;
	profile->row[row].alloc_bytes = count * size;
	profile->row[row].inuse_count = inuse;
	profile->row[row].inuse_bytes = inuse * size;
	return row;
}

/* The bucket of a line, and what follows '@'. */
static bool scan_bucket(const char *line, uint64_t bucket[4])
{
	return sscanf(line, "%" SCNu64 ": %" SCNu64 " [%" SCNu64 ": %" SCNu64 "] @", &bucket[0],
		      &bucket[1], &bucket[2], &bucket[3]) == 4;
}

/* Adds up the lines of stacks. Returns how many there are. */
static size_t add_up(const char *text, uint64_t sum[4])
{
	size_t lines = 0;

	for (text = strchr(text, '\n') + 1; *text; text += strcspn(text, "\n") + 1) {
		uint64_t bucket[4];

		if (!scan_bucket(text, bucket))
			continue;
		for (size_t i = 0; i < 4; i++)
			sum[i] += bucket[i];
		lines++;
	}
	return lines;
}

/*
 * Others read estimates, of which each allocation is said to have been counted; we read what was
 * taken and how.
 */
/* It was sampled in a library that nobody knows, where another one lay later. */
UNIT_TEST(a_frame_of_no_module_gets_none_from_another)
{
	const struct profile_module module = {.lo = LO,
					      .hi = LO + 0x1000,
					      .bias = LO,
					      .number = 1,
					      .path = (char[]){"/opt/later.so"}};
	struct profile out, in;
	uint32_t frame[2], stack, row, index;

	CHECK_EQ(profile_open(&out), 0);
	out.meta.interval = 1;
	CHECK_EQ(profile_add_module(&out, &module, &index), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 17, -1, &frame[0]), 0);
	CHECK_EQ(profile_frame_at(&out, LO + 33, (int32_t)index, &frame[1]), 0);
	CHECK_EQ(profile_stack_of(&out, frame, 2, 0, &stack), 0);
	CHECK_EQ(
		profile_row_at(&out, &(struct profile_row_key){stack, 64, 1, PROFILE_NEW, 0}, &row),
		0);
	out.row[row].alloc_count = out.row[row].inuse_count = 1;
	out.row[row].alloc_bytes = out.row[row].inuse_bytes = 64;
	char *text = written(&out);
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	const struct profile_frame *none = &in.frame[in.stack[0].frame[0]],
				   *some = &in.frame[in.stack[0].frame[1]];
	CHECK_EQ(none->module, -1);
	CHECK_EQ(none->line_count, 1);
	CHECK(strncmp(none->line[0].function, "0x", 2) == 0);
	CHECK_EQ(some->module, 0);
	CHECK_EQ(some->address, LO + 33);
	free(text);
	profile_close(&in);
	profile_close(&out);
}

UNIT_TEST(rows_drawn_more_seldom)
{
	static const enum sample_type types[] = {INUSE_OBJECTS, INUSE_SPACE, ALLOC_OBJECTS,
						 ALLOC_SPACE};
	struct profile out, in;
	uint64_t header[4], sum[4] = {0};

	make_profile(&out);
	const uint32_t row = add_row(&out, 48, 4 * 4096, 10, 5);

	add_row(&out, 1 << 20, 2 * 4096, 1, 0);
	profile_add_change(&out.meta, &(struct profile_change){1000, 4 * 4096});
	out.meta.budget_ppm = 10000;
	char *text = written(&out);
	CHECK(strstr(text, "] @ heap_v2/1\n"));
	CHECK(strstr(text, "\n     0:        0 [     1:  1048576] @")); /* certain */
	/* 5 and 10 samples of 48 bytes, each for 1 / (1 - e^(-48/16384)) = 341.8 blocks */
	CHECK(strstr(text, "\n  1709:    82040 [  3418:   164080] @"));
	CHECK_EQ(add_up(text, sum), 4);
	CHECK(scan_bucket(text + strlen("heap profile:"), header));
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(sum[i], header[i]);
		CHECK(fabs((double)sum[i] - estimate_total(&out, types[i]).value) <= 1);
	}
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	CHECK_EQ(in.row_count, 4);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(in.row[i].key.interval, out.row[i].key.interval);
		CHECK_EQ(in.row[i].alloc_count, out.row[i].alloc_count);
		CHECK_EQ(in.row[i].alloc_bytes, out.row[i].alloc_bytes);
		CHECK_EQ(in.row[i].inuse_count, out.row[i].inuse_count);
		CHECK_EQ(in.row[i].inuse_bytes, out.row[i].inuse_bytes);
	}
	CHECK_EQ(in.row[row].key.interval, 4 * 4096);
	CHECK_EQ(in.meta.interval, 4096);
	CHECK_EQ(in.meta.change_count, 1);
	CHECK_EQ(in.meta.change[0].time_ns, 1000);
	CHECK_EQ(in.meta.change[0].interval, 4 * 4096);
	CHECK_EQ(in.meta.budget_ppm, 10000);
	profile_close(&in);
	profile_close(&out);
	free(text);
}

/* Of rows of one interval, others weigh the counts themselves. */
UNIT_TEST(rows_of_one_interval_are_not_weighed)
{
	struct profile out, in;

	make_profile(&out);
	out.meta.interval = 512; /* what it began with */
	char *text = written(&out);
	CHECK(strstr(text, "] @ heap_v2/4096\n"));
	CHECK(strstr(text, "\n     2:      128 [     2:      128] @ 0x00400100\n"));
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	CHECK_EQ(in.meta.interval, 512);
	profile_close(&in);
	profile_close(&out);
	free(text);
}

/* Each row alone would be rounded by up to a half, all to the same side. */
UNIT_TEST(what_rounding_takes_is_carried_over)
{
	struct profile profile;
	uint64_t sum[4] = {0};

	make_profile(&profile);
	for (uint32_t i = 0; i < 200; i++) {
		const uint32_t row = add_row(&profile, 4096, 4096, 1, 1);

		profile.row[row].key.size_class = 100000 + i;
	}
	add_row(&profile, 48, 2 * 4096, 1, 1);
	char *text = written(&profile);
	CHECK_EQ(add_up(text, sum), 203);
	/* 200 times 1.58 */
	CHECK(fabs((double)sum[0] - estimate_total(&profile, INUSE_OBJECTS).value) <= 1);
	CHECK(fabs((double)sum[3] - estimate_total(&profile, ALLOC_SPACE).value) <= 1);
	profile_close(&profile);
	free(text);
}

UNIT_TEST(what_is_known_of_the_process_is_read_back)
{
	struct profile out, in;

	make_profile(&out);
	for (uint64_t s = 1; s <= 3; s++)
		profile_add_moment(&out.meta,
				   &(struct profile_moment){s * 1000000000, 100 * s, 10 * s, s});
	out.meta.frees_share = 0.25;
	out.meta.unsampled_freed[0] = (struct profile_freed){1, 4, 12};
	out.meta.unsampled_freed[HI_SIZE_CLASSES - 1] = (struct profile_freed){7, 28, 1ull << 40};
	out.meta.limit_bytes = 1ull << 33;
	out.meta.limited_bytes = 1ull << 32;
	char *text = written(&out);
	CHECK(strstr(text, "\n# memory 2000000000 200 20 2\n"));
	CHECK(strstr(text, "\n# unsampled_frees_share_ppm 250000\n"));
	CHECK(strstr(text, "\n# unsampled_freed 127 7 28 1099511627776\n"));
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	CHECK_EQ(in.meta.moment_count, 3);
	CHECK(!memcmp(in.meta.moment, out.meta.moment, 3 * sizeof(in.meta.moment[0])));
	CHECK(in.meta.frees_share == 0.25);
	CHECK(!memcmp(in.meta.unsampled_freed, out.meta.unsampled_freed,
		      sizeof(in.meta.unsampled_freed)));
	CHECK_EQ(in.meta.limit_bytes, 1ull << 33);
	CHECK_EQ(in.meta.limited_bytes, 1ull << 32);
	profile_close(&in);
	profile_close(&out);
	free(text);
}

UNIT_TEST(comments_that_nobody_writes_are_refused)
{
	static const char *const comments[] = {
		"memory 1 2 3",
		"memory 1 2 3 4 5",
		"memory 1 -2 3 4",
		"memory 1 2 3 99999999999999999999999",
		"unsampled_freed 128 1 2 3",
		"unsampled_freed 18446744073709551615 1 2 3",
		"unsampled_freed 1 2 3",
		"unsampled_freed 1 2 3 4 5",
		"unsampled_freed x 2 3 4",
		"unsampled_frees_share_ppm -1",
		"unsampled_frees_share_ppm 1000001",
		"unsampled_frees_share_ppm 0.5",
		"interval_bytes x",
		"limit_bytes -1",
		"limited_bytes 1 2",
		"grain 0",
		"grain -1",
		"grain 1 2",
		"grain 9223372036854775808",
	};

	for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
		struct profile profile;
		char text[256];

		snprintf(text, sizeof(text),
			 "heap profile:  1: 10 [ 1: 10] @ heap_v2/1\n# %s\n 1: 10 [ 1: 10] @ 0x1\n"
			 "\nMAPPED_LIBRARIES:\n",
			 comments[i]);
		CHECK_EQ(read_text(text, strlen(text), &profile), 0);
		if (!profile.meta.damage || !strstr(profile.meta.damage, "line 2"))
			UNIT_FAIL("%s: %s", comments[i],
				  profile.meta.damage ? profile.meta.damage : "no damage");
		CHECK_EQ(profile.row_count, 1);
		CHECK_EQ(profile.meta.moment_count, 0);
		CHECK(profile.meta.frees_share == 0);
		profile_close(&profile);
	}
}

/* Samples of a forged stream may stand for more than a file can say. */
UNIT_TEST(totals_saturate)
{
	struct profile out, in;
	uint32_t row;

	make_profile(&out);
	out.meta.interval = 1;
	for (uint32_t size = 1; size <= 3; size++) {
		CHECK_EQ(profile_row_at(
				 &out,
				 &(struct profile_row_key){0, size, 1ull << 47, PROFILE_NEW, 0},
				 &row),
			 0);
		out.row[row].alloc_count = out.row[row].inuse_count = 1ull << 40;
		out.row[row].alloc_bytes = out.row[row].inuse_bytes = (1ull << 40) * size;
	}
	char *text = written(&out);
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(in.meta.damage == NULL);
	CHECK_EQ(in.row_count, 5);
	CHECK_EQ(in.row[row].inuse_count, 1ull << 40);
	profile_close(&in);
	profile_close(&out);
	free(text);
}

UNIT_TEST(lines_stay_below_what_go_reads)
{
	struct profile profile;
	size_t longest = 0;

	make_profile(&profile);
	free(profile.meta.cmdline);
	profile.meta.cmdline = calloc(1, 1 << 20);
	memset(profile.meta.cmdline, '\n', (1 << 20) - 1);
	free(profile.meta.maps);
	profile.meta.maps = calloc(1, 1 << 20);
	memset(profile.meta.maps, 'x', (1 << 20) - 1);
	char *text = written(&profile);
	for (char *at = text; *at; at += strcspn(at, "\n") + 1)
		longest = strcspn(at, "\n") > longest ? strcspn(at, "\n") : longest;
	CHECK(longest < 32768);
	free(text);
	profile_close(&profile);
}

/* The name may have been given to another file by then. */
UNIT_TEST(a_file_without_build_id_is_known_by_its_inode)
{
	struct profile profile, copy;

	for (int has_id = 0; has_id < 2; has_id++) {
		make_profile(&profile);
		set(&profile.module[0].path, "/opt/server");
		set(&profile.meta.maps, "55d0dbe20000-55d0dbe21000 r-xp 00001000 fe:00 77 "
					"/opt/server (deleted)\n"
					"7f0000000000-7f0000001000 r-xp 00001000 fe:00 78 /x\n");
		profile.module[0].lo = 0x55d0dbe20000;
		profile.module[0].hi = 0x55d0dbe21000;
		profile.module[0].build_id_size = has_id ? 2 : 0;
		char *text = written(&profile);
		CHECK_EQ(read_text(text, strlen(text), &copy), 0);
		CHECK_EQ(copy.module_count, 1);
		CHECK_EQ(copy.module[0].inode, has_id ? 0 : 77);
		profile_close(&copy);
		profile_close(&profile);
		free(text);
	}
}

UNIT_TEST(other_tools_files_are_read)
{
	static const char text[] =
		"heap profile:     15:     9120 [    25:    19120] @ heap_v2/524288\n"
		"    10:     5120 [    20:    15120] @ 0x555555555226 0x555555555243\n"
		" 5: 4000 [0: 0] @ 0x555555555226\n"
		"\n"
		"MAPPED_LIBRARIES:\n"
		"555555554000-555555555000 r--p 00000000 fe:00 10953014                   "
		"/opt/app/t\n"
		"555555555000-555555556000 r-xp 00001000 fe:00 10953014                   "
		"/opt/app/t\n"
		"7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0                          [vdso]\n";
	struct profile profile;

	CHECK_EQ(read_text(text, strlen(text), &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.interval, 524288);
	CHECK_EQ(profile.row_count, 2);
	CHECK_EQ(profile.row[1].alloc_count, 5);
	CHECK_EQ(profile.module_count, 1);
	CHECK_EQ(profile.module[0].file_offset, 0x1000);
	CHECK_EQ(profile.module[0].inode, 10953014);
	CHECK_EQ(profile.module[0].bias, PROFILE_BIAS_UNKNOWN);
	CHECK_STR(profile.module[0].path, "/opt/app/t");
	CHECK_EQ(profile.frame[0].module, 0);
	CHECK_EQ(profile.meta.samples, 25);
	profile_close(&profile);

	static const char exact[] = "heap profile:  1: 10 [ 2: 20] @ heapprofile\n 1: 10 [ 2: 20] "
				    "@ 0x1\n\nMAPPED_LIBRARIES:\n";
	CHECK_EQ(read_text(exact, strlen(exact), &profile), 0);
	CHECK_EQ(profile.meta.interval, 1);
	profile_close(&profile);
}

/* As after a way over Windows. */
UNIT_TEST(lines_may_end_in_carriage_returns)
{
	static const char text[] =
		"heap profile:      1:      100 [     1:      100] @ heap_v2/1\r\n"
		" 1: 100 [1: 100] @ 0x555555555226 0x555555555243\r\n\r\nMAPPED_LIBRARIES:\r\n"
		"555555555000-555555556000 r-xp 00001000 fe:00 10953014 /opt/app/t\r\n";
	struct profile profile;

	CHECK_EQ(read_text(text, strlen(text), &profile), 0);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.row_count, 1);
	CHECK_EQ(profile.frame_count, 2);
	CHECK_STR(profile.module[0].path, "/opt/app/t");
	profile_close(&profile);
}

/* 2000 and 2010 bytes are of one class where we weigh samples. */
UNIT_TEST(lines_of_other_tools_stay_apart_by_their_mean_size)
{
	static const char lines[] =
		" 1: 2000 [ 1: 2000] @ 0x1\n 1: 2010 [ 1: 2010] @ 0x1\n\nMAPPED_LIBRARIES:\n";
	static const struct {
		const char *head;
		size_t rows;
	} files[] = {{"heap profile:  2: 4010 [ 2: 4010] @ heapprofile\n", 2},
		     {"heap profile:  2: 4010 [ 2: 4010] @ heap_v2/524288\n", 2}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char text[256];
		struct profile profile;

		snprintf(text, sizeof(text), "%s%s", files[i].head, lines);
		CHECK_EQ(read_text(text, strlen(text), &profile), 0);
		CHECK_EQ(profile.row_count, files[i].rows);
		profile_close(&profile);
	}
}

UNIT_TEST(what_is_no_heap_profile_is_refused)
{
	static const char *const texts[] = {
		"",
		"heap profile:",
		"heap profile: 1: 2 [3: 4] @ heap_v2",
		"heap profile: 1: 2 [3: 4] @ heap_v2/0\n",
		"heap profile: -1: 2 [3: 4] @ heap_v2/5\n",
		"heap profile: 1: 2 [3: 4] @ other\n",
		"heap profile: 99999999999999999999: 2 [3: 4] @ heapprofile\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct profile profile;

		CHECK_EQ(read_text(texts[i], strlen(texts[i]), &profile), -EBADMSG);
		CHECK(profile.meta.damage != NULL);
		profile_close(&profile);
	}
}

UNIT_TEST(bad_lines_are_skipped_and_the_first_is_named)
{
	static const char text[] = "heap profile:  2: 20 [ 2: 20] @ heapprofile\n"
				   " 1: 10 [ 1: 10] @ 0x1\n"
				   "garbage\n"
				   " 1: 10 [ 1: 10] @ zzz\n"
				   " 2: 10 [ 1: 10] @ 0x1\n"
				   " 0: 10 [ 1: 10] @ 0x1\n"
				   " 1: 10 [ 1: 10] @ 0x2\n"
				   "\n"
				   "MAPPED_LIBRARIES:\n";
	struct profile profile;

	CHECK_EQ(read_text(text, strlen(text), &profile), 0);
	CHECK_STR(profile.meta.damage, "damaged at line 3: not a stack with its counts");
	CHECK(estimate_total(&profile, INUSE_SPACE).value == 20);
	profile_close(&profile);
}

UNIT_TEST(endless_lines_are_skipped)
{
	static const char head[] = "heap profile:  1: 10 [ 1: 10] @ heapprofile\n",
			  tail[] = "\n 1: 10 [ 1: 10] @ 0x1\n\nMAPPED_LIBRARIES:\n";
	const size_t endless = 3u << 20, size = strlen(head) + endless + strlen(tail);
	char *text = malloc(size + 1);
	struct profile profile;

	memset(text, '1', size);
	memcpy(text, head, strlen(head));
	memcpy(text + strlen(head) + endless, tail, strlen(tail) + 1);
	CHECK_EQ(read_text(text, size, &profile), 0);
	CHECK_STR(profile.meta.damage, "damaged at line 2: the line is too long");
	CHECK_EQ(profile.row_count, 1);
	profile_close(&profile);
	free(text);
}

UNIT_TEST(every_cut_is_named)
{
	struct profile profile, in;

	make_profile(&profile);
	char *text = written(&profile);
	for (size_t size = 0; size < strlen(text); size++) {
		const int err = read_text(text, size, &in);

		CHECK(err == 0 || err == -EBADMSG);
		CHECK(in.meta.damage != NULL);
		profile_close(&in);
	}
	free(text);
	profile_close(&profile);
}

UNIT_TEST(changed_counts_are_noticed)
{
	struct profile profile, in;

	make_profile(&profile);
	char *text = written(&profile);
	memcpy(strstr(text, "\n     2:      128") + 1, "     1:       64", 16);
	CHECK_EQ(read_text(text, strlen(text), &in), 0);
	CHECK(strstr(in.meta.damage, "add up to 1 samples") != NULL);
	profile_close(&in);
	profile_close(&profile);
	free(text);
}

UNIT_TEST(damage_anywhere_is_survived)
{
	static const unsigned char values[] = {0, '\n', ' ', '9', 'f', 0xff};
	struct profile profile, in;

	make_profile(&profile);
	char *text = written(&profile);
	const size_t size = strlen(text);
	for (size_t at = 0; at < size; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			const char kept = text[at];

			text[at] = (char)values[i];
			read_text(text, size, &in);
			profile_close(&in);
			text[at] = kept;
		}
	}
	free(text);
	profile_close(&profile);
}

UNIT_TEST(escapes)
{
	char text[] = "a\\x0ab\\x5cx41\\xzz\\";

	heapfile_unescape(text);
	CHECK_STR(text, "a\nb\\x41\\xzz\\");
}

UNIT_MAIN()

#define GO_RUNTIME "\n# runtime.MemStats\n# Alloc = 123\n# NumGC = 3\n"
#define GO_FILE                                                   \
	"heap profile: 3: 300 [5: 500] @ heap/2048\n"             \
	"1: 100 [2: 200] @ 0x40f001 0x401101 0x401201 0x46a701\n" \
	"#\t0x401100\tmain.(*shop).add+0x10\t\t/src/shop.go:43\n" \
	"#\t0x401200\tmain.main+0x20\t\t\t/src/main.go:7\n"       \
	"\n"                                                      \
	"2: 200 [3: 300] @ 0x401301 0x401201 0x46a701\n"          \
	"#\t0x401300\tmain.inner+0x1\t/src/a b.go:1\n"            \
	"#\t0x401300\tmain.outer+0x2\t/src/a b.go:2\n"            \
	"#\t0x401200\tmain.main+0x20\t/src/main.go:7\n"           \
	"\n" GO_RUNTIME

static void read_whole(const char *text, struct profile *profile)
{
	CHECK_EQ(read_text(text, strlen(text), profile), 0);
}

/* Go writes twice its sampling interval, and weighs as heap_v2 does. */
UNIT_TEST(go_writes_twice_the_interval)
{
	struct profile profile;
	const double weight = 1 / (1 - exp(-100.0 / 1024));

	read_whole(GO_FILE, &profile);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.rule, PROFILE_RULE_GO);
	CHECK(!profile.meta.is_scaled);
	CHECK_EQ(profile.meta.interval, 1024);
	CHECK_EQ(profile.meta.samples, 5);
	CHECK(fabs(estimate_total(&profile, INUSE_SPACE).value - 300 * weight) < 1e-6);
	CHECK(fabs(estimate_total(&profile, ALLOC_OBJECTS).value - 5 * weight) < 1e-6);
	profile_close(&profile);
}

/* The allocator's frames at the leaf, and the thread's start, have no names there. */
UNIT_TEST(go_names_its_frames)
{
	struct profile profile;

	read_whole(GO_FILE, &profile);
	CHECK_EQ(profile.row_count, 2);
	const struct profile_stack *stack = &profile.stack[profile.row[0].key.stack];
	CHECK_EQ(stack->frame_count, 2);
	const struct profile_frame *leaf = &profile.frame[stack->frame[0]];
	CHECK_EQ(leaf->address, 0x401101);
	CHECK_EQ(leaf->line_count, 1);
	CHECK_STR(leaf->line[0].function, "main.(*shop).add");
	CHECK_STR(leaf->line[0].file, "/src/shop.go");
	CHECK_EQ(leaf->line[0].line, 43);
	CHECK_STR(profile.frame[stack->frame[1]].line[0].function, "main.main");
	stack = &profile.stack[profile.row[1].key.stack];
	CHECK_EQ(stack->frame_count, 2);
	leaf = &profile.frame[stack->frame[0]];
	CHECK_EQ(leaf->line_count, 2);
	CHECK_STR(leaf->line[0].function, "main.inner");
	CHECK_STR(leaf->line[1].function, "main.outer");
	CHECK_STR(leaf->line[1].file, "/src/a b.go");
	profile_close(&profile);
}

/* pprof's brief form, which it recommends to those who write such files. */
UNIT_TEST(brief_maps_are_modules)
{
	static const char text[] =
		"heap profile: 1: 100 [ 1: 100] @ heapz_v2/2048\n"
		"     1:      100 [     1:      100] @ 0x401101 0x501101 0x601101\n"
		"\nMAPPED_LIBRARIES:\n"
		"  0x400000-0x500000: /opt/x\n"
		"500000-600000: r-xp lib.so (@1000) abc0\n"
		"600000-700000 rw-p /opt/data\n"
		"600000-700000 /opt/my (@2000)\n"
		"cmdline=/opt/x\n";
	static const struct {
		uint64_t lo, offset;
		const char *path;
	} modules[] = {{0x400000, 0, "/opt/x"},
		       {0x500000, 0x1000, "lib.so"},
		       {0x600000, 0x2000, "/opt/my"}};
	struct profile profile;

	read_whole(text, &profile);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.interval, 2048);
	CHECK_EQ(profile.module_count, 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(profile.module[i].lo, modules[i].lo);
		CHECK_EQ(profile.module[i].file_offset, modules[i].offset);
		CHECK_STR(profile.module[i].path, modules[i].path);
		CHECK_EQ(profile.frame[profile.stack[0].frame[i]].module, i);
	}
	CHECK_EQ(profile.module[1].build_id_size, 2);
	CHECK_EQ(profile.module[1].build_id[0], 0xab);
	profile_close(&profile);
}

/* pprof shows them as they are: such a file holds differences. */
UNIT_TEST(negative_counts_count_for_the_base)
{
	static const char text[] = "heap profile: 1: 100 [ 1: 100] @ heapprofile\n"
				   "  -2: -200 [ 3: 300] @ 0x401101\n"
				   "   5: 500 [ 5: 500] @ 0x401201\n"
				   "\nMAPPED_LIBRARIES:\n";
	struct profile profile;

	read_whole(text, &profile);
	CHECK(profile.meta.damage == NULL);
	CHECK(profile.meta.is_difference);
	CHECK(estimate_total(&profile, INUSE_SPACE).value == 300);
	CHECK(estimate_total(&profile, INUSE_OBJECTS).value == 3);
	CHECK(estimate_total(&profile, ALLOC_SPACE).value == 800);
	profile_close(&profile);
}

UNIT_TEST(go_ends_with_its_statistics)
{
	struct profile profile;
	char *text = strdup(GO_FILE);

	strstr(text, GO_RUNTIME)[0] = 0;
	read_whole(text, &profile);
	CHECK(profile.meta.damage != NULL);
	CHECK_EQ(profile.row_count, 2); /* the last stack counts nevertheless */
	free(text);
	profile_close(&profile);
}

/* The same line without what Go adds is of gperftools, which has an older rule. */
UNIT_TEST(gperftools_first_version_is_weighed_linearly)
{
	static const char text[] = "heap profile: 1: 100 [ 2: 200] @ heap/2048\n"
				   "     1:      100 [     2:      200] @ 0x401101 0x401201\n"
				   "\nMAPPED_LIBRARIES:\n"
				   "00400000-00500000 r-xp 00000000 00:00 0 /opt/x\n";
	struct profile profile;

	read_whole(text, &profile);
	CHECK(profile.meta.damage == NULL);
	CHECK_EQ(profile.meta.rule, PROFILE_RULE_LINEAR);
	CHECK(profile.meta.is_scaled);
	CHECK(estimate_total(&profile, INUSE_SPACE).value == 1024);
	CHECK(estimate_total(&profile, ALLOC_SPACE).value == 2048);
	profile_close(&profile);
}

/* Its sizes within one of our classes may have other weights. */
UNIT_TEST(lines_of_others_are_weighed_one_by_one)
{
	static const char text[] = "heap profile: 2: 3130 [ 2: 3130] @ heap_v2/512\n"
				   "     1:     1540 [     1:     1540] @ 0x401101 0x401201\n"
				   "     1:      1590 [     1:     1600] @ 0x401101 0x401201\n"
				   "\nMAPPED_LIBRARIES:\n";
	struct profile profile;

	read_whole(text, &profile);
	CHECK_EQ(profile.row_count, 2);
	CHECK(fabs(estimate_total(&profile, INUSE_SPACE).value -
		   (1540 / (1 - exp(-1540.0 / 512)) + 1590 / (1 - exp(-1590.0 / 512)))) < 1e-9);
	profile_close(&profile);
}
