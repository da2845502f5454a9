/* SPDX-License-Identifier: MIT */
/*
 * read_collapsed.c - one stack a line, root first, with a number of bytes, as stackcollapse-*,
 * jeprof --collapsed and heaptrack_print -F write them. With two numbers it is a comparison: before
 * and after, as difffolded.pl writes it.
 *
 * The format does not say how many blocks the bytes are. Start at read_collapsed().
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "read_common.h"
#include "read_formats.h"

#define VALUE_MAX 0x1p62
#define NUMBER_MAX 32u /* characters */
#define SNIFF_MAX 4096u

struct collapsed_reader {
	struct input *input;
	struct profile *profile;
	bool is_comparison;
	double *value; /* by row, with its fraction */
	size_t value_count, value_capacity;
	uint32_t frame[READ_LINE_SIZE / 2 + 1];
	char line[READ_LINE_SIZE];
};

static char no_name[] = "[unknown]";

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Takes " 12" or " 1.5" off the end of text[*size]. */
static bool take_number(const char *text, size_t *size, double *out_value)
{
	size_t end = *size, begin;
	char number[NUMBER_MAX];

	while (end > 0 && (is_blank(text[end - 1]) || text[end - 1] == '\r'))
		end--;
	for (begin = end;
	     begin > 0 && (isdigit((unsigned char)text[begin - 1]) || text[begin - 1] == '.');)
		begin--;
	if (begin == end || end - begin >= sizeof(number) || !isdigit((unsigned char)text[begin]))
		return false;
	memcpy(number, text + begin, end - begin);
	number[end - begin] = 0;
	if (begin > 0 && text[begin - 1] == '-')
		begin--;
	if (begin < 2 || !is_blank(text[begin - 1]) ||
	    memchr(number, '.', end - begin) != strrchr(number, '.'))
		return false;
	*out_value = strtod(number, NULL) * (text[begin] == '-' ? -1 : 1);
	*size = begin - 1;
	return fabs(*out_value) <= VALUE_MAX;
}

/* ---- recognition ----------------------------------------------------------------------------- */

struct sniffed {
	size_t lines, with_two;
	bool has_separator, is_text;
};

static void sniff_line(const char *line, size_t size, bool is_whole, struct sniffed *sniffed)
{
	double value;

	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)line[i];

		sniffed->is_text &= byte >= ' ' || byte == '\t' || (byte == '\r' && i + 1 == size);
		sniffed->has_separator |= byte == ';';
	}
	if (!size || !is_whole)
		return;
	sniffed->lines++;
	sniffed->is_text &= take_number(line, &size, &value);
	sniffed->with_two += sniffed->is_text && take_number(line, &size, &value);
}

static struct sniffed sniff(const uint8_t *bytes, size_t size)
{
	struct sniffed sniffed = {.is_text = true};

	while (size > 0) {
		const uint8_t *newline = memchr(bytes, '\n', size);
		const size_t length = newline ? (size_t)(newline - bytes) : size,
			     taken = newline ? length + 1 : length;

		sniff_line((const char *)bytes, length, newline != NULL, &sniffed);
		bytes += taken;
		size -= taken;
	}
	return sniffed;
}

