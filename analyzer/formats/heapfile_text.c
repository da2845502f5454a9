/* SPDX-License-Identifier: MIT */
/*
 * heapfile_text.c - one table of metadata for both directions: a new figure is one line here. Start
 * at fields[].
 */
#include "heapfile_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "hooked_lines.h"
#include "printable.h"

#define ESCAPED_MAX 8192u

enum field_kind { TEXT, U32, U64, INT };

static const struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
} fields[] = {
	{HEAPFILE_VERSION_KEY, TEXT, offsetof(struct profile_meta, version)},
	{"pid", U32, offsetof(struct profile_meta, pid)},
	{"comm", TEXT, offsetof(struct profile_meta, comm)},
	{"cmdline", TEXT, offsetof(struct profile_meta, cmdline)},
	{"exe", TEXT, offsetof(struct profile_meta, exe)},
	{"host", TEXT, offsetof(struct profile_meta, host)},
	{"interval_bytes", U64, offsetof(struct profile_meta, interval)},
	{"budget_ppm", U32, offsetof(struct profile_meta, budget_ppm)},
	{"start_unix_ns", U64, offsetof(struct profile_meta, start_unix_ns)},
	{"process_start_ticks", U64, offsetof(struct profile_meta, process_start_ticks)},
	{"duration_ns", U64, offsetof(struct profile_meta, duration_ns)},
	{"peak_inuse_bytes", U64, offsetof(struct profile_meta, peak_inuse_bytes)},
	{"peak_ns", U64, offsetof(struct profile_meta, peak_ns)},
	{"end_reason", INT, offsetof(struct profile_meta, end_reason)},
	{"paused_ns", U64, offsetof(struct profile_meta, paused_ns)},
	{"trigger", TEXT, offsetof(struct profile_meta, trigger)},
	{"samples", U64, offsetof(struct profile_meta, samples)},
	{"frees", U64, offsetof(struct profile_meta, frees)},
	{"missed_frees", U64, offsetof(struct profile_meta, missed_frees)},
	{"anonymous_begin_bytes", U64, offsetof(struct profile_meta, memory.anonymous_begin)},
	{"anonymous_end_bytes", U64, offsetof(struct profile_meta, memory.anonymous_end)},
	{"writable_end_bytes", U64, offsetof(struct profile_meta, memory.writable_end)},
	{"brk_begin_bytes", U64, offsetof(struct profile_meta, mapped_begin.bytes[MAPPED_BRK])},
	{"brk_end_bytes", U64, offsetof(struct profile_meta, mapped_end.bytes[MAPPED_BRK])},
	{"mmap_begin_bytes", U64,
	 offsetof(struct profile_meta, mapped_begin.bytes[MAPPED_ANONYMOUS])},
	{"mmap_end_bytes", U64, offsetof(struct profile_meta, mapped_end.bytes[MAPPED_ANONYMOUS])},
	{"stack_begin_bytes", U64, offsetof(struct profile_meta, mapped_begin.bytes[MAPPED_STACK])},
	{"stack_end_bytes", U64, offsetof(struct profile_meta, mapped_end.bytes[MAPPED_STACK])},
	{"stacks_begin", U64, offsetof(struct profile_meta, mapped_begin.stacks)},
	{"stacks_end", U64, offsetof(struct profile_meta, mapped_end.stacks)},
	{"threads_begin", U64, offsetof(struct profile_meta, mapped_begin.threads)},
	{"threads_end", U64, offsetof(struct profile_meta, mapped_end.threads)},
	{"shared_begin_bytes", U64,
	 offsetof(struct profile_meta, mapped_begin.bytes[MAPPED_SHARED])},
	{"shared_end_bytes", U64, offsetof(struct profile_meta, mapped_end.bytes[MAPPED_SHARED])},
	{"file_begin_bytes", U64, offsetof(struct profile_meta, mapped_begin.bytes[MAPPED_FILE])},
	{"file_end_bytes", U64, offsetof(struct profile_meta, mapped_end.bytes[MAPPED_FILE])},
	{"spread_bytes", U64, offsetof(struct profile_meta, memory.spread)},
	{"limit_bytes", U64, offsetof(struct profile_meta, limit_bytes)},
	{"limited_bytes", U64, offsetof(struct profile_meta, limited_bytes)},
	{"heap_of", TEXT, offsetof(struct profile_meta, heap.name)},
	{"heap_unread", TEXT, offsetof(struct profile_meta, heap.refusal)},
	{"unhooked", TEXT, offsetof(struct profile_meta, unhooked)},
	{"runtimes", U32, offsetof(struct profile_meta, runtimes)},
	{"dropped_allocs", U64, offsetof(struct profile_meta, dropped_allocs)},
	{"dropped_frees", U64, offsetof(struct profile_meta, dropped_frees)},
	{"live_set_full", U64, offsetof(struct profile_meta, live_set_full)},
	{"no_thread_slot", U64, offsetof(struct profile_meta, no_thread_slot)},
	{"passed_bytes", U64, offsetof(struct profile_meta, passed_bytes)},
	{"stacks_complete", U64, offsetof(struct profile_meta, stacks_complete)},
	{"stacks_truncated", U64, offsetof(struct profile_meta, stacks_truncated)},
	{"stacks_too_deep", U64, offsetof(struct profile_meta, stack_ends[HI_END_DEPTH])},
	{"stacks_no_region", U64, offsetof(struct profile_meta, stack_ends[HI_END_REGION])},
	{"stacks_no_row", U64, offsetof(struct profile_meta, stack_ends[HI_END_NO_ROW])},
	{"stacks_bad_frame", U64, offsetof(struct profile_meta, stack_ends[HI_END_BAD_FRAME])},
	{"stacks_lost", U64, offsetof(struct profile_meta, stack_ends[HI_END_LOST])},
	{"slack_samples", U64, offsetof(struct profile_meta, slack_samples)},
	{"payload_cpu_ns", U64, offsetof(struct profile_meta, payload_cpu_ns)},
	{"target_cpu_ns", U64, offsetof(struct profile_meta, target_cpu_ns)},
};

