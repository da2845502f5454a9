/* SPDX-License-Identifier: MIT */
/* read_common.c - see read_common.h. */
#include "read_common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "modules.h"
#include "printable.h"
#include "scan.h"

#define MAPS_MAX (16u << 20) /* bytes of memory map that are kept */

void read_damage(struct profile *profile, const char *format, ...)
{
	va_list arguments;

	if (profile->meta.damage)
		return;
	va_start(arguments, format);
	if (vasprintf(&profile->meta.damage, format, arguments) < 0)
		profile->meta.damage = NULL;
	else
		printable(profile->meta.damage); /* it may quote the file */
	va_end(arguments);
}

int read_bad(const struct input *input, struct profile *profile, const char *what)
{
	read_damage(profile, "damaged at line %" PRIu64 ": %s", input->line_number, what);
	return 0;
}

void read_check_end(const struct input *input, struct profile *profile, bool ended)
{
	if (input->err)
		read_damage(profile, "unreadable after line %" PRIu64 ": %s", input->line_number,
			    input_complaint(input));
	else if (!ended)
		read_damage(profile, "cut off after line %" PRIu64, input->line_number);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static bool runs_over(uint64_t sum, uint64_t more)
{
	return more > INT64_MAX || sum > INT64_MAX - more;
}

int read_add_counts(struct profile_row *row, const struct profile_row *counts)
{
	if (runs_over(row->alloc_count, counts->alloc_count) ||
	    runs_over(row->alloc_bytes, counts->alloc_bytes) ||
	    runs_over(row->inuse_count, counts->inuse_count) ||
	    runs_over(row->inuse_bytes, counts->inuse_bytes) ||
	    runs_over(row->resident_bytes, counts->resident_bytes) ||
	    runs_over(row->swapped_bytes, counts->swapped_bytes))
		return -ERANGE;
	row->alloc_count += counts->alloc_count;
	row->alloc_bytes += counts->alloc_bytes;
	row->inuse_count += counts->inuse_count;
	row->inuse_bytes += counts->inuse_bytes;
	row->resident_bytes += counts->resident_bytes;
	row->swapped_bytes += counts->swapped_bytes;
	return 0;
}

int read_add(struct profile *profile, const struct profile_row_key *key,
	     const struct profile_row *counts, uint32_t *out_row)
{
	return profile_row_at(profile, key, out_row)
		       ? -ENOMEM
		       : read_add_counts(&profile->row[*out_row], counts);
}

int read_add_part(struct profile *profile, uint32_t row, uint32_t thread,
		  const struct profile_row *counts)
{
	struct part *part;
	uint32_t index;

	if (thread_breakdown_of(&profile->breakdown, row, thread, &index))
		return -ENOMEM;
	part = &profile->breakdown.part[index];
	part->alloc_count += counts->alloc_count;
	part->alloc_bytes += counts->alloc_bytes;
	part->inuse_count += counts->inuse_count;
	part->inuse_bytes += counts->inuse_bytes;
	part->resident_bytes += counts->resident_bytes;
	part->swapped_bytes += counts->swapped_bytes;
	return 0;
}

int read_share_rest(struct profile *profile)
{
	struct profile_row *rest = calloc(profile->row_count + 1, sizeof(*rest));
	int err = rest ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile->row_count && !err; i++)
		rest[i] = profile->row[i];
	for (size_t i = 0; i < profile->breakdown.count && !err; i++) {
		const struct part *part = &profile->breakdown.part[i];

		rest[part->row].alloc_count -= part->alloc_count;
		rest[part->row].alloc_bytes -= part->alloc_bytes;
		rest[part->row].inuse_count -= part->inuse_count;
		rest[part->row].inuse_bytes -= part->inuse_bytes;
		rest[part->row].resident_bytes -= part->resident_bytes;
		rest[part->row].swapped_bytes -= part->swapped_bytes;
	}
	for (size_t i = 0; i < profile->row_count && !err; i++) {
		if (rest[i].alloc_count || rest[i].alloc_bytes || rest[i].inuse_count ||
		    rest[i].inuse_bytes)
			err = read_add_part(profile, (uint32_t)i, 0, &rest[i]);
	}
	free(rest);
	return err;
}

