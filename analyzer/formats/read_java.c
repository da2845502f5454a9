/* SPDX-License-Identifier: MIT */
/*
 * read_java.c - heap profiles that Google's agent for Java writes ("heapz"), as go pprof reads
 * them: samples, then the names of their locations. Start at read_java().
 *
 *     --- heapz 1 ---
 *     format = java
 *     resolution = bytes
 *           7048     2 @ 0x00000003 0x00000004
 *
 *       0x00000003 com.example.Shop.add (Shop.java:12)
 *       0x00000004 GC
 *
 * A sample has bytes before objects, unlike all other formats. The interval is not in the file; it
 * is always the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"
#include "printable.h"
#include "read_common.h"
#include "read_formats.h"
#include "scan.h"

#define MAGIC "--- heapz 1 ---"
#define INTERVAL 524288u
#define STUB "generated stub/JIT"

static char stub[] = "STUB";

bool read_java_recognize(const uint8_t *bytes, size_t size)
{
	return size >= strlen(MAGIC) && memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
}

static int bad(struct read_text *text, const char *what)
{
	return read_bad(text->input, text->profile, what);
}

/* "BYTES OBJECTS @ ADDRESSES" */
static int read_sample(struct read_text *text, const char *cursor)
{
	struct profile_row_key key = {.interval = INTERVAL};
	struct profile_row counts = {0};
	uint32_t frame[READ_FRAMES_MAX], count = 0, row;
	int err;

	if (!scan_number(&cursor, 10, &counts.inuse_bytes))
		return bad(text, "neither a sample nor a location");
	skip_spaces(&cursor);
	if (!scan_number(&cursor, 10, &counts.inuse_count) || counts.inuse_bytes > INT64_MAX ||
	    counts.inuse_count > INT64_MAX || !counts.inuse_count)
		return bad(text, "not the counts of a sample");
	skip_spaces(&cursor);
	if (!scan_char(&cursor, '@'))
		return bad(text, "not the counts of a sample");
	err = read_text_frames(text->profile, cursor, frame, &count);
	if (err)
		return err == -EBADMSG ? bad(text, "not a list of locations") : err;
	counts.alloc_count = counts.inuse_count;
	counts.alloc_bytes = counts.inuse_bytes;
	key.size_class = profile_read_size_class(counts.inuse_bytes / counts.inuse_count, 1);
	if (profile_stack_of(text->profile, frame, count, 0, &key.stack))
		return -ENOMEM;
	err = read_add(text->profile, &key, &counts, &row);
	if (err)
		return err == -ERANGE ? bad(text, "counts that are too large") : err;
	text->profile->row[row].block_bytes = counts.inuse_bytes / counts.inuse_count;
	return 0;
}

/* Cuts "(FILE:LINE)" or "(LIBRARY)" off the end of a name. */
static void split_place(char *name, struct profile_line *line)
{
	char *open = strrchr(name, '('), *colon;
	const size_t length = strlen(name);
	const char *digits;
	uint64_t number;

	if (!open || open == name || open[-1] != ' ' || name[length - 1] != ')')
		return;
	name[length - 1] = 0;
	*open++ = 0;
	for (char *end = open - 2; end > name && *end == ' '; end--)
		*end = 0;
	colon = strrchr(open, ':');
	digits = colon ? colon + 1 : NULL;
	if (!colon || !(scan_number(&digits, 10, &number) || scan_char(&digits, '-'))) {
		line->file = (char *)(uintptr_t)hi_base_name(open); /* a library */
		return;
	}
	line->line = colon[1] != '-' && number <= UINT32_MAX ? (uint32_t)number : 0;
	*colon = 0;
	line->file = open;
}

/* "0xADDRESS NAME (FILE:LINE)". The first of several counts. */
static int read_location(struct read_text *text, const char *cursor)
{
	struct profile_line line = {0};
	struct profile_frame *frame;
	uint64_t address;
	uint32_t index;
	char *name;

	if (!scan_number(&cursor, 16, &address))
		return bad(text, "not a location with its name");
	skip_spaces(&cursor);
	if (!*cursor)
		return bad(text, "not a location with its name");
	if (profile_frame_at(text->profile, address, -1, &index))
		return -ENOMEM;
	frame = &text->profile->frame[index];
	if (frame->line_count)
		return 0;
	name = text->line + (cursor - text->line);
	printable(name);
	split_place(name, &line);
	if (strstr(name, STUB))
		name = stub;
	line.function = line.system_name = name;
	return profile_frame_lines(frame, &line, 1);
}

static bool is_attribute(const char *cursor)
{
	return strchr(cursor, '=') && !strchr(cursor, '@');
}

static int read_line(struct read_text *text)
{
	const char *cursor = text->line;

	skip_spaces(&cursor);
	if (!*cursor || is_attribute(cursor))
		return 0;
	return strncmp(cursor, "0x", 2) == 0 ? read_location(text, cursor)
					     : read_sample(text, cursor);
}

static int read_lines(struct read_text *text)
{
	int err = read_text_next(text) ? 0 : -EBADMSG; /* the first line was recognized */

	while (!err && read_text_next(text))
		err = read_line(text);
	return err;
}

int read_java(struct input *input, struct profile *profile)
{
	struct read_text *text = read_text_open(input, profile);
	int err, closed;

	if (!text)
		return -ENOMEM;
	profile->meta.interval = INTERVAL;
	profile->meta.missing = PROFILE_MISSING_ALLOC;
	err = read_lines(text);
	if (err == -EBADMSG)
		read_damage(profile, "not a heap profile of Java");
	else
		read_check_end(input, profile, true);
	closed = read_text_close(text);
	err = err ? err : closed;
	if (!err)
		read_count_samples(profile);
	return err;
}
