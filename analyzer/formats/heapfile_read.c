/* SPDX-License-Identifier: MIT */
/*
 * heapfile_read.c - reads heap profiles, line by line. A line that makes no sense is skipped, the
 * rest still counts. Start at heapfile_read().
 *
 * Modules may come after the stacks (in other tools' files they do), so frames get their module at
 * the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "go_names.h"
#include "heapfile.h"
#include "heapfile_text.h"
#include "read_common.h"
#include "row_history.h"
#include "scan.h"

#define COUNT_MAX 0x1p62
#define MAGIC "heap profile:"
#define GO_PEEK 65536u /* bytes; the first stack has its names within them */

struct heap_reader {
	struct read_text *text;
	char *line; /* the current line of `text` */
	struct profile *profile;
	uint64_t block_bytes;          /* of the last line, as go pprof labels it; 0: of ours */
	double linear_rate;            /* bytes; 0 unless the old, linear rule applies */
	struct profile_row sum, total; /* sum of the lines, and the header's total */
	/* from the comment before the current line; key.interval is 0 if there was none */
	struct profile_row beside;
	struct history history; /* from the same comment; its shift is 0 if there was none */
	uint64_t grain;         /* likewise; 0 = there was none */
	bool in_maps, ended;
	bool is_go, has_statistics; /* of Go, and its end */
	/* a file of Go: the last stack line, until the names below it are complete */
	bool has_stack;
	struct profile_row counts;
	uint32_t frame[READ_FRAMES_MAX], frame_count;
	struct go_names names;
};

/* True for a file of heapinject, which guarantees more than those of other tools. */
static bool is_ours(const struct heap_reader *reader)
{
	return reader->profile->meta.version != NULL;
}

bool heapfile_recognize(const uint8_t *bytes, size_t size)
{
	return size >= strlen(MAGIC) && memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
}

static int heap_bad(struct heap_reader *reader, const char *what)
{
	return read_bad(reader->text->input, reader->profile, what);
}

/* The counts and " @", without the space after it. NULL = they have no sign. */
static bool scan_bucket(const char **cursor, struct profile_row *out_row, bool *out_is_negative)
{
	if (out_is_negative ? !read_scan_signed_counts(cursor, out_row, out_is_negative)
			    : !read_scan_counts(cursor, out_row))
		return false;
	skip_spaces(cursor);
	return scan_char(cursor, '@');
}

/* ---- lines ----------------------------------------------------------------------------------- */

/*
 * "heap/N" is of gperftools' first version, or of Go, which kept the name, and weighs like the
 * second one.
 */
static void read_first_version(struct heap_reader *reader, uint64_t rate)
{
	struct profile_meta *meta = &reader->profile->meta;

	if (reader->is_go) {
		meta->rule = PROFILE_RULE_GO;
		meta->interval = rate > 2 ? rate / 2 : 1;
		return;
	}
	meta->rule = PROFILE_RULE_LINEAR;
	meta->is_scaled = true;
	reader->linear_rate = (double)rate / 2;
}

/* Sets how the counts are read, by the name after the @. docs/formats.md has the list. */
static int read_type(struct heap_reader *reader, const char *type)
{
	static const char *const exact[] = {"heapprofile", "growth", "fragmentation"};
	struct profile_meta *meta = &reader->profile->meta;
	uint64_t rate = 0;
	const char *slash = strchr(type, '/');

	if (slash && (slash++, !scan_number(&slash, 10, &rate) || rate > INT64_MAX))
		return -EBADMSG;
	if ((strncmp(type, "heap_v2/", strlen("heap_v2/")) == 0 ||
	     strncmp(type, "heapz_v2/", strlen("heapz_v2/")) == 0) &&
	    rate) {
		meta->interval = rate;
		return 0;
	}
	meta->interval = 1;
	if (strncmp(type, "heap/", strlen("heap/")) == 0 && (rate || reader->is_go)) {
		read_first_version(reader, rate);
		return 0;
	}
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		if (strncmp(type, exact[i], strlen(exact[i])) == 0)
			return 0;
	}
	return -EBADMSG;
}

static int read_header(struct heap_reader *reader)
{
	const char *cursor = reader->line + strlen(MAGIC);

	if (strncmp(reader->line, MAGIC, strlen(MAGIC)) != 0 ||
	    !scan_bucket(&cursor, &reader->total, NULL)) {
		read_damage(reader->profile, "not a heap profile");
		return -EBADMSG;
	}
	skip_spaces(&cursor);
	if (read_type(reader, cursor)) {
		read_damage(reader->profile,
			    "a heap profile of a kind that heapinject does not know: \"%.40s\"",
			    cursor);
		return -EBADMSG;
	}
	return 0;
}