void read_count_samples(struct profile *profile)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < profile->row_count; i++) {
		if (profile->row[i].key.side == PROFILE_NEW &&
		    !runs_over(samples, profile->row[i].alloc_count))
			samples += profile->row[i].alloc_count;
	}
	profile->meta.samples = profile->meta.stacks_complete = samples;
}

void read_build_id(const char *text, struct profile_module *module)
{
	const size_t length = strlen(text);

	if (length % 2 || length / 2 > PROFILE_BUILD_ID_MAX ||
	    strspn(text, "0123456789abcdefABCDEF") != length)
		return;
	for (size_t i = 0; i < length / 2; i++) {
		const char pair[] = {text[2 * i], text[2 * i + 1], 0}, *digits = pair;
		uint64_t byte = 0;

		scan_number(&digits, 16, &byte);
		module->build_id[module->build_id_size++] = (uint8_t)byte;
	}
}

/* ---- text ------------------------------------------------------------------------------------ */

struct read_text *read_text_open(struct input *input, struct profile *profile)
{
	struct read_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->input = input;
	text->profile = profile;
	text->maps = open_memstream(&text->maps_text, &text->maps_size);
	if (!text->maps) {
		free(text);
		return NULL;
	}
	return text;
}

bool read_text_next(struct read_text *text)
{
	const uint8_t *bytes;
	bool is_whole;

	if (!input_line(text->input, text->line, sizeof(text->line), &is_whole))
		return false;
	if (is_whole)
		return true;
	if (input_peek(text->input, 1, &bytes) > 0)
		read_bad(text->input, text->profile, "the line is too long");
	else if (text->input->err)
		read_check_end(text->input, text->profile, false);
	else
		read_damage(text->profile, "cut off in line %" PRIu64, text->input->line_number);
	text->line[0] = 0;
	return true;
}

/* " PERMS OFFSET DEVICE INODE   PATH": the rest of a line of /proc/PID/maps. The path is left. */
static bool scan_proc_map(const char **cursor, char perms[5], struct profile_module *module)
{
	int path = 0;

	if (sscanf(*cursor, " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n", perms, &module->file_offset,
		   &module->inode, &path) < 3 ||
	    path == 0)
		return false;
	*cursor += path;
	return true;
}

/* Takes the next word of a line, in place; "" at its end. */
static char *take_word(char **line)
{
	char *word;

	*line += strspn(*line, " \t");
	word = *line;
	*line += strcspn(*line, " \t");
	if (**line)
		*(*line)++ = 0;
	return word;
}

/* ": PERMS PATH (@OFFSET) BUILD-ID", of which all but the path may be missing. */
static void take_brief_map(char *line, char perms[5], struct profile_module *module)
{
	char *word;
	const char *digits;

	line += *line == ':';
	word = take_word(&line);
	strcpy(perms, "x");
	if (*word && word[strspn(word, "rwxps-")] == 0) {
		snprintf(perms, 5, "%s", word);
		word = take_word(&line);
	}
	module->path = word;
	word = take_word(&line);
	digits = word + 2;
	if (strncmp(word, "(@", 2) == 0 && scan_number(&digits, 16, &module->file_offset))
		word = take_word(&line);
	if (*word)
		read_build_id(word, module);
}

/*
 * What "# module" lines do not say of a file without build-id. The line may name it as deleted.
 */
static void take_inode(struct profile *profile, const struct profile_module *line)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		struct profile_module *module = &profile->module[i];

		if (!module->build_id_size && module->lo == line->lo && module->hi == line->hi &&
		    strncmp(line->path, module->path, strlen(module->path)) == 0)
			module->inode = line->inode;
	}
}

