/* SPDX-License-Identifier: MIT */
/*
 * heapfile_read.c - reads heap profiles, line by line. A line that makes no sense is skipped, the rest still counts. Start at heapfile_read().
 *
 * Modules may stand behind the stacks (in other tools' files they do), so frames are given their module at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "heapfile.h"
#include "heapfile_text.h"
#include "modules.h"
#include "printable.h"
#include "row_history.h"
#include "scan.h"

#define LINE_SIZE (256u << 10)
#define FRAMES_MAX 1024u
#define MAPS_MAX (16u << 20) /* bytes of memory map that are kept */
#define MAGIC "heap profile:"

struct heap_reader {
	struct input *input;
	struct profile *profile;
	struct modules modules;
	FILE *maps; /* collects the memory map */
	char *maps_text;
	size_t maps_size, maps_kept;
	uint64_t line_number;
	struct profile_row sum, total; /* of the lines, and as the header has it */
	struct profile_row beside;     /* of the comment before the line at hand; its interval is 0 if there was none */
	struct history history;        /* of that comment, if its shift is not 0 */
	bool in_maps, ended;
	char line[LINE_SIZE];
};

/* Whether the file is one of heapinject's, which promise more than others do. */
static bool is_ours(const struct heap_reader *reader)
{
	return reader->profile->meta.version != NULL;
}

bool heapfile_recognize(const uint8_t *bytes, size_t size)
{
	return size >= strlen(MAGIC) && memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
}

__attribute__((format(printf, 2, 3))) static void heap_damage(struct heap_reader *reader, const char *format, ...)
{
	va_list arguments;

	if (reader->profile->meta.damage)
		return;
	va_start(arguments, format);
	if (vasprintf(&reader->profile->meta.damage, format, arguments) < 0)
		reader->profile->meta.damage = NULL;
	else
		printable(reader->profile->meta.damage); /* it may quote the file */
	va_end(arguments);
}

static int heap_bad(struct heap_reader *reader, const char *what)
{
	heap_damage(reader, "damaged at line %" PRIu64 ": %s", reader->line_number, what);
	return 0;
}

static bool scan_counts(const char **cursor, uint64_t *out_count, uint64_t *out_bytes)
{
	skip_spaces(cursor);
	if (!scan_number(cursor, 10, out_count) || !scan_char(cursor, ':'))
		return false;
	skip_spaces(cursor);
	return scan_number(cursor, 10, out_bytes) && *out_count <= INT64_MAX && *out_bytes <= INT64_MAX;
}

/* "inuse: bytes [alloc: bytes] @", without the space behind it. */
static bool scan_bucket(const char **cursor, struct profile_row *out_row)
{
	if (!scan_counts(cursor, &out_row->inuse_count, &out_row->inuse_bytes))
		return false;
	skip_spaces(cursor);
	if (!scan_char(cursor, '[') || !scan_counts(cursor, &out_row->alloc_count, &out_row->alloc_bytes) || !scan_char(cursor, ']'))
		return false;
	skip_spaces(cursor);
	return scan_char(cursor, '@');
}

/* ---- lines ---- */

/* "heap_v2/524288", "heapprofile": what the counts are. docs/formats.md has the list. */
static int read_type(struct heap_reader *reader, const char *type)
{
	struct profile_meta *meta = &reader->profile->meta;
	uint64_t rate = 0;
	const char *slash = strchr(type, '/');

	if (slash && (slash++, !scan_number(&slash, 10, &rate) || rate > INT64_MAX))
		return -EBADMSG;
	if (strncmp(type, "heap_v2", strlen("heap_v2")) == 0 && rate)
		meta->interval = rate;
	else if (strncmp(type, "heapprofile", strlen("heapprofile")) == 0 || strncmp(type, "growth", strlen("growth")) == 0)
		meta->interval = 1;
	else
		return -EBADMSG;
	return 0;
}

