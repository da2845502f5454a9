/* SPDX-License-Identifier: MIT */
/*
 * heapfile_comment.c - reads the comment lines in which heapinject's heap profiles keep modules,
 * symbols and metadata. Start at heapfile_read_comment().
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heapfile_text.h"
#include "hooked_lines.h"
#include "modules.h"
#include "scan.h"

#define LINES_MAX 256u /* inlined calls at one address */

/* "LO-HI OFFSET BIAS BUILD-ID PATH" */
static int read_module(char *text, struct profile *profile)
{
	struct profile_module module = {.number = (uint32_t)profile->module_count + 1};
	const char *cursor = text;
	uint64_t byte;
	uint32_t index;

	if (!scan_number(&cursor, 16, &module.lo) || !scan_char(&cursor, '-') ||
	    !scan_number(&cursor, 16, &module.hi) || !scan_char(&cursor, ' ') ||
	    !scan_number(&cursor, 16, &module.file_offset) || !scan_char(&cursor, ' ') ||
	    !scan_number(&cursor, 16, &module.bias) || !scan_char(&cursor, ' ') ||
	    module.hi <= module.lo || module.number > MODULES_MAX)
		return -EINVAL;
	if (!scan_char(&cursor, '-')) {
		while (isxdigit((unsigned char)cursor[0]) && isxdigit((unsigned char)cursor[1]) &&
		       module.build_id_size < PROFILE_BUILD_ID_MAX) {
			const char pair[] = {cursor[0], cursor[1], 0}, *digits = pair;

			scan_number(&digits, 16, &byte);
			module.build_id[module.build_id_size++] = (uint8_t)byte;
			cursor += 2;
		}
	}
	if (!scan_char(&cursor, ' '))
		return -EINVAL;
	module.path = text + (cursor - text);
	heapfile_unescape(module.path);
	return profile_add_module(profile, &module, &index);
}

/* Takes a field up to the next tab; NULL for "??". *text moves after the tab. */
static char *take_field(char **text)
{
	char *field = strsep(text, "\t");

	if (!field || strcmp(field, HEAPFILE_UNKNOWN) == 0)
		return NULL;
	heapfile_unescape(field);
	return field;
}

static int copy_text(const char *text, char **out_copy)
{
	*out_copy = text ? strdup(text) : NULL;
	return text && !*out_copy ? -ENOMEM : 0;
}

static int add_line(struct profile_frame *frame, const struct profile_line *line)
{
	struct profile_line *grown = reallocarray(frame->line, frame->line_count + 1,
						  sizeof(*grown)),
			    *copy;

	if (!grown)
		return -ENOMEM;
	frame->line = grown;
	copy = &frame->line[frame->line_count++];
	*copy = (struct profile_line){.line = line->line};
	return copy_text(line->function, &copy->function) ||
			       copy_text(line->system_name, &copy->system_name) ||
			       copy_text(line->file, &copy->file)
		       ? -ENOMEM
		       : 0;
}

/*
 * "0xADDRESS FUNCTION<tab>FILE:LINE[<tab>SYSTEM-NAME]". Of several lines for one address, the
 * innermost call comes first.
 */
static int read_symbol(char *text, struct profile *profile)
{
	const char *cursor = text, *number;
	struct profile_line line = {0};
	char *rest, *place, *colon;
	uint64_t address, line_number;
	uint32_t frame;

	if (!scan_number(&cursor, 16, &address) || !scan_char(&cursor, ' '))
		return -EINVAL;
	rest = text + (cursor - text);
	line.function = take_field(&rest);
	place = strsep(&rest, "\t");
	line.system_name = take_field(&rest);
	colon = place ? strrchr(place, ':') : NULL;
	number = colon ? colon + 1 : NULL;
	if (!colon || !scan_number(&number, 10, &line_number) || *number ||
	    line_number > UINT32_MAX)
		return -EINVAL;
	*colon = 0;
	line.line = (uint32_t)line_number;
	line.file = take_field(&place);
	if (!line.system_name)
		line.system_name = line.function;
	if (profile_frame_at(profile, address, -1, &frame))
		return -ENOMEM;
	if (profile->frame[frame].line_count >= LINES_MAX)
		return -EINVAL;
	return add_line(&profile->frame[frame], &line);
}

