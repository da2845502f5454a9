/* SPDX-License-Identifier: MIT */
/*
 * read_jemalloc.c - jemalloc's heap profile: a header with threads and their names, stacks with one
 * line for all threads (t*) and one for each, a memory map.
 *
 * Its counts are not counts of samples. jemalloc has estimated each stack block by block, and
 * writes the counts that yield its estimates when they are weighted by their mean size. So they are
 * read as if they were samples of that interval. Start at read_jemalloc().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read_common.h"
#include "read_formats.h"
#include "scan.h"

#define MAGIC "heap_v2/"
#define MAPS "MAPPED_LIBRARIES:"

/* A thread by jemalloc's number. */
struct jemalloc_thread {
	uint64_t number;
	uint32_t thread; /* index in the profile's breakdown.thread[] */
};
struct jemalloc_reader {
	struct read_text *text;
	struct profile *profile;
	struct table threads; /* by number: index into thread[] */
	struct jemalloc_thread *thread;
	size_t thread_count, thread_capacity;
	uint32_t frame[READ_FRAMES_MAX], frame_count;
	bool has_stack, in_maps; /* has_stack: the last stack line was sound */
	bool has_row;            /* the current stack has a row */
	uint32_t row;            /* that row */
	struct profile_row left; /* what no thread has claimed of the line for all threads */
};

bool read_jemalloc_recognize(const uint8_t *bytes, size_t size)
{
	return size >= strlen(MAGIC) && memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
}

/*
 * "inuse: bytes [alloc: bytes]". The second pair stays 0 unless jemalloc accumulates (prof_accum).
 */
static bool scan_bucket(const char **cursor, struct profile_row *out_counts)
{
	if (!read_scan_counts(cursor, out_counts))
		return false;
	if (out_counts->alloc_count == 0 && out_counts->alloc_bytes == 0) {
		out_counts->alloc_count = out_counts->inuse_count;
		out_counts->alloc_bytes = out_counts->inuse_bytes;
	}
	/*
	 * The two pairs are rounded separately, so one block more may seem to be in use than was
	 * allocated.
	 */
	if (out_counts->alloc_count < out_counts->inuse_count)
		out_counts->alloc_count = out_counts->inuse_count;
	return true;
}

static int bad(struct jemalloc_reader *reader, const char *what)
{
	return read_bad(reader->text->input, reader->profile, what);
}

/* ---- threads --------------------------------------------------------------------------------- */

static struct jemalloc_thread *find_thread(struct jemalloc_reader *reader, uint64_t number)
{
	struct table_cursor cursor = table_seek(&reader->threads, hash_number(number));
	uint32_t index;

	while (table_next(&reader->threads, &cursor, &index)) {
		if (reader->thread[index].number == number)
			return &reader->thread[index];
	}
	return NULL;
}

/* A thread without a name is named by its number, as jeprof shows it. */
static int add_thread(struct jemalloc_reader *reader, uint64_t number, const char *name)
{
	struct jemalloc_thread thread = {.number = number};
	char text[32];

	if (find_thread(reader, number))
		return 0;
	snprintf(text, sizeof(text), "t%" PRIu64, number);
	if (thread_breakdown_thread(&reader->profile->breakdown, *name ? name : text, 0,
				    &thread.thread) ||
	    array_reserve(&reader->thread, &reader->thread_capacity, reader->thread_count,
			  sizeof(*reader->thread)) ||
	    table_add(&reader->threads, hash_number(number), (uint32_t)reader->thread_count))
		return -ENOMEM;
	reader->thread[reader->thread_count++] = thread;
	return 0;
}

static uint64_t take(uint64_t *left, uint64_t wanted)
{
	const uint64_t taken = wanted < *left ? wanted : *left;

	*left -= taken;
	return taken;
}

/*
 * Adds a thread's part of the stack's row, at most what is left of the row: the threads' counts are
 * rounded, too.
 */
