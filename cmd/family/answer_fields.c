/* SPDX-License-Identifier: MIT */
/* answer_fields.c - see answer_fields.h. */
#include "answer_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_text.h"

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

/* The text of a string; a character that is written as a number becomes a question mark. */
static void read_string(const char *answer, const char *name, char *into, size_t size)
{
	const char *at = find(answer, name);
	size_t length = 0;
	char text[512];

	*into = 0;
	if (!at || *at != '"')
		return;
	for (at++; *at && *at != '"' && length < sizeof(text) - 1; at++) {
		const bool is_number = at[0] == '\\' && at[1] == 'u';

		at += at[0] == '\\' && at[1];
		text[length++] = is_number ? '?' : *at;
		for (int i = 0; is_number && i < 4 && at[1]; i++)
			at++;
	}
	text[length] = 0;
	plain_text_copy(into, size, text);
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
	*out_fields = fields;
	return true;
}
