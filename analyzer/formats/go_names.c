/* SPDX-License-Identifier: MIT */
/* go_names.c - see go_names.h. */
#include "go_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "scan.h"

static bool is_blank(char character)
{
	return character == ' ' || character == '\t';
}

/* "#", blanks, an address. Moves *text behind it. */
static bool scan_address(const char **text, uint64_t *out_address)
{
	const char *at = *text;

	if (!scan_char(&at, '#') || !is_blank(*at))
		return false;
	while (is_blank(*at))
		at++;
	if (strncmp(at, "0x", 2) != 0 || !scan_number(&at, 16, out_address))
		return false;
	*text = at;
	return true;
}

bool go_names_recognize(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes, *end = text + size;
	char line[sizeof(GO_NAMES_END)] = "";

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		const char *cursor = line;
		const size_t left = (size_t)(end - ++text);
		uint64_t address;

		memcpy(line, text, left < sizeof(line) - 1 ? left : sizeof(line) - 1);
		line[left < sizeof(line) - 1 ? left : sizeof(line) - 1] = 0;
		if (strcmp(line, GO_NAMES_END) == 0 || scan_address(&cursor, &address))
			return true;
	}
	return false;
}

/* Gives the last frame its lines, unless an earlier stack has given it some. */
static int end_frame(struct go_names *names, struct profile *profile)
{
	int err = 0;

	if (names->line_count) {
		struct profile_frame *frame = &profile->frame[names->frame[names->frame_count - 1]];

		if (!frame->line_count)
			err = profile_frame_lines(frame, names->line, names->line_count);
	}
	for (size_t i = 0; i < names->line_count; i++) {
		free(names->line[i].function);
		free(names->line[i].file);
	}
	names->line_count = 0;
	return err;
}

/* The next text between blanks of a line; fields are separated by tabs, and names have spaces. */
static char *take_field(const char **cursor)
{
	size_t length;
	char *field;

	while (is_blank(**cursor))
		++*cursor;
	length = strcspn(*cursor, "\t");
	field = strndup(*cursor, length);
	*cursor += length;
	if (field)
		printable(field);
	return field;
}

/* Cuts "+0x10" off a name. */
static void cut_offset(char *name)
{
	char *plus = strrchr(name, '+');
	const char *digits = plus ? plus + 1 : NULL;
	uint64_t offset;

	if (plus && plus > name && scan_number(&digits, 16, &offset) && !*digits)
		*plus = 0;
}

/* Cuts ":43" off a file. Returns the number, or 0. */
static uint32_t cut_line(char *file)
{
	char *colon = strrchr(file, ':');
	const char *digits = colon ? colon + 1 : NULL;
	uint64_t number;

	if (!colon || !scan_number(&digits, 10, &number) || *digits || number > UINT32_MAX)
		return 0;
	*colon = 0;
	return (uint32_t)number;
}

/* "<tab>NAME+0x10<tab>FILE:43", or nothing. */
static int add_line(struct go_names *names, const char *cursor)
{
	struct profile_line line = {.function = take_field(&cursor)};

	line.file = take_field(&cursor);
	if (!line.function || !line.file) {
		free(line.function);
		free(line.file);
		return -ENOMEM;
	}
	cut_offset(line.function);
	line.system_name = line.function;
	line.line = cut_line(line.file);
	if (!*line.file) {
		free(line.file);
		line.file = NULL;
	}
	if (!*line.function || names->line_count == GO_NAMES_LINES_MAX) {
		free(line.function);
		free(line.file);
		return 0;
	}
	names->line[names->line_count++] = line;
	return 0;
}

/* Several lines of one address are calls that are inlined there. */
int go_names_add(struct go_names *names, struct profile *profile, const char *comment)
{
	uint64_t address;

	if (!scan_address(&comment, &address))
		return 0;
	if (!names->frame_count || address != names->address) {
		if (names->frame_count == READ_FRAMES_MAX)
			return -EBADMSG;
		if (end_frame(names, profile) ||
		    profile_frame_at(profile, address + 1, -1, &names->frame[names->frame_count]))
			return -ENOMEM;
		names->frame_count++;
		names->address = address;
	}
	return add_line(names, comment);
}

int go_names_finish(struct go_names *names, struct profile *profile)
{
	return end_frame(names, profile);
}

void go_names_reset(struct go_names *names)
{
	for (size_t i = 0; i < names->line_count; i++) {
		free(names->line[i].function);
		free(names->line[i].file);
	}
	names->line_count = 0;
	names->frame_count = 0;
}