static bool is_contradictory(const struct profile_row *counts)
{
	return (!counts->alloc_count && counts->alloc_bytes) ||
	       (!counts->inuse_count && counts->inuse_bytes) ||
	       counts->inuse_count > counts->alloc_count;
}

/*
 * Other tools have weighed each line by its own mean size, so a row must not hold several. Ours
 * writes its rows by class.
 */
static uint32_t size_class_of(const struct heap_reader *reader, uint64_t mean, uint64_t interval)
{
	return profile_read_size_class(mean, is_ours(reader) ? interval : HI_INTERVAL_EXACT);
}

static int add_row(struct heap_reader *reader, const struct profile_row *counts,
		   const uint32_t *frame, uint32_t frame_count)
{
	struct profile *profile = reader->profile;
	struct profile_row_key key = {.side = counts->key.side,
				      .interval = counts->key.interval ? counts->key.interval
								       : profile->meta.interval};
	uint32_t index;
	struct profile_row *row;
	int err;

	if (counts->alloc_count)
		key.size_class = size_class_of(reader, counts->alloc_bytes / counts->alloc_count,
					       key.interval);
	if (profile_stack_of(profile, frame, frame_count, 0, &key.stack) ||
	    profile_row_at(profile, &key, &index))
		return -ENOMEM;
	row = &profile->row[index];
	/* before the row gets the samples of the history */
	if (counts->key.interval && reader->history.shift)
		row_history_add(profile, row, &reader->history);
	err = read_add_counts(row, counts);
	if (err)
		return err == -ERANGE ? heap_bad(reader, "counts that are too large") : err;
	row->block_bytes = reader->block_bytes;
	row->inuse_slack += counts->inuse_slack;
	row->alloc_slack += counts->alloc_slack;
	row->freed_count += counts->freed_count;
	row->freed_ns += counts->freed_ns;
	row->inuse_ns += counts->inuse_ns;
	row->grain = counts->grain > row->grain ? counts->grain : row->grain;
	return 0;
}

/* "A:B", as two numbers. */
static bool scan_pair(const char **cursor, uint64_t *out_first, uint64_t *out_second)
{
	return scan_number(cursor, 10, out_first) && scan_char(cursor, ':') &&
	       scan_number(cursor, 10, out_second) && *out_first <= INT64_MAX &&
	       *out_second <= INT64_MAX;
}

/*
 * " SHIFT SLICE:ALLOC:LIVE:GONE,...", or nothing. row_history_get() finds out later whether the
 * history agrees with the row.
 */
static bool scan_history(const char **cursor, struct history *out_history)
{
	uint64_t shift, slice, alloc, live, gone;

	*out_history = (struct history){0};
	if (!**cursor)
		return true;
	if (!scan_char(cursor, ' ') || !scan_number(cursor, 10, &shift) ||
	    shift < HISTORY_SHIFT_FIRST || shift > HISTORY_SHIFT_MAX || !scan_char(cursor, ' '))
		return false;
	do {
		if (!scan_pair(cursor, &slice, &alloc) || !scan_char(cursor, ':') ||
		    !scan_pair(cursor, &live, &gone) || slice >= HISTORY_SLICES ||
		    alloc > UINT32_MAX || live > alloc || gone > UINT32_MAX)
			return false;
		out_history->alloc[slice] = (uint32_t)alloc;
		out_history->live[slice] = (uint32_t)live;
		out_history->gone[slice] = (uint32_t)gone;
	} while (scan_char(cursor, ','));
	out_history->shift = (uint32_t)shift;
	return true;
}

static int read_grain(struct heap_reader *reader)
{
	const char *cursor = reader->line + strlen(HEAPFILE_GRAIN);
	uint64_t grain;

	if (!scan_number(&cursor, 10, &grain) || *cursor || !grain || grain > INT64_MAX)
		return heap_bad(reader, "a comment of heapinject's that makes no sense");
	reader->grain = grain;
	return 0;
}