static int add_part(struct jemalloc_reader *reader, uint32_t thread,
		    const struct profile_row *counts)
{
	const struct profile_row part = {
		.alloc_count = take(&reader->left.alloc_count, counts->alloc_count),
		.alloc_bytes = take(&reader->left.alloc_bytes, counts->alloc_bytes),
		.inuse_count = take(&reader->left.inuse_count, counts->inuse_count),
		.inuse_bytes = take(&reader->left.inuse_bytes, counts->inuse_bytes),
	};

	if (!part.alloc_count)
		return 0;
	return read_add_part(reader->profile, reader->row, thread, &part);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int read_stack(struct jemalloc_reader *reader)
{
	const int err = read_text_frames(reader->profile, reader->text->line + 1, reader->frame,
					 &reader->frame_count);

	reader->has_row = false;
	reader->has_stack = !err;
	if (err == -EBADMSG)
		return bad(reader, "not a list of addresses");
	return err;
}

static int read_all_threads(struct jemalloc_reader *reader, const struct profile_row *counts)
{
	struct profile_row_key key = {.interval = reader->profile->meta.interval};
	int err;

	if (!reader->has_stack) /* the header's total */
		return 0;
	if (counts->alloc_count)
		key.size_class = profile_size_class(counts->alloc_bytes / counts->alloc_count);
	if (reader->has_row || (!counts->alloc_count && counts->alloc_bytes) ||
	    (!counts->inuse_count && counts->inuse_bytes))
		return bad(reader, "counts that contradict each other");
	if (!counts->alloc_count)
		return 0;
	if (profile_stack_of(reader->profile, reader->frame, reader->frame_count, 0, &key.stack))
		return -ENOMEM;
	err = read_add(reader->profile, &key, counts, &reader->row);
	if (err)
		return err == -ERANGE ? bad(reader, "counts that are too large") : err;
	if (counts->inuse_count)
		reader->profile->row[reader->row].block_bytes =
			counts->inuse_bytes / counts->inuse_count;
	reader->has_row = true;
	reader->left = *counts;
	return 0;
}

/* "  t*: ..." or "  t3: ... NAME" */
static int read_thread(struct jemalloc_reader *reader, const char *cursor)
{
	struct profile_row counts = {0};
	uint64_t number = 0;
	const bool is_all = scan_char(&cursor, '*');

	if ((!is_all && !scan_number(&cursor, 10, &number)) || !scan_char(&cursor, ':') ||
	    !scan_bucket(&cursor, &counts))
		return bad(reader, "not the counts of a thread");
	if (is_all)
		return read_all_threads(reader, &counts);
	skip_spaces(&cursor);
	if (add_thread(reader, number, reader->has_stack ? "" : cursor))
		return -ENOMEM;
	return reader->has_row ? add_part(reader, find_thread(reader, number)->thread, &counts) : 0;
}

static int read_line(struct jemalloc_reader *reader)
{
	const char *cursor = reader->text->line;

	if (reader->in_maps)
		return read_text_map(reader->text, true);
	if (strcmp(cursor, MAPS) == 0) {
		reader->in_maps = true;
		return 0;
	}
	if (*cursor == '@')
		return read_stack(reader);
	skip_spaces(&cursor);
	if (scan_char(&cursor, 't'))
		return read_thread(reader, cursor);
	return *cursor ? bad(reader, "neither a stack nor the counts of a thread") : 0;
}

static int read_header(struct jemalloc_reader *reader)
{
	struct profile_meta *meta = &reader->profile->meta;
	const char *cursor = reader->text->line + strlen(MAGIC);

	if (!read_text_next(reader->text) ||
	    strncmp(reader->text->line, MAGIC, strlen(MAGIC)) != 0 ||
	    !scan_number(&cursor, 10, &meta->interval) || *cursor || !meta->interval ||
	    meta->interval > INT64_MAX) {
		meta->interval = 1;
		read_damage(reader->profile, "not a heap profile of jemalloc's");
		return -EBADMSG;
	}
	return 0;
}

static int read_lines(struct jemalloc_reader *reader)
{
	int err = read_header(reader);

	while (!err && read_text_next(reader->text))
		err = read_line(reader);
	if (!err && reader->thread_count)
		err = read_share_rest(reader->profile);
	if (!err)
		read_check_end(reader->text->input, reader->profile, reader->in_maps);
	return err;
}

int read_jemalloc(struct input *input, struct profile *profile)
{
	struct jemalloc_reader *reader = calloc(1, sizeof(*reader));
	int err = -ENOMEM, maps_error;

	if (reader) {
		reader->profile = profile;
		reader->text = read_text_open(input, profile);
	}
	if (reader && reader->text)
		err = read_lines(reader);
	maps_error = reader ? read_text_close(reader->text) : 0;
	if (!err)
		err = maps_error;
	if (!err)
		err = read_assign_modules(profile);
	if (!err)
		read_count_samples(profile);
	if (reader) {
		table_close(&reader->threads);
		free(reader->thread);
	}
	free(reader);
	return err;
}
