/* SPDX-License-Identifier: MIT */
/*
 * code_lines.c - see code_lines.h. The debug information is asked instruction by instruction. Most
 * have the calls of the one before, whose files and functions are then not looked up again.
 */
#include "code_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

#define UNKNOWN UINT32_MAX

/* The last call that was looked up at one depth of inlining, and what came of it. */
struct known_call {
	struct dwarf_call call;
	uint32_t function; /* UNKNOWN = none that is wanted */
	const char *file;
};
struct adding {
	struct code_lines *lines;
	const struct code_lines_wish *wish;
	const struct code_block *block;
	uint32_t owner;
	struct known_call known[DWARF_CALLS_MAX]; /* by depth, the owner first */
};

/* ---- files and functions --------------------------------------------------------------------- */

static int intern(struct code_lines *lines, char *path, const char **out_file)
{
	for (size_t i = lines->file_count; i-- > 0;) {
		if (strcmp(lines->file[i], path) == 0) {
			*out_file = lines->file[i];
			free(path);
			return 0;
		}
	}
	if (array_reserve(&lines->file, &lines->file_room, lines->file_count,
			  sizeof(*lines->file))) {
		free(path);
		return -ENOMEM;
	}
	*out_file = lines->file[lines->file_count++] = path;
	return 0;
}

static int find_file(struct adding *adding, struct known_call *known)
{
	const struct code_lines_wish *wish = adding->wish;
	char *path;

	known->file = NULL;
	if (!known->call.file)
		return 0;
	path = dwarf_call_path(&known->call);
	if (!path)
		return -ENOMEM;
	printable(path);
	if (wish->trim)
		wish->trim(path, wish->trim_context);
	return intern(adding->lines, path, &known->file);
}

static int find_function(const struct adding *adding, struct known_call *known)
{
	const struct functions *functions = adding->wish->functions;
	char *name = known->call.name ? dwarf_call_name(&known->call, false) : NULL;

	known->function = UNKNOWN;
	if (!known->call.name)
		return 0;
	if (!name)
		return -ENOMEM;
	printable(name);
	for (uint32_t i = 0; i < functions->count && known->function == UNKNOWN; i++) {
		if (adding->wish->wanted[i] && strcmp(functions->name[i], name) == 0)
			known->function = i;
	}
	free(name);
	return 0;
}

static bool is_same(const struct dwarf_call *a, const struct dwarf_call *b)
{
	return a->name == b->name && a->file == b->file && a->directory == b->directory;
}

/* depth: 0 = the owner of the code. */
static int know(struct adding *adding, const struct dwarf_call *call, size_t depth)
{
	struct known_call *known = &adding->known[depth];
	const bool is_known = is_same(&known->call, call) && call->name;

	known->call = *call;
	if (is_known)
		return 0;
	if (depth == 0)
		known->function = adding->wish->wanted[adding->owner] ? adding->owner : UNKNOWN;
	else if (find_function(adding, known))
		return -ENOMEM;
	return find_file(adding, known);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static int add_line(struct adding *adding, const struct code_line *line)
{
	struct code_lines *lines = adding->lines;

	if (lines->count == CODE_LINES_MAX) {
		lines->is_cut = true;
		return 0;
	}
	if (array_reserve(&lines->at, &lines->room, lines->count, sizeof(*lines->at)))
		return -ENOMEM;
	lines->at[lines->count++] = *line;
	return 0;
}

/* Adds an instruction at the line of each call of a wanted function. */
static int add_calls(struct adding *adding, struct code_line line, size_t count)
{
	const struct known_call *innermost = &adding->known[count - 1];

	for (size_t depth = 0; depth < count; depth++) {
		const struct known_call *known = &adding->known[depth];
		const bool is_inlined = depth < count - 1;

		if (known->function == UNKNOWN)
			continue;
		line.function = known->function;
		line.file = known->file;
		line.line = known->file ? known->call.line : 0;
		line.inlined_file = is_inlined ? innermost->file : NULL;
		line.inlined_line = is_inlined ? innermost->call.line : 0;
		if (add_line(adding, &line))
			return -ENOMEM;
	}
	return 0;
}

static int add_instruction(struct adding *adding, const struct instruction *instruction)
{
	struct dwarf_lines *debug = adding->block->code->names.lines;
	struct dwarf_call calls[DWARF_CALLS_MAX] = {{0}};
	size_t count = 1;
	int err = debug ? dwarf_lines_find(debug, instruction->address, calls, &count) : -ENOENT;

	if (err == -ENOENT) {
		calls[0] = (struct dwarf_call){0};
		count = 1;
		err = 0;
	}
	for (size_t i = 0; i < count && !err; i++)
		err = know(adding, &calls[i], count - 1 - i);
	return err ? err
		   : add_calls(adding,
			       (struct code_line){.block = adding->block,
						  .address = instruction->address,
						  .size = instruction->size},
			       count);
}

int code_lines_add(struct code_lines *lines, const struct code_lines_wish *wish,
		   const struct disassembler *disassembler, const struct code_sums *sums,
		   const struct code_block *block)
{
	struct adding adding = {.lines = lines,
				.wish = wish,
				.block = block,
				.owner = sums->site[block->first_site].function};
	const uint64_t size = block->end - block->begin;
	struct disassembler_code rest = {.address = block->begin};
	struct instruction instruction;
	int err = 0;

	rest.bytes = machine_code_bytes(block->code, block->begin,
					size < CODE_LINES_BYTES_MAX ? size : CODE_LINES_BYTES_MAX,
					&rest.size);
	if (!rest.bytes)
		return -ENODATA;
	lines->is_cut |= rest.size < size;
	while (rest.size && !err && lines->count < CODE_LINES_MAX) {
		disassembler_first(disassembler, &rest, &instruction);
		err = add_instruction(&adding, &instruction);
		rest.bytes += instruction.size;
		rest.size -= instruction.size;
		rest.address += instruction.size;
	}
	lines->is_cut |= rest.size > 0;
	return err;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_files(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare(const void *left, const void *right)
{
	const struct code_line *a = left, *b = right;
	int order;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	order = compare_files(a->file, b->file);
	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

void code_lines_sort(struct code_lines *lines)
{
	if (lines->count)
		qsort(lines->at, lines->count, sizeof(*lines->at), compare);
}

static bool is_before(const struct code_line *line, uint32_t function, const char *file)
{
	return line->function != function ? line->function < function
					  : compare_files(line->file, file) < 0;
}

size_t code_lines_of(const struct code_lines *lines, uint32_t function, const char *file,
		     size_t *out_end)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (is_before(&lines->at[middle], function, file))
			low = middle + 1;
		else
			high = middle;
	}
	for (*out_end = low; *out_end < lines->count && lines->at[*out_end].function == function &&
			     compare_files(lines->at[*out_end].file, file) == 0;)
		++*out_end;
	return low;
}

void code_lines_close(struct code_lines *lines)
{
	for (size_t i = 0; i < lines->file_count; i++)
		free(lines->file[i]);
	free(lines->file);
	free(lines->at);
	*lines = (struct code_lines){0};
}