void heapfile_escape(const char *text, FILE *out)
{
	for (size_t length = 0; text && *text && length < ESCAPED_MAX; text++) {
		const unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || byte == 0x7f || byte == '\\')
			length += (size_t)fprintf(out, "\\x%02x", byte);
		else
			length += putc(byte, out) != EOF;
	}
}

static unsigned int hex_digit(char digit)
{
	return isdigit((unsigned char)digit)
		       ? (unsigned int)(digit - '0')
		       : (unsigned int)(tolower((unsigned char)digit) - 'a' + 10);
}

void heapfile_unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		if (text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
		    isxdigit((unsigned char)text[3])) {
			*to = (char)(hex_digit(text[2]) << 4 | hex_digit(text[3]));
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = 0;
}

/* The value of a numeric field; the structure is plain old data, so its bytes may be copied. */
static uint64_t field_get(const struct field *field, const void *meta)
{
	const char *at = (const char *)meta + field->offset;
	uint32_t narrow;
	uint64_t wide;

	if (field->kind == U64) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

static void field_set(const struct field *field, uint64_t value, void *meta)
{
	char *at = (char *)meta + field->offset;
	const uint32_t narrow = (uint32_t)value;

	if (field->kind == U64)
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &narrow, sizeof(narrow));
}

void heapfile_write_meta(const struct profile_meta *meta, FILE *out)
{
	const char *cursor = meta->hooked, *hooked;
	size_t size;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *text = NULL;

		fprintf(out, "# %s ", fields[i].key);
		if (fields[i].kind == TEXT) {
			memcpy(&text, (const char *)meta + fields[i].offset, sizeof(text));
			heapfile_escape(text, out);
		} else {
			fprintf(out, "%" PRIu64, field_get(&fields[i], meta));
		}
		putc('\n', out);
	}
	while ((hooked = hooked_lines_next(&cursor, &size)) != NULL) {
		fputs("# " HOOKED_KEY " ", out);
		fwrite(hooked, 1, size, out);
		putc('\n', out);
	}
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		if (!meta->caveat[kind])
			continue;
		fprintf(out, "# " HEAPFILE_CAVEAT_KEY " %s ", caveats_name((enum hi_caveat)kind));
		heapfile_escape(meta->caveat[kind], out);
		putc('\n', out);
	}
}

int heapfile_read_caveat(char *text, struct profile_meta *meta)
{
	const size_t size = strcspn(text, " ");
	const enum hi_caveat kind = caveats_kind(text, size);

	if (kind == HI_CAVEATS) /* of a later version */
		return 0;
	text += size + (text[size] == ' ');
	heapfile_unescape(text);
	printable(text);
	return caveats_set(meta, kind, text);
}

static int field_set_text(const struct field *field, char *value, void *meta)
{
	char *at = (char *)meta + field->offset, *old, *copy;

	heapfile_unescape(value);
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	memcpy(&old, at, sizeof(old));
	free(old);
	memcpy(at, &copy, sizeof(copy));
	return 0;
}

int heapfile_read_meta(const char *key, char *value, struct profile_meta *meta)
{
	const struct field *field = fields;
	const struct field *const fields_end = fields + sizeof(fields) / sizeof(fields[0]);
	uint64_t number;
	char *end;

	while (field < fields_end && strcmp(field->key, key) != 0)
		field++;
	if (field == fields_end)
		return -ENOENT;
	if (field->kind == TEXT)
		return field_set_text(field, value, meta);
	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || end == value || *end || !isdigit((unsigned char)*value) ||
	    (field->kind == U32 && number > UINT32_MAX) ||
	    (field->kind == INT && number > INT32_MAX))
		return -EINVAL;
	field_set(field, number, meta);
	return 0;
}
