/* SPDX-License-Identifier: MIT */
/*
 * heapfile_write.c - writes the text that google-pprof, jeprof and go pprof all read, with what they ignore and we need in comment lines. Start at
 * heapfile_write().
 */
#include <inttypes.h>
#include <string.h>

#include "heapfile.h"
#include "heapfile_text.h"

#define MAPS_LINE_MAX 16384u /* four times the longest path; go pprof reads no line of 64 KiB */

static void write_bucket(const struct profile_row *row, FILE *out)
{
	fprintf(out, "%6" PRIu64 ": %8" PRIu64 " [%6" PRIu64 ": %8" PRIu64 "] @", row->inuse_count, row->inuse_bytes, row->alloc_count, row->alloc_bytes);
}

/*
 * go pprof looks at the totals for one thing only: if alloc and in-use are equal, or alloc is 0, the profile has two sample types, else four, and
 * profiles of two and of four can be neither compared nor merged. So equal totals get one object more, which nobody adds up.
 */
static void write_header(const struct profile *profile, FILE *out)
{
	struct profile_row total = {0};

	for (size_t i = 0; i < profile->row_count; i++) {
		total.inuse_count += profile->row[i].inuse_count;
		total.inuse_bytes += profile->row[i].inuse_bytes;
		total.alloc_count += profile->row[i].alloc_count;
		total.alloc_bytes += profile->row[i].alloc_bytes;
	}
	if (total.alloc_count == total.inuse_count)
		total.alloc_count++;
	fputs("heap profile: ", out);
	write_bucket(&total, out);
	fprintf(out, " heap_v2/%" PRIu64 "\n", profile->meta.interval);
}

static void write_modules(const struct profile *profile, FILE *out)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->module[i];

		fprintf(out, "# module %" PRIx64 "-%" PRIx64 " %" PRIx64 " %" PRIx64 " ", module->lo, module->hi, module->file_offset, module->bias);
		for (size_t k = 0; k < module->build_id_size; k++)
			fprintf(out, "%02x", module->build_id[k]);
		fputs(module->build_id_size ? " " : "- ", out);
		heapfile_escape(module->path, out);
		putc('\n', out);
	}
}

static void write_symbol(uint64_t address, const struct profile_line *line, FILE *out)
{
	fprintf(out, "# symbol 0x%" PRIx64 " ", address);
	heapfile_escape(line->function ? line->function : HEAPFILE_UNKNOWN, out);
	putc('\t', out);
	heapfile_escape(line->file ? line->file : HEAPFILE_UNKNOWN, out);
	fprintf(out, ":%" PRIu32, line->line);
	if (line->system_name && (!line->function || strcmp(line->system_name, line->function) != 0)) {
		putc('\t', out);
		heapfile_escape(line->system_name, out);
	}
	putc('\n', out);
}

static void write_row(const struct profile *profile, const struct profile_row *row, FILE *out)
{
	const struct profile_stack *stack = &profile->stack[row->stack];

	write_bucket(row, out);
	for (uint32_t i = 0; i < stack->frame_count; i++)
		fprintf(out, " 0x%08" PRIx64, profile->frame[stack->frame[i]].address);
	putc('\n', out);
}

/* The maps are the target's word: lines that no kernel would write are left out. */
static void write_maps(const char *maps, FILE *out)
{
	fputs("\n" HEAPFILE_MAPS "\n", out);
	while (maps && *maps) {
		const size_t length = strcspn(maps, "\n");

		if (length && length < MAPS_LINE_MAX) {
			fwrite(maps, 1, length, out);
			putc('\n', out);
		}
		maps += length + (maps[length] == '\n');
	}
}

void heapfile_write(const struct profile *profile, FILE *out)
{
	write_header(profile, out);
	heapfile_write_meta(&profile->meta, out);
	write_modules(profile, out);
	for (size_t i = 0; i < profile->frame_count; i++) {
		for (size_t k = 0; k < profile->frame[i].line_count; k++)
			write_symbol(profile->frame[i].address, &profile->frame[i].line[k], out);
	}
	for (size_t i = 0; i < profile->row_count; i++) {
		if (profile->row[i].alloc_count)
			write_row(profile, &profile->row[i], out);
	}
	write_maps(profile->meta.maps, out);
	fputs(HEAPFILE_END "\n", out);
}
