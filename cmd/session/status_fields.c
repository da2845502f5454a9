/* SPDX-License-Identifier: MIT */
/* status_fields.c - see status_fields.h. One table for both directions. */
#include "status_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "hi_units.h"
#include "plain_text.h"

static const struct field {
	const char *key;
	size_t offset, text_size; /* text_size: 0 = a number */
} fields_of_text[] = {
#define NUMBER(name)                                           \
	{                                                      \
#name, offsetof(struct status_fields, name), 0 \
	}
#define TEXT(name)                                                \
	{                                                         \
#name, offsetof(struct status_fields, name),      \
			sizeof(((struct status_fields *)0)->name) \
	}
	NUMBER(pid),           NUMBER(family),
	NUMBER(since_unix_ns), NUMBER(elapsed_ns),
	NUMBER(duration_ns),   NUMBER(interval),
	NUMBER(budget_ppm),    NUMBER(samples),
	NUMBER(inuse_bytes),   NUMBER(allocated_bytes),
	NUMBER(dropped),       NUMBER(payload_cpu_ns),
	NUMBER(target_cpu_ns), NUMBER(own_cpu_ns),
	NUMBER(files_written), NUMBER(keep),
	NUMBER(paused),        NUMBER(profile_ns),
	NUMBER(paused_ns),     NUMBER(grows),
	NUMBER(slope),         NUMBER(slope_low),
	NUMBER(slope_high),    NUMBER(pushed),
	NUMBER(push_waiting),  NUMBER(push_lost),
	NUMBER(push_away),     NUMBER(heap_used),
	NUMBER(heap_kept),     NUMBER(heap_trim),
	TEXT(heap_of),         TEXT(heap_unread),
	TEXT(push_url),        TEXT(program),
	TEXT(last_file),       TEXT(final_file),
	TEXT(triggers),
};
#define FIELDS (sizeof(fields_of_text) / sizeof(*fields_of_text))

void status_fields_write(const struct status_fields *fields, FILE *out)
{
	for (size_t i = 0; i < FIELDS; i++) {
		const char *at = (const char *)fields + fields_of_text[i].offset;
		char clean[PATH_MAX];
		uint64_t number;

		fprintf(out, "%s ", fields_of_text[i].key);
		if (fields_of_text[i].text_size) {
			plain_text_copy(clean, sizeof(clean), at);
			fprintf(out, "%s\n", clean);
		} else {
			memcpy(&number, at, sizeof(number));
			fprintf(out, "%" PRIu64 "\n", number);
		}
	}
}

/* value: the rest of the line. */
static int set(const struct field *field, const char *value, size_t size,
	       struct status_fields *fields)
{
	char *at = (char *)fields + field->offset, line[PATH_MAX];
	const char *end;
	uint64_t number;

	snprintf(line, sizeof(line), "%.*s", (int)(size < PATH_MAX ? size : PATH_MAX), value);
	if (field->text_size) {
		plain_text_copy(at, field->text_size, line);
		return 0;
	}
	if (hi_parse_digits(line, &number, &end) || *end)
		return -EPROTO;
	memcpy(at, &number, sizeof(number));
	return 0;
}

int status_fields_read(const char *text, struct status_fields *out_fields)
{
	int err = 0;

	*out_fields = (struct status_fields){0};
	while (*text && !err) {
		const size_t line = strcspn(text, "\n"), key = strcspn(text, " \n");

		for (size_t i = 0; i < FIELDS && key < line && !err; i++)
			if (strlen(fields_of_text[i].key) == key &&
			    !strncmp(fields_of_text[i].key, text, key))
				err = set(&fields_of_text[i], text + key + 1, line - key - 1,
					  out_fields);
		text += line + (text[line] == '\n');
	}
	return err ? err : out_fields->pid && out_fields->pid <= INT32_MAX ? 0 : -EPROTO;
}