int read_text_map(struct read_text *text, bool is_module)
{
	struct profile_module module = {.bias = PROFILE_BIAS_UNKNOWN,
					.number = (uint32_t)text->profile->module_count + 1};
	const char *cursor = text->line;
	char perms[5] = "";
	uint32_t index;

	if (text->maps_kept < MAPS_MAX)
		text->maps_kept += (size_t)fprintf(text->maps, "%s\n", text->line);
	if (is_module && module.number > MODULES_MAX)
		return 0;
	skip_spaces(&cursor);
	if (!scan_number(&cursor, 16, &module.lo) || !scan_char(&cursor, '-') ||
	    !scan_number(&cursor, 16, &module.hi) || module.hi <= module.lo)
		return 0;
	if (scan_proc_map(&cursor, perms, &module)) {
		module.path = text->line + (cursor - text->line);
		if (module.path[0] != '/') /* memory of no file, or the kernel's */
			return 0;
	} else {
		take_brief_map(text->line + (cursor - text->line), perms, &module);
	}
	if (!strchr(perms, 'x') || !*module.path || module.path[0] == '[')
		return 0;
	if (!is_module) {
		take_inode(text->profile, &module);
		return 0;
	}
	return profile_add_module(text->profile, &module, &index);
}

/* sign: NULL = the numbers have none. Of two, the sign of the bytes counts. */
static bool scan_pair(const char **cursor, uint64_t *out_count, uint64_t *out_bytes, bool *sign)
{
	skip_spaces(cursor);
	if (sign)
		scan_char(cursor, '-');
	if (!scan_number(cursor, 10, out_count) || !scan_char(cursor, ':'))
		return false;
	skip_spaces(cursor);
	if (sign)
		*sign = scan_char(cursor, '-');
	return scan_number(cursor, 10, out_bytes) && *out_count <= INT64_MAX &&
	       *out_bytes <= INT64_MAX;
}

static bool scan_counts(const char **cursor, struct profile_row *out_counts, bool *sign)
{
	if (!scan_pair(cursor, &out_counts->inuse_count, &out_counts->inuse_bytes, sign))
		return false;
	skip_spaces(cursor);
	return scan_char(cursor, '[') &&
	       scan_pair(cursor, &out_counts->alloc_count, &out_counts->alloc_bytes, NULL) &&
	       scan_char(cursor, ']');
}

bool read_scan_counts(const char **cursor, struct profile_row *out_counts)
{
	return scan_counts(cursor, out_counts, NULL);
}

bool read_scan_signed_counts(const char **cursor, struct profile_row *out_counts,
			     bool *out_is_negative)
{
	return scan_counts(cursor, out_counts, out_is_negative);
}

/* A look-up waits for memory, which is loaded while the rest of the line is scanned. */
int read_text_frames(struct profile *profile, const char *cursor, uint32_t *out_frame,
		     uint32_t *out_frame_count)
{
	uint64_t address[READ_FRAMES_MAX];
	uint32_t count = 0;

	for (skip_spaces(&cursor); *cursor; skip_spaces(&cursor)) {
		if (count == READ_FRAMES_MAX || !scan_number(&cursor, 16, &address[count]))
			return -EBADMSG;
		profile_frame_prefetch(profile, address[count++], -1);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (profile_frame_at(profile, address[i], -1, &out_frame[i]))
			return -ENOMEM;
	}
	*out_frame_count = count;
	return 0;
}

int read_text_close(struct read_text *text)
{
	int err = 0;

	if (!text)
		return 0;
	if (fclose(text->maps)) {
		free(text->maps_text);
		err = -ENOMEM;
	} else {
		free(text->profile->meta.maps);
		text->profile->meta.maps = text->maps_text;
	}
	free(text);
	return err;
}

int read_assign_modules(struct profile *profile)
{
	struct modules modules = {0};
	int err = 0;

	for (size_t i = 0; i < profile->module_count && !err; i++) {
		const struct profile_module *module = &profile->module[i];
		const struct module_range range = {.lo = module->lo,
						   .hi = module->hi,
						   .number = module->number,
						   .index = (uint32_t)i};

		err = modules_add(&modules, &range);
	}
	for (size_t i = 0; i < profile->frame_count && !err; i++) {
		if (profile->frame[i].module < 0)
			profile->frame[i].module =
				modules_find(&modules, profile->frame[i].address - 1, true);
	}
	modules_close(&modules);
	return err ? -ENOMEM : 0;
}