bool read_collapsed_recognize(const uint8_t *bytes, size_t size)
{
	const struct sniffed sniffed = sniff(bytes, size);

	return sniffed.is_text && sniffed.has_separator;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Splits the stack in place. Reverses it: root first becomes leaf first. */
static int read_frames(struct collapsed_reader *reader, char *stack, uint32_t *out_count)
{
	uint32_t count = 0;

	while (stack) {
		char *name = strsep(&stack, ";");
		struct profile_line line = {.function = *name ? name : no_name,
					    .system_name = *name ? name : no_name};

		printable(name);
		if (profile_frame_named(reader->profile, &line, 1, &reader->frame[count++]))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < count / 2; i++) {
		const uint32_t swapped = reader->frame[i];

		reader->frame[i] = reader->frame[count - 1 - i];
		reader->frame[count - 1 - i] = swapped;
	}
	*out_count = count;
	return 0;
}

/* Adds to what the row has, which round_rows() makes a whole number of. */
static int add_to_row(struct collapsed_reader *reader, uint32_t row, double value)
{
	while (reader->value_count <= row) {
		if (array_reserve(&reader->value, &reader->value_capacity, reader->value_count,
				  sizeof(*reader->value)))
			return -ENOMEM;
		reader->value[reader->value_count++] = 0;
	}
	if (reader->value[row] + value > VALUE_MAX)
		return read_bad(reader->input, reader->profile, "values that are too large");
	reader->value[row] += value;
	return 0;
}

/* A line counts as one object. */
static int add_value(struct collapsed_reader *reader, uint32_t stack, double value,
		     enum profile_side side)
{
	const struct profile_row counts = {.alloc_count = 1, .inuse_count = 1};
	struct profile_row_key key = {.stack = stack,
				      .size_class =
					      profile_size_class((uint64_t)llround(fabs(value))),
				      .interval = 1,
				      .side = side};
	uint32_t row;
	int err;

	if (value == 0)
		return 0;
	if (value < 0)
		key.side = side == PROFILE_NEW ? PROFILE_BASE : PROFILE_NEW;
	err = read_add(reader->profile, &key, &counts, &row);
	if (err == -ERANGE)
		return read_bad(reader->input, reader->profile, "values that are too large");
	return err ? err : add_to_row(reader, row, fabs(value));
}

/*
 * Rounds what the rows have. What that takes from a row it adds to the next one of its side, so
 * that the totals are right to one, however small the values are.
 */
static void round_rows(struct collapsed_reader *reader)
{
	double carried[] = {[PROFILE_NEW] = 0, [PROFILE_BASE] = 0}, sum = 0;

	for (size_t i = 0; i < reader->value_count; i++) {
		struct profile_row *row = &reader->profile->row[i];
		const double exact = reader->value[i] + carried[row->key.side];
		const double whole = fmax(0, round(exact));

		if (sum + whole > VALUE_MAX) /* sums of sums must fit, too */
			continue;
		sum += whole;
		carried[row->key.side] = exact - whole;
		row->alloc_bytes = row->inuse_bytes = (uint64_t)whole;
	}
}

static int read_line(struct collapsed_reader *reader)
{
	size_t size = strlen(reader->line);
	double value, before = 0;
	uint32_t frame_count, stack;
	int err;

	if (reader->line[strspn(reader->line, " \t\r")] == 0)
		return 0;
	if (!take_number(reader->line, &size, &value) ||
	    (reader->is_comparison && !take_number(reader->line, &size, &before)))
		return read_bad(reader->input, reader->profile, "not a stack with its value");
	while (size > 0 && is_blank(reader->line[size - 1]))
		size--;
	reader->line[size] = 0;
	err = read_frames(reader, reader->line, &frame_count);
	if (!err)
		err = profile_stack_of(reader->profile, reader->frame, frame_count, 0, &stack);
	if (!err)
		err = add_value(reader, stack, value, PROFILE_NEW);
	if (!err)
		err = add_value(reader, stack, before, PROFILE_BASE);
	return err;
}

/* Many writers put newlines only between lines. Whether this is whole nobody can tell. */
static int read_last(struct collapsed_reader *reader)
{
	read_damage(reader->profile,
		    "no newline ends line %" PRIu64 ", the last: it counts, but may be cut off",
		    reader->input->line_number);
	return read_line(reader);
}

static int read_lines(struct collapsed_reader *reader)
{
	const uint8_t *bytes;
	const size_t size = input_peek(reader->input, SNIFF_MAX, &bytes);
	const struct sniffed sniffed = sniff(bytes, size < SNIFF_MAX ? size : SNIFF_MAX);
	bool is_whole;
	int err = 0;

	reader->is_comparison = sniffed.lines > 0 && sniffed.with_two == sniffed.lines;
	while (!err && input_line(reader->input, reader->line, sizeof(reader->line), &is_whole)) {
		if (is_whole)
			err = read_line(reader);
		else if (input_peek(reader->input, 1, &bytes) > 0)
			read_bad(reader->input, reader->profile, "the line is too long");
		else if (!reader->input->err)
			err = read_last(reader);
	}
	read_check_end(reader->input, reader->profile, true);
	return !err && reader->profile->row_count == 0 && reader->profile->meta.damage ? -EBADMSG
										       : err;
}

int read_collapsed(struct input *input, struct profile *profile)
{
	struct collapsed_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->input = input;
	reader->profile = profile;
	profile->meta.interval = 1;
	profile->meta.is_scaled = true;
	profile->meta.missing = PROFILE_MISSING_OBJECTS;
	err = read_lines(reader);
	if (!err) {
		round_rows(reader);
		read_count_samples(profile);
	}
	free(reader->value);
	free(reader);
	return err;
}