static int read_header(struct heap_reader *reader)
{
	const char *cursor = reader->line + strlen(MAGIC);

	if (strncmp(reader->line, MAGIC, strlen(MAGIC)) != 0 || !scan_bucket(&cursor, &reader->total)) {
		heap_damage(reader, "not a heap profile");
		return -EBADMSG;
	}
	skip_spaces(&cursor);
	if (read_type(reader, cursor)) {
		heap_damage(reader, "a heap profile of a kind that heapinject does not know: \"%.40s\"", cursor);
		return -EBADMSG;
	}
	return 0;
}

static bool is_contradictory(const struct profile_row *counts)
{
	return (!counts->alloc_count && counts->alloc_bytes) || (!counts->inuse_count && counts->inuse_bytes) || counts->inuse_count > counts->alloc_count;
}

static int add_row(struct heap_reader *reader, const struct profile_row *counts, const uint32_t *frame, uint32_t frame_count)
{
	struct profile *profile = reader->profile;
	struct profile_row_key key = {.interval = counts->key.interval ? counts->key.interval : profile->meta.interval};
	uint32_t index;
	struct profile_row *row;

	if (counts->alloc_count)
		key.size_class = profile_size_class(counts->alloc_bytes / counts->alloc_count);
	if (profile_stack_of(profile, frame, frame_count, 0, &key.stack) || profile_row_at(profile, &key, &index))
		return -ENOMEM;
	row = &profile->row[index];
	if (counts->key.interval && reader->history.shift)
		row_history_add(profile, row, &reader->history);
	row->inuse_count += counts->inuse_count;
	row->inuse_bytes += counts->inuse_bytes;
	row->alloc_count += counts->alloc_count;
	row->alloc_bytes += counts->alloc_bytes;
	row->inuse_slack += counts->inuse_slack;
	row->alloc_slack += counts->alloc_slack;
	row->freed_count += counts->freed_count;
	row->freed_ns += counts->freed_ns;
	row->inuse_ns += counts->inuse_ns;
	return 0;
}

/* "A:B", as two numbers. */
static bool scan_pair(const char **cursor, uint64_t *out_first, uint64_t *out_second)
{
	return scan_number(cursor, 10, out_first) && scan_char(cursor, ':') && scan_number(cursor, 10, out_second) && *out_first <= INT64_MAX &&
	       *out_second <= INT64_MAX;
}

/* " SHIFT SLICE:ALLOC:LIVE:GONE,...", or nothing. What does not agree with the row is found out by whoever asks for it. */
static bool scan_history(const char **cursor, struct history *out_history)
{
	uint64_t shift, slice, alloc, live, gone;

	*out_history = (struct history){0};
	if (!**cursor)
		return true;
	if (!scan_char(cursor, ' ') || !scan_number(cursor, 10, &shift) || shift < HISTORY_SHIFT_FIRST || shift > HISTORY_SHIFT_MAX || !scan_char(cursor, ' '))
		return false;
	do {
		if (!scan_pair(cursor, &slice, &alloc) || !scan_char(cursor, ':') || !scan_pair(cursor, &live, &gone) || slice >= HISTORY_SLICES ||
		    alloc > UINT32_MAX || live > alloc || gone > UINT32_MAX)
			return false;
		out_history->alloc[slice] = (uint32_t)alloc;
		out_history->live[slice] = (uint32_t)live;
		out_history->gone[slice] = (uint32_t)gone;
	} while (scan_char(cursor, ','));
	out_history->shift = (uint32_t)shift;
	return true;
}

