/* SPDX-License-Identifier: MIT */
/* weblist_code.c - see weblist_code.h. */
#include "weblist_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter_names.h"
#include "render_formats.h"

static void trim(char *path, const void *context)
{
	const struct render_options *options = context;

	filter_trim_path(path, &(struct filter_options){.trim_path = options->trim_path,
							.source_path = options->source_path});
}

/* Adds the instructions of a block. Where there are none, notes why. */
static int add_block(struct weblist_code *code, const struct profile *profile,
		     const struct code_lines_wish *wish, const struct code_block *block,
		     FILE *notes)
{
	const int32_t module = code->sums.site[block->first_site].module;
	int err;

	if (!block->symbol) {
		code_text_missing(module < 0 ? NULL : &profile->module[module], block, notes);
		return 0;
	}
	err = code_text_machine(&code->machine, block->code, "weblist");
	if (err == -ENOTSUP)
		code_text_no_cpu(block->code, notes);
	else if (err == -ENOENT)
		fprintf(notes, "no code: %s\n", render_error());
	if (err)
		return err == -ENOMEM ? err : 0;
	err = code_lines_add(&code->lines, wish, code->machine.disassembler, &code->sums, block);
	if (err == -ENODATA)
		code_text_no_bytes(block, notes);
	return err == -ENOMEM ? err : 0;
}

static bool has_line(const char *text, const char *line, size_t size)
{
	for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n')) {
		if (strncmp(text, line, size) == 0)
			return true;
	}
	return false;
}

/* Adds one line to the notes, unless it is there. Takes ownership of it. */
static int add_note(struct weblist_code *code, char *note)
{
	char *notes = NULL;
	int size = 0;

	if (!has_line(code->notes ? code->notes : "", note, strlen(note))) {
		size = asprintf(&notes, "%s%s", code->notes ? code->notes : "", note);
		if (size >= 0) {
			free(code->notes);
			code->notes = notes;
		}
	}
	free(note);
	return size < 0 ? -ENOMEM : 0;
}

static int add_blocks(struct weblist_code *code, const struct profile *profile,
		      const struct code_lines_wish *wish)
{
	int err = 0;

	for (size_t i = 0; i < code->sums.block_count && !err; i++) {
		const struct code_block *block = &code->sums.block[i];
		char *note = NULL;
		size_t size;
		FILE *notes = block->cum.samples > 0 ? open_memstream(&note, &size) : NULL;

		if (block->cum.samples <= 0)
			continue;
		err = notes ? add_block(code, profile, wish, block, notes) : -ENOMEM;
		if (notes && fclose(notes))
			err = -ENOMEM;
		if (!err && note && *note)
			err = add_note(code, note);
		else
			free(note);
	}
	code_lines_sort(&code->lines);
	return err;
}

int weblist_code_open(const struct profile *profile, const struct functions *functions,
		      const bool *wanted, const struct render_options *options,
		      struct weblist_code *out_code)
{
	const struct code_wish code_wish = {.function = wanted,
					    .files = options->files,
					    .type = options->type,
					    .with_inlined = true};
	const struct code_lines_wish wish = {
		.functions = functions, .wanted = wanted, .trim = trim, .trim_context = options};
	struct weblist_code code = {0};
	int err = code_sums_open(profile, functions, &code_wish, &code.sums);

	if (!err)
		err = add_blocks(&code, profile, &wish);
	if (err)
		weblist_code_close(&code);
	else
		*out_code = code;
	return err;
}

void weblist_code_close(struct weblist_code *code)
{
	code_lines_close(&code->lines);
	code_sums_close(&code->sums);
	disassembler_close(code->machine.disassembler);
	free(code->notes);
	*code = (struct weblist_code){0};
}
