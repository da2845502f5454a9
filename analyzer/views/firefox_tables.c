/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.c - see firefox_tables.h.
 *
 * Functions keep their numbers, and so do frames, which are calls; the last of each stands for
 * unknown stacks. Strings are the names of the functions, and then their files.
 */
#include "firefox_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "render_formats.h"
#include "text_out.h"

void firefox_constant(const char *name, const char *value, size_t count, FILE *out)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, i ? ",%s" : "%s", value);
	fputs("],\n", out);
}

void firefox_tables_strings(const struct firefox_tables *tables, FILE *out)
{
	const struct functions *functions = &tables->sums.functions;

	fputs("\"shared\":{\"stringArray\":[\n", out);
	for (size_t i = 0; i < functions->count; i++) {
		text_json(functions->name[i], out);
		fputs(",\n", out);
	}
	fputs("\"" RENDER_UNKNOWN "\"", out);
	for (size_t i = 0; i < functions->count; i++) {
		fputs(",\n", out);
		text_json(tables->sums.file[i] ? tables->sums.file[i] : "", out);
	}
	fputs("]},\n", out);
}

static void print_functions(const struct firefox_tables *tables, FILE *out)
{
	const size_t known = tables->sums.functions.count, count = known + 1;

	fputs("\"funcTable\":{\"name\":[0", out);
	for (size_t i = 1; i < count; i++)
		fprintf(out, ",%zu", i);
	fputs("],\n\"fileName\":[", out);
	for (size_t i = 0; i < known; i++) {
		if (tables->sums.file[i])
			fprintf(out, "%zu,", count + i);
		else
			fputs("null,", out);
	}
	fputs("null],\n", out);
	firefox_constant("isJS", "false", count, out);
	firefox_constant("relevantForJS", "false", count, out);
	firefox_constant("resource", "-1", count, out);
	firefox_constant("lineNumber", "null", count, out);
	firefox_constant("columnNumber", "null", count, out);
	fprintf(out, "\"length\":%zu},\n", count);
}

/* The calls of one address follow each other, the innermost first. */
static size_t inline_depth(const struct firefox_tables *tables, size_t call)
{
	size_t depth = 0;

	while (tables->sums.functions.call[call + depth].is_inline)
		depth++;
	return depth;
}

static void print_frames(const struct firefox_tables *tables, FILE *out)
{
	const struct function_call *call = tables->sums.functions.call;
	const size_t count = tables->calls + 1;

	fputs("\"frameTable\":{\"func\":[", out);
	for (size_t i = 0; i < tables->calls; i++)
		fprintf(out, "%" PRIu32 ",", call[i].function);
	fprintf(out, "%zu],\n\"line\":[", tables->sums.functions.count);
	for (size_t i = 0; i < tables->calls; i++) {
		if (call[i].line)
			fprintf(out, "%" PRIu32 ",", call[i].line);
		else
			fputs("null,", out);
	}
	fputs("null],\n\"inlineDepth\":[", out);
	for (size_t i = 0; i < tables->calls; i++)
		fprintf(out, "%zu,", inline_depth(tables, i));
	fputs("0],\n", out);
	firefox_constant("address", "-1", count, out);
	firefox_constant("category", "0", count, out);
	firefox_constant("subcategory", "0", count, out);
	firefox_constant("nativeSymbol", "null", count, out);
	firefox_constant("innerWindowID", "null", count, out);
	firefox_constant("column", "null", count, out);
	fprintf(out, "\"length\":%zu},\n", count);
}

static size_t steps_in_common(const struct stack_sum *a, const struct stack_sum *b)
{
	size_t count = 0;

	while (count < a->count && count < b->count && a->step[count] == b->step[count])
		count++;
	return count;
}

enum tree_column { TREE_FRAMES, TREE_PREFIXES };

/*
 * The stacks are sorted, so each one goes on where it parts from the one before, whose nodes path[]
 * has. Returns the number of nodes.
 */
static uint32_t print_tree(struct firefox_tables *tables, enum tree_column column, FILE *out)
{
	const struct stack_sums *sums = &tables->sums;
	const uint32_t unknown = (uint32_t)tables->calls;
	uint32_t nodes = 0;

	for (size_t i = 0; i < sums->count; i++) {
		const struct stack_sum *sum = &sums->sum[i];
		const uint32_t *steps = sum->count ? sum->step : &unknown;
		const size_t count = sum->count ? sum->count : 1;

		for (size_t k = i ? steps_in_common(&sums->sum[i - 1], sum) : 0; k < count; k++) {
			if (nodes)
				putc(',', out);
			if (column == TREE_FRAMES)
				fprintf(out, "%" PRIu32, steps[k]);
			else if (k)
				fprintf(out, "%" PRIu32, tables->path[k - 1]);
			else
				fputs("null", out);
			tables->path[k] = nodes++;
		}
		tables->node_of[i] = tables->path[count - 1];
	}
	return nodes;
}

static void print_stacks(struct firefox_tables *tables, FILE *out)
{
	fputs("\"stackTable\":{\"frame\":[", out);
	print_tree(tables, TREE_FRAMES, out);
	fputs("],\n\"prefix\":[", out);
	const uint32_t nodes = print_tree(tables, TREE_PREFIXES, out);
	fprintf(out, "],\n\"length\":%" PRIu32 "},\n", nodes);
}

void firefox_tables_rest(struct firefox_tables *tables, FILE *out)
{
	print_functions(tables, out);
	print_frames(tables, out);
	print_stacks(tables, out);
	fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
	      "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\n",
	      out);
}

int firefox_tables_open(struct firefox_tables *tables, const struct profile *profile)
{
	const int err = stack_sums_open(profile, STEPS_BY_CALL, STEPS_ROOT_FIRST, &tables->sums);

	if (err)
		return err;
	tables->profile = profile;
	tables->calls = tables->sums.functions.first[profile->frame_count];
	tables->node_of = calloc(tables->sums.count + 1, sizeof(*tables->node_of));
	tables->path = calloc(functions_stack_bound(&tables->sums.functions, profile) + 1,
			      sizeof(*tables->path));
	if (tables->node_of && tables->path)
		return 0;
	firefox_tables_close(tables);
	return -ENOMEM;
}

void firefox_tables_close(struct firefox_tables *tables)
{
	free(tables->node_of);
	free(tables->path);
	stack_sums_close(&tables->sums);
	*tables = (struct firefox_tables){0};
}