/* Reads the comment that write_beside() (heapfile_write.c) puts before a stack line. */
static int read_beside(struct heap_reader *reader)
{
	const char *cursor = reader->line + strlen(HEAPFILE_ROW);
	struct profile_row row = {0};
	uint64_t lifetime_ns = 0, born_ns = 0; /* mean times */
	const bool is_whole =
		scan_number(&cursor, 10, &row.key.interval) && scan_char(&cursor, ' ') &&
		scan_pair(&cursor, &row.inuse_count, &row.inuse_bytes) && scan_char(&cursor, ' ') &&
		scan_pair(&cursor, &row.alloc_count, &row.alloc_bytes) && scan_char(&cursor, ' ') &&
		scan_pair(&cursor, &row.inuse_slack, &row.alloc_slack) && scan_char(&cursor, ' ') &&
		scan_pair(&cursor, &row.freed_count, &lifetime_ns) && scan_char(&cursor, ' ') &&
		scan_number(&cursor, 10, &born_ns) && scan_history(&cursor, &reader->history);

	if (!is_whole || *cursor || !row.key.interval || !row.alloc_count || is_contradictory(&row))
		return heap_bad(reader, "a comment of heapinject's that makes no sense");
	row.freed_ns = (double)lifetime_ns * (double)row.freed_count;
	row.inuse_ns = (double)born_ns * (double)row.inuse_count;
	row.grain = reader->grain;
	reader->grain = 0;
	reader->beside = row;
	return 0;
}

/*
 * The rule for files that say "heap/N", as google-pprof applies it: a sample stands for as many
 * blocks of its size as make up N / 2 bytes, and at least for itself.
 */
static void scale_linear(double rate, uint64_t *count, uint64_t *bytes)
{
	const double size = *count ? (double)*bytes / (double)*count : 0;

	if (size <= 0 || size >= rate)
		return;
	*count = (uint64_t)fmin(round((double)*count * rate / size), COUNT_MAX);
	*bytes = (uint64_t)fmin(round((double)*bytes * rate / size), COUNT_MAX);
}

static void scale_row(const struct heap_reader *reader, struct profile_row *counts)
{
	if (reader->linear_rate <= 0)
		return;
	scale_linear(reader->linear_rate, &counts->inuse_count, &counts->inuse_bytes);
	scale_linear(reader->linear_rate, &counts->alloc_count, &counts->alloc_bytes);
	/* Smaller blocks are scaled up more, so those in use may now exceed those allocated. */
	if (counts->alloc_count < counts->inuse_count)
		counts->alloc_count = counts->inuse_count;
}

/* Adds the last stack of a file of Go, whose names are complete now. */
static int end_stack(struct heap_reader *reader)
{
	struct go_names *names = &reader->names;
	int err = 0;

	if (!reader->has_stack)
		return 0;
	reader->has_stack = false;
	err = go_names_finish(names, reader->profile);
	if (!err)
		err = names->frame_count
			      ? add_row(reader, &reader->counts, names->frame, names->frame_count)
			      : add_row(reader, &reader->counts, reader->frame,
					reader->frame_count);
	go_names_reset(names);
	return err;
}

/*
 * Moves what is less in use than before to the base. What is in use was allocated, so as much
 * counts as allocated on both sides.
 */
static void move_base(struct profile_row *counts, struct profile_row *out_base)
{
	*out_base = (struct profile_row){.key.side = PROFILE_BASE,
					 .inuse_count = counts->inuse_count,
					 .inuse_bytes = counts->inuse_bytes,
					 .alloc_count = counts->inuse_count,
					 .alloc_bytes = counts->inuse_bytes};
	counts->alloc_count = heapfile_sum(counts->alloc_count, counts->inuse_count);
	counts->alloc_bytes = heapfile_sum(counts->alloc_bytes, counts->inuse_bytes);
	counts->inuse_count = counts->inuse_bytes = 0;
}

/* The size that go pprof gives the blocks of a line. */
static uint64_t label_of(const struct profile_row *counts)
{
	if (counts->inuse_count)
		return counts->inuse_bytes / counts->inuse_count;
	return counts->alloc_count ? counts->alloc_bytes / counts->alloc_count : 0;
}

