/* SPDX-License-Identifier: MIT */
/*
 * render_disasm.c - the machine code of some functions, each instruction with its weight, and the
 * source lines in between. Start at render_disasm().
 *
 * The figures of a call are printed at the call instruction. The sampled address is its return
 * address, one byte after the last byte of the instruction. Only the surroundings of instructions
 * with figures are shown. A function is decoded from its start, twice: the first time to find where
 * instructions begin.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "code_text.h"
#include "code_sums.h"
#include "demangle.h"
#include "hi_path.h"
#include "printable.h"
#include "render_annotated.h"
#include "render_header.h"

#define PLACE_MAX 600u
#define FUNCTION_BYTES_MAX (8u << 20) /* a longer function is cut here */

struct disassembly {
	const struct profile *profile;
	const struct render_options *options;
	struct functions functions;
	struct estimate total;
	struct code_sums sums;
	struct code_machine machine;
	struct source_text text; /* of the file of the last line */
	char *file;              /* with its directory */
	char *name;              /* its last part, safe to print */
	uint32_t line;
	FILE *out;
};

/* ---- one instruction ------------------------------------------------------------------------- */

/*
 * Opens the file's text, unless it is already open. Without a text only line numbers are shown.
 * Takes ownership of `file`; NULL = out of memory.
 */
static int change_file(struct disassembly *disassembly, const struct code_block *block, char *file)
{
	const int32_t module = disassembly->sums.site[block->first_site].module;
	const struct source_places places =
		annotated_places(disassembly->options, disassembly->profile, module);

	if (!file)
		return -ENOMEM;
	if (disassembly->file && strcmp(disassembly->file, file) == 0) {
		free(file);
		return 0;
	}
	source_text_close(&disassembly->text);
	free(disassembly->file);
	free(disassembly->name);
	disassembly->file = file;
	disassembly->name = strdup(hi_base_name(file));
	disassembly->line = 0;
	if (!disassembly->name)
		return -ENOMEM;
	printable(disassembly->name);
	return source_text_open(&places, file, &disassembly->text) == -ENOMEM ? -ENOMEM : 0;
}

static int print_place(struct disassembly *disassembly, const struct code_block *block,
		       uint64_t address)
{
	struct dwarf_call calls[DWARF_CALLS_MAX];
	size_t count;
	struct dwarf_lines *lines = block->code->names.lines;
	int err = lines ? dwarf_lines_find(lines, address, calls, &count) : -ENOENT;

	if (!err && calls[0].file && calls[0].line)
		err = change_file(disassembly, block, dwarf_call_path(&calls[0]));
	if (err || !calls[0].file || !calls[0].line || calls[0].line == disassembly->line)
		return err == -ENOMEM ? err : 0;
	disassembly->line = calls[0].line;
	char *words = source_text_line(&disassembly->text, disassembly->line);
	fprintf(disassembly->out, "%23s%s:%" PRIu32 ":%s\n", "", disassembly->name,
		disassembly->line, words ? words : "");
	free(words);
	return 0;
}

static int print_instruction(struct disassembly *disassembly, const struct code_block *block,
			     const struct instruction *instruction)
{
	struct code_weight flat, cum;
	const int err = print_place(disassembly, block, instruction->address);
	char *target = code_text_target(block->code, instruction->target);

	code_sums_at(&disassembly->sums, block, instruction->address, instruction->size, &flat,
		     &cum);
	annotated_figures(flat.value, cum.value, disassembly->options->type, disassembly->out);
	fprintf(disassembly->out, " %10" PRIx64 ": %s%s%s\n", instruction->address,
		instruction->text, target ? "  " : "", target ? target : "");
	free(target);
	return err;
}

/* ---- one function ---------------------------------------------------------------------------- */

/* The code of a block, and which of its instructions are shown. */
struct extract {
	struct disassembler_code code;
	/* by byte of the code: 1 = an instruction begins here, 2 = and it is shown */
	uint8_t *begins;
};

static struct disassembler_code rest_of(const struct extract *extract, size_t at)
{
	return (struct disassembler_code){extract->code.bytes + at, extract->code.size - at,
					  extract->code.address + at};
}

static void find_instructions(const struct disassembly *disassembly, struct extract *extract)
{
	struct instruction instruction;

	for (size_t at = 0; at < extract->code.size; at += instruction.size) {
		const struct disassembler_code rest = rest_of(extract, at);
		disassembler_first(disassembly->machine.disassembler, &rest, &instruction);
		extract->begins[at] = 1;
	}
}

static void choose(struct extract *extract, uint64_t address)
{
	size_t at = address - extract->code.address, after = 0, before = 0;

	if (at >= extract->code.size)
		return;
	for (size_t next = at + 1; next < extract->code.size && after < ANNOTATED_CONTEXT; next++) {
		after += extract->begins[next] != 0;
		extract->begins[next] = extract->begins[next] ? 2 : 0;
	}
	for (at++; at-- > 0 && before <= ANNOTATED_CONTEXT;) {
		before += extract->begins[at] != 0;
		extract->begins[at] = extract->begins[at] ? 2 : 0;
	}
}

static int print_extract(struct disassembly *disassembly, const struct code_block *block,
			 const struct extract *extract)
{
	struct instruction instruction;
	bool is_gap = false;
	int err = 0;

	for (size_t at = 0; at < extract->code.size && !err; at++) {
		is_gap |= extract->begins[at] == 1;
		if (extract->begins[at] != 2)
			continue;
		if (is_gap)
			fprintf(disassembly->out, "%10s %10s %10s\n", "", "", "...");
		is_gap = false;
		const struct disassembler_code rest = rest_of(extract, at);
		disassembler_first(disassembly->machine.disassembler, &rest, &instruction);
		err = print_instruction(disassembly, block, &instruction);
	}
	return err;
}