/* What heapfile_write.c's write_beside() says of the line that follows. */
static int read_beside(struct heap_reader *reader)
{
	const char *cursor = reader->line + strlen(HEAPFILE_ROW);
	struct profile_row row = {0};
	uint64_t lifetime_ns = 0, born_ns = 0; /* in the mean */
	const bool is_whole =
		scan_number(&cursor, 10, &row.key.interval) && scan_char(&cursor, ' ') && scan_pair(&cursor, &row.inuse_count, &row.inuse_bytes) &&
		scan_char(&cursor, ' ') && scan_pair(&cursor, &row.alloc_count, &row.alloc_bytes) && scan_char(&cursor, ' ') &&
		scan_pair(&cursor, &row.inuse_slack, &row.alloc_slack) && scan_char(&cursor, ' ') && scan_pair(&cursor, &row.freed_count, &lifetime_ns) &&
		scan_char(&cursor, ' ') && scan_number(&cursor, 10, &born_ns) && scan_history(&cursor, &reader->history);

	if (!is_whole || *cursor || !row.key.interval || !row.alloc_count || is_contradictory(&row))
		return heap_bad(reader, "a comment of heapinject's that makes no sense");
	row.freed_ns = (double)lifetime_ns * (double)row.freed_count;
	row.inuse_ns = (double)born_ns * (double)row.inuse_count;
	reader->beside = row;
	return 0;
}

static int read_row(struct heap_reader *reader)
{
	const struct profile_row beside = reader->beside;
	struct profile_row counts = {0};
	const char *cursor = reader->line;
	uint32_t frame[FRAMES_MAX], frame_count = 0;
	uint64_t address;

	reader->beside.key.interval = 0;
	if (!scan_bucket(&cursor, &counts))
		return heap_bad(reader, "not a stack with its counts");
	/* Writers that do not keep count of what was freed leave the second pair 0. */
	if (counts.alloc_count == 0) {
		counts.alloc_count = counts.inuse_count;
		counts.alloc_bytes = counts.inuse_bytes;
	}
	if (is_contradictory(&counts))
		return heap_bad(reader, "counts that contradict each other");
	for (skip_spaces(&cursor); *cursor; skip_spaces(&cursor)) {
		if (frame_count == FRAMES_MAX || !scan_number(&cursor, 16, &address))
			return heap_bad(reader, "not a list of addresses");
		if (profile_frame_at(reader->profile, address, -1, &frame[frame_count++]))
			return -ENOMEM;
	}
	reader->sum.inuse_count = heapfile_sum(reader->sum.inuse_count, counts.inuse_count);
	reader->sum.inuse_bytes = heapfile_sum(reader->sum.inuse_bytes, counts.inuse_bytes);
	return add_row(reader, beside.key.interval ? &beside : &counts, frame, frame_count);
}

/* "LO-HI PERMS OFFSET DEVICE INODE   PATH", taken for a module where the file does not list its modules itself. */
static int read_maps_line(struct heap_reader *reader)
{
	struct profile_module module = {.bias = PROFILE_BIAS_UNKNOWN, .number = (uint32_t)reader->profile->module_count + 1};
	const char *cursor = reader->line;
	char perms[5] = "";
	int path = 0;
	uint32_t index;

	if (reader->maps_kept < MAPS_MAX)
		reader->maps_kept += (size_t)fprintf(reader->maps, "%s\n", reader->line);
	if (is_ours(reader) || module.number > MODULES_MAX)
		return 0;
	if (!scan_number(&cursor, 16, &module.lo) || !scan_char(&cursor, '-') || !scan_number(&cursor, 16, &module.hi) || module.hi <= module.lo ||
	    sscanf(cursor, " %4s %" SCNx64 " %*s %" SCNu64 " %n", perms, &module.file_offset, &module.inode, &path) < 3 || path == 0)
		return 0;
	module.path = reader->line + (cursor - reader->line) + path;
	if (!strchr(perms, 'x') || module.path[0] != '/')
		return 0;
	return profile_add_module(reader->profile, &module, &index);
}