static int read_row(struct heap_reader *reader)
{
	const struct profile_row beside = reader->beside;
	struct profile_row counts = {0}, base;
	const char *cursor = reader->line;
	bool is_negative;
	int err;

	reader->beside.key.interval = 0;
	if (!scan_bucket(&cursor, &counts, &is_negative))
		return heap_bad(reader, "not a stack with its counts");
	is_negative &= counts.inuse_count || counts.inuse_bytes;
	if (is_negative && (reader->is_go || is_ours(reader)))
		return heap_bad(reader, "counts below zero");
	if (is_negative)
		move_base(&counts, &base);
	/* Writers that do not count what was freed leave the second pair 0. */
	if (counts.alloc_count == 0) {
		counts.alloc_count = counts.inuse_count;
		counts.alloc_bytes = counts.inuse_bytes;
	}
	if (is_contradictory(&counts))
		return heap_bad(reader, "counts that contradict each other");
	err = end_stack(reader);
	if (err)
		return err;
	err = read_text_frames(reader->profile, cursor, reader->frame, &reader->frame_count);
	if (err)
		return err == -EBADMSG ? heap_bad(reader, "not a list of addresses") : err;
	reader->sum.inuse_count = heapfile_sum(reader->sum.inuse_count, counts.inuse_count);
	reader->sum.inuse_bytes = heapfile_sum(reader->sum.inuse_bytes, counts.inuse_bytes);
	if (!is_ours(reader))
		reader->block_bytes = label_of(&counts);
	scale_row(reader, &counts);
	if (reader->is_go) {
		reader->counts = counts;
		reader->has_stack = true;
		return 0;
	}
	err = add_row(reader, beside.key.interval ? &beside : &counts, reader->frame,
		      reader->frame_count);
	if (!err && is_negative) {
		reader->profile->meta.is_difference = true;
		scale_row(reader, &base);
		err = add_row(reader, &base, reader->frame, reader->frame_count);
	}
	return err;
}

static int read_comment(struct heap_reader *reader)
{
	int err;

	reader->has_statistics |=
		reader->is_go && strncmp(reader->line, GO_NAMES_END, strlen(GO_NAMES_END)) == 0;
	if (!reader->is_go)
		err = heapfile_read_comment(reader->line + 1, reader->profile);
	else
		err = reader->has_stack
			      ? go_names_add(&reader->names, reader->profile, reader->line)
			      : 0;
	if (err == -EINVAL)
		return heap_bad(reader, "a comment of heapinject's that makes no sense");
	return err == -EBADMSG ? heap_bad(reader, "more frames than a stack can have") : err;
}

static int read_line(struct heap_reader *reader)
{
	if (strcmp(reader->line, HEAPFILE_END) == 0) {
		reader->ended = true;
		return 0;
	}
	if (reader->in_maps) /* whatever the line looks like: a file may be named like a comment */
		return read_text_map(reader->text, !is_ours(reader));
	if (strncmp(reader->line, HEAPFILE_ROW, strlen(HEAPFILE_ROW)) == 0)
		return read_beside(reader);
	if (strncmp(reader->line, HEAPFILE_GRAIN, strlen(HEAPFILE_GRAIN)) == 0)
		return read_grain(reader);
	if (reader->line[0] == '#')
		return read_comment(reader);
	if (strcmp(reader->line, HEAPFILE_MAPS) == 0 ||
	    strcmp(reader->line, "--- Memory map: ---") == 0) {
		reader->in_maps = true;
		return 0;
	}
	return reader->line[strspn(reader->line, " ")] ? read_row(reader) : 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int read_lines(struct heap_reader *reader)
{
	const uint8_t *bytes;
	const size_t size = input_peek(reader->text->input, GO_PEEK, &bytes);
	int err;

	reader->is_go = go_names_recognize(bytes, size < GO_PEEK ? size : GO_PEEK);

	if (!read_text_next(reader->text)) {
		read_damage(reader->profile, "empty");
		return -EBADMSG;
	}
	err = read_header(reader);
	while (!err && !reader->ended && read_text_next(reader->text))
		err = read_line(reader);
	return err ? err : end_stack(reader);
}

static void check_end(struct heap_reader *reader)
{
	read_check_end(reader->text->input, reader->profile,
		       is_ours(reader) ? reader->ended : reader->in_maps || reader->has_statistics);
	if (is_ours(reader) && (reader->sum.inuse_count != reader->total.inuse_count ||
				reader->sum.inuse_bytes != reader->total.inuse_bytes))
		read_damage(reader->profile,
			    "damaged: the lines add up to %" PRIu64
			    " samples in use, the header at line 1 says %" PRIu64,
			    reader->sum.inuse_count, reader->total.inuse_count);
}

int heapfile_read(struct input *input, struct profile *profile)
{
	struct heap_reader reader = {.profile = profile, .text = read_text_open(input, profile)};
	int err, maps_error;

	if (!reader.text)
		return -ENOMEM;
	reader.line = reader.text->line;
	err = read_lines(&reader);
	if (!err)
		check_end(&reader);
	go_names_reset(&reader.names);
	maps_error = read_text_close(reader.text);
	if (!err)
		err = maps_error;
	if (!err)
		err = read_assign_modules(profile);
	if (!err && !is_ours(&reader))
		read_count_samples(profile);
	return err;
}