static void print_addresses(const struct disassembly *disassembly, const struct code_block *block)
{
	for (size_t i = block->first_site; i < block->site_end; i++) {
		const struct code_site *site = &disassembly->sums.site[i];
		if (site->cum.samples <= 0)
			continue;
		annotated_figures(site->flat.value, site->cum.value, disassembly->options->type,
				  disassembly->out);
		fprintf(disassembly->out, " %10" PRIx64 ":\n", site->address);
	}
}

static int print_code(struct disassembly *disassembly, const struct code_block *block)
{
	const uint64_t wanted = block->end - block->begin;
	struct extract extract = {.code.address = block->begin};

	extract.code.bytes = machine_code_bytes(
		block->code, block->begin,
		wanted < FUNCTION_BYTES_MAX ? wanted : FUNCTION_BYTES_MAX, &extract.code.size);
	extract.begins = extract.code.bytes ? calloc(extract.code.size + 1, 1) : NULL;
	if (!extract.code.bytes) {
		code_text_no_bytes(block, disassembly->out);
		print_addresses(disassembly, block);
		return 0;
	}
	if (!extract.begins)
		return -ENOMEM;
	disassembly->line = 0;
	find_instructions(disassembly, &extract);
	for (size_t i = block->first_site; i < block->site_end; i++) {
		if (disassembly->sums.site[i].cum.samples > 0)
			choose(&extract, disassembly->sums.site[i].address);
	}
	const int err = print_extract(disassembly, block, &extract);
	if (extract.code.size < wanted)
		fprintf(disassembly->out, "shown up to 0x%" PRIx64 " of 0x%" PRIx64 "\n",
			block->begin + extract.code.size, block->end);
	free(extract.begins);
	return err;
}

static int print_block(struct disassembly *disassembly, const struct code_block *block)
{
	const struct code_site *site = &disassembly->sums.site[block->first_site];
	const struct profile_module *module =
		site->module < 0 ? NULL : &disassembly->profile->module[site->module];
	char *name = block->symbol ? demangle(block->symbol, false) : NULL;
	char place[PLACE_MAX + 32];
	int err = 0;

	if (name)
		printable(name);
	if (block->symbol)
		snprintf(place, sizeof(place), "%.*s at 0x%" PRIx64, (int)PLACE_MAX,
			 module && module->path ? module->path : "?", block->begin);
	else
		snprintf(place, sizeof(place), "%.*s", (int)PLACE_MAX,
			 module && module->path ? module->path : "no file");
	printable(place);
	annotated_head(name ? name : disassembly->functions.name[site->function], place,
		       &block->flat, &block->cum, &disassembly->total, disassembly->options,
		       disassembly->out);
	free(name);
	if (block->symbol)
		err = code_text_machine(&disassembly->machine, block->code, "disasm");
	if (err == -ENOTSUP)
		code_text_no_cpu(block->code, disassembly->out);
	else if (block->symbol && !err)
		return print_code(disassembly, block);
	else if (!block->symbol)
		code_text_missing(module, block, disassembly->out);
	print_addresses(disassembly, block);
	return err == -ENOTSUP ? 0 : err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Heaviest first. */
static int compare_blocks(const void *left, const void *right)
{
	const struct code_block *a = *(const struct code_block *const *)left,
				*b = *(const struct code_block *const *)right;

	if (a->cum.value != b->cum.value)
		return a->cum.value > b->cum.value ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int print_blocks(struct disassembly *disassembly)
{
	const struct code_sums *sums = &disassembly->sums;
	const struct code_block **order = malloc((sums->block_count + 1) * sizeof(*order));
	size_t count = 0;
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < sums->block_count && order; i++) {
		if (sums->block[i].cum.samples > 0)
			order[count++] = &sums->block[i];
	}
	if (!err) {
		qsort(order, count, sizeof(*order), compare_blocks);
		render_header(disassembly->profile, disassembly->options->type, &disassembly->total,
			      disassembly->out);
	}
	if (!err && count == 0)
		fprintf(disassembly->out,
			"Nothing to show: no sample of this type passes through a function that "
			"matches \"%s\".\n",
			disassembly->options->argument);
	const size_t limit = disassembly->options->limit, shown = limit ? limit : count;

	for (size_t i = 0; i < count && i < shown && !err; i++)
		err = print_block(disassembly, order[i]);
	free(order);
	return err;
}

int render_disasm(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct disassembly disassembly = {.profile = profile,
					  .options = options,
					  .total = estimate_total(profile, options->type),
					  .out = out};
	bool *wanted = NULL;
	int err = functions_open(profile, &disassembly.functions);

	if (err)
		return render_result(err, out);
	err = annotated_wanted("disasm", options->argument, &disassembly.functions, &wanted);
	const struct code_wish wish = {
		.function = wanted, .files = options->files, .type = options->type};
	if (!err)
		err = code_sums_open(profile, &disassembly.functions, &wish, &disassembly.sums);
	if (!err)
		err = print_blocks(&disassembly);
	code_sums_close(&disassembly.sums);
	disassembler_close(disassembly.machine.disassembler);
	source_text_close(&disassembly.text);
	free(disassembly.file);
	free(disassembly.name);
	functions_close(&disassembly.functions);
	free(wanted);
	return err && err != -ENOMEM ? err : render_result(err, out);
}