static int read_line(struct heap_reader *reader)
{
	if (strcmp(reader->line, HEAPFILE_END) == 0) {
		reader->ended = true;
		return 0;
	}
	if (reader->in_maps) /* whatever they look like: a file may be named like a comment */
		return read_maps_line(reader);
	if (strncmp(reader->line, HEAPFILE_ROW, strlen(HEAPFILE_ROW)) == 0)
		return read_beside(reader);
	if (reader->line[0] == '#') {
		const int error = heapfile_read_comment(reader->line + 1, reader->profile);

		return error == -EINVAL ? heap_bad(reader, "a comment of heapinject's that makes no sense") : error;
	}
	if (strcmp(reader->line, HEAPFILE_MAPS) == 0 || strcmp(reader->line, "--- Memory map: ---") == 0) {
		reader->in_maps = true;
		return 0;
	}
	return reader->line[strspn(reader->line, " ")] ? read_row(reader) : 0;
}

/* ---- the file ---- */

static bool next_line(struct heap_reader *reader, bool *out_whole)
{
	if (!input_line(reader->input, reader->line, LINE_SIZE, out_whole))
		return false;
	reader->line_number++;
	return true;
}

static int bad_line(struct heap_reader *reader)
{
	const uint8_t *bytes;

	if (input_peek(reader->input, 1, &bytes) > 0)
		return heap_bad(reader, "the line is too long");
	heap_damage(reader, "cut off in line %" PRIu64, reader->line_number);
	return 0;
}

static int read_lines(struct heap_reader *reader)
{
	bool whole = false;
	int error;

	if (!next_line(reader, &whole)) {
		heap_damage(reader, "empty");
		return -EBADMSG;
	}
	error = read_header(reader);
	while (!error && !reader->ended && next_line(reader, &whole))
		error = whole ? read_line(reader) : bad_line(reader);
	return error;
}

static void check_end(struct heap_reader *reader)
{
	if (reader->input->error)
		heap_damage(reader, "unreadable after line %" PRIu64 ": %s", reader->line_number, strerror(reader->input->error));
	else if (is_ours(reader) ? !reader->ended : !reader->in_maps)
		heap_damage(reader, "cut off after line %" PRIu64, reader->line_number);
	else if (is_ours(reader) && (reader->sum.inuse_count != reader->total.inuse_count || reader->sum.inuse_bytes != reader->total.inuse_bytes))
		heap_damage(reader, "damaged: the lines add up to %" PRIu64 " samples in use, the header at line 1 says %" PRIu64, reader->sum.inuse_count,
			    reader->total.inuse_count);
}

static int assign_modules(struct heap_reader *reader)
{
	struct profile *profile = reader->profile;

	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->module[i];
		const struct module_range range = {.lo = module->lo, .hi = module->hi, .number = module->number, .index = (uint32_t)i};

		if (modules_add(&reader->modules, &range))
			return -ENOMEM;
	}
	for (size_t i = 0; i < profile->frame_count; i++)
		profile->frame[i].module = modules_find(&reader->modules, profile->frame[i].address - 1);
	return 0;
}

static int keep_maps(struct heap_reader *reader)
{
	if (fclose(reader->maps)) {
		free(reader->maps_text);
		return -ENOMEM;
	}
	reader->profile->meta.maps = reader->maps_text;
	return 0;
}

/* Foreign files do not say it; theirs are complete as far as anybody knows. */
static void count_samples(struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++)
		profile->meta.samples += profile->row[i].alloc_count;
	profile->meta.stacks_complete = profile->meta.samples;
}

int heapfile_read(struct input *input, struct profile *profile)
{
	struct heap_reader *reader = calloc(1, sizeof(*reader));
	int error, maps_error;

	if (!reader)
		return -ENOMEM;
	reader->input = input;
	reader->profile = profile;
	reader->maps = open_memstream(&reader->maps_text, &reader->maps_size);
	if (!reader->maps) {
		free(reader);
		return -ENOMEM;
	}
	error = read_lines(reader);
	maps_error = keep_maps(reader);
	if (!error)
		error = maps_error;
	if (!error)
		error = assign_modules(reader);
	if (!error)
		check_end(reader);
	if (!error && !is_ours(reader))
		count_samples(profile);
	modules_close(&reader->modules);
	free(reader);
	return error;
}