/* "TIME-NS INTERVAL" */
static int read_change(const char *text, struct profile_meta *meta)
{
	struct profile_change change;

	if (!scan_number(&text, 10, &change.time_ns) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &change.interval) || *text || !change.interval)
		return -EINVAL;
	profile_add_change(meta, &change);
	return 0;
}

/* "TIME-NS ANONYMOUS RESIDENT SEEN" */
static int read_moment(const char *text, struct profile_meta *meta)
{
	struct profile_moment moment;

	if (!scan_number(&text, 10, &moment.time_ns) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &moment.anonymous) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &moment.resident) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &moment.seen) || *text)
		return -EINVAL;
	profile_add_moment(meta, &moment);
	return 0;
}

/*
 * "TIME-NS ANONYMOUS USED-BYTES USED-COUNT USED FREE CACHED TRIMMABLE OWN UNSURE": the fields of
 * struct heap_moment in their order
 */
static int read_heap(const char *text, struct profile_meta *meta)
{
	struct heap_moment moment;
	uint64_t *const field[] = {&moment.time_ns,    &moment.anonymous, &moment.used_bytes,
				   &moment.used_count, &moment.used,      &moment.free,
				   &moment.cached,     &moment.trimmable, &moment.own,
				   &moment.unsure};
	const size_t count = sizeof(field) / sizeof(*field);

	for (size_t i = 0; i < count; i++)
		if (!scan_number(&text, 10, field[i]) || (i + 1 < count && !scan_char(&text, ' ')))
			return -EINVAL;
	if (*text)
		return -EINVAL;
	heap_history_add(&meta->heap, &moment);
	return 0;
}

/* "CLASS SEEN COUNT BYTES" */
static int read_freed(const char *text, struct profile_meta *meta)
{
	struct profile_freed freed;
	uint64_t size_class;

	if (!scan_number(&text, 10, &size_class) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &freed.seen) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &freed.count) || !scan_char(&text, ' ') ||
	    !scan_number(&text, 10, &freed.bytes) || *text || size_class >= HI_SIZE_CLASSES)
		return -EINVAL;
	meta->unsampled_freed[size_class] = freed;
	return 0;
}

/* Millionths. */
static int read_frees_share(const char *text, struct profile_meta *meta)
{
	uint64_t share;

	if (!scan_number(&text, 10, &share) || *text || share > 1000000)
		return -EINVAL;
	meta->frees_share = (double)share / 1e6;
	return 0;
}

int heapfile_read_comment(char *text, struct profile *profile)
{
	char *value = text;
	const char *key;
	int err;

	while (*value == ' ')
		value++;
	key = strsep(&value, " ");
	if (!value)
		return 0;
	if (strcmp(key, "module") == 0)
		return read_module(value, profile);
	if (strcmp(key, "symbol") == 0)
		return read_symbol(value, profile);
	if (strcmp(key, HEAPFILE_FREED_KEY) == 0)
		return read_freed(value, &profile->meta);
	if (strcmp(key, HEAPFILE_FREES_SHARE_KEY) == 0)
		return read_frees_share(value, &profile->meta);
	if (strcmp(key, HEAPFILE_MEMORY_KEY) == 0)
		return read_moment(value, &profile->meta);
	if (strcmp(key, HEAPFILE_HEAP_KEY) == 0)
		return read_heap(value, &profile->meta);
	if (strcmp(key, "interval") == 0)
		return read_change(value, &profile->meta);
	if (strcmp(key, HEAPFILE_CAVEAT_KEY) == 0)
		return heapfile_read_caveat(value, &profile->meta);
	if (strcmp(key, HOOKED_KEY) == 0)
		return hooked_lines_add(&profile->meta, value, strlen(value));
	err = heapfile_read_meta(key, value, &profile->meta);
	return err == -ENOENT ? 0 : err;
}
