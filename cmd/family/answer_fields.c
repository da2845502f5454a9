/* SPDX-License-Identifier: MIT */
/* answer_fields.c - see answer_fields.h. */
#include "answer_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_text.h"

const char *const answer_mapped_names[ANSWER_MAPPED_COUNT] = {
	[ANSWER_MAPPED_APPLICATION] = "application_bytes",
	[ANSWER_MAPPED_ALLOCATOR] = "allocator_bytes",
	[ANSWER_MAPPED_STACK] = "stack_bytes",
	[ANSWER_MAPPED_LINKER] = "linker_bytes",
	[ANSWER_MAPPED_GO] = "go_bytes",
	[ANSWER_MAPPED_UNKNOWN] = "unknown_bytes",
};

static const char *find(const char *answer, const char *name)
{
	char key[64];
	const int size = snprintf(key, sizeof(key), "\"%s\":", name);
	const char *at = strstr(answer, key);

	return at ? at + size : NULL;
}

static bool read_number(const char *answer, const char *name, double *out_number)
{
	const char *at = find(answer, name);

	if (at)
		*out_number = strtod(at, NULL);
	return at != NULL;
}

/*
 * Reads one character of a JSON string, from *at on, and moves that behind it. A control character
 * is written as reports write it in names, \n or \x1b: names that differ in it must not become one.
 */
static void read_character(const char **at, char into[8])
{
	const char *text = *at;
	unsigned code;

	if (text[0] != '\\' || !text[1]) {
		snprintf(into, 8, "%c", text[0]);
		*at += 1;
	} else if (text[1] == 'u' && sscanf(text + 2, "%4x", &code) == 1 && strnlen(text, 6) == 6) {
		snprintf(into, 8, code < ' ' || code == 127 ? "\\x%02x" : "?", code);
		*at += 6;
	} else {
		snprintf(into, 8, "%s%c", strchr("nrt", text[1]) ? "\\" : "", text[1]);
		*at += 2;
	}
}

static void read_string(const char *answer, const char *name, char *into, size_t size)
{
	const char *at = find(answer, name);
	char text[512] = "", character[8];
	size_t length = 0;

	*into = 0;
	if (!at || *at != '"')
		return;
	for (at++; *at && *at != '"' && length < sizeof(text) - sizeof(character);) {
		read_character(&at, character);
		length += (size_t)sprintf(text + length, "%s", character);
	}
	plain_text_copy(into, size, text);
}

static void read_mappings(const char *answer, struct answer_fields *fields)
{
	const char *mappings = find(answer, "mappings");

	fields->has_mappings = mappings != NULL;
	for (size_t i = 0; i < ANSWER_MAPPED_COUNT && fields->has_mappings; i++)
		fields->has_mappings =
			read_number(mappings, answer_mapped_names[i], &fields->mapped[i]);
}

bool answer_fields_read(const char *answer, struct answer_fields *out_fields)
{
	struct answer_fields fields = {0};
	const struct {
		const char *name;
		double *number;
	} numbers[] = {{"samples", &fields.samples},
		       {"in_use_bytes", &fields.in_use_bytes},
		       {"in_use_objects", &fields.in_use_objects},
		       {"allocated_bytes", &fields.allocated_bytes},
		       {"allocated_objects", &fields.allocated_objects}};
	const char *totals = find(answer, "totals");

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!totals || !read_number(totals, numbers[i].name, numbers[i].number))
			return false;
	read_string(answer, "sentence", fields.sentence, sizeof(fields.sentence));
	read_mappings(answer, &fields);
	*out_fields = fields;
	return true;
}
