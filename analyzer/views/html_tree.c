/* SPDX-License-Identifier: MIT */
/*
 * html_tree.c - see html_tree.h.
 */
#include "html_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"
#include "html_write.h"
#include "text_out.h"

#define UNNUMBERED UINT32_MAX

/* ---- JSON ------------------------------------------------------------------------------------ */

/*
 * Writes digits * 10^power as "12.34", or as "5e-7" where that is not longer than leading zeros
 * would be.
 */
static void write_scaled(uint32_t digits, int power, FILE *out)
{
	uint32_t unit = 1;

	for (int i = power; i < 0 && unit <= digits; i++)
		unit *= 10;
	if (power < 0 && unit <= digits) {
		text_count(digits / unit, out);
		putc('.', out);
		for (digits %= unit, unit /= 10; unit; digits %= unit, unit /= 10)
			putc((int)('0' + digits / unit), out);
		return;
	}
	text_count(digits, out);
	if (power > 2 || power < 0) {
		putc('e', out);
		text_number(power, out);
		return;
	}
	for (; power > 0; power--)
		putc('0', out);
}

/* Writes a value with four digits, enough for a deviation. */
static void write_short(double value, FILE *out)
{
	int power = 0;
	uint32_t digits;

	if (!(value > 0)) {
		putc('0', out);
		return;
	}
	for (value = fmin(value, 1e300); value >= 9999.5; power++)
		value /= 10;
	for (; value < 999.95 && power > -12; power--)
		value *= 10;
	for (digits = (uint32_t)lround(value); digits && digits % 10 == 0; power++)
		digits /= 10;
	write_scaled(digits, digits ? power : 0, out);
}

/* ---- strings --------------------------------------------------------------------------------- */

struct strings {
	const char **text;
	size_t count, room;
	struct table by_text;
};

static int string_number(struct strings *strings, const char *text, uint32_t *out_number)
{
	const uint64_t hash = hash_bytes(text, strlen(text));
	struct table_cursor cursor = table_seek(&strings->by_text, hash);

	while (table_next(&strings->by_text, &cursor, out_number)) {
		if (strcmp(strings->text[*out_number], text) == 0)
			return 0;
	}
	if (array_reserve(&strings->text, &strings->room, strings->count, sizeof(*strings->text)) ||
	    table_add(&strings->by_text, hash, (uint32_t)strings->count))
		return -ENOMEM;
	*out_number = (uint32_t)strings->count;
	strings->text[strings->count++] = text;
	return 0;
}

/* A function with the page's numbering, and the indices of its strings. */
struct function_record {
	uint32_t name, module, file;
};

struct writer {
	const struct calltree *tree;
	const struct html_nodes *nodes;
	FILE *out;
	struct strings strings;
	struct function_record *record;
	size_t record_count;
	uint32_t *number; /* by function of the tree: index into record[] */
};

static int add_function(struct writer *writer, uint32_t function)
{
	const struct calltree_place *place = &writer->tree->place[function];
	struct function_record *record = &writer->record[writer->record_count];

	if (writer->number[function] != UNNUMBERED)
		return 0;
	writer->number[function] = (uint32_t)writer->record_count++;
	return string_number(&writer->strings, writer->tree->functions.name[function],
			     &record->name) ||
			       string_number(&writer->strings,
					     place->module ? hi_base_name(place->module) : "",
					     &record->module) ||
			       string_number(&writer->strings, place->file ? place->file : "",
					     &record->file)
		       ? -ENOMEM
		       : 0;
}

static int number_functions(struct writer *writer)
{
	const struct calltree *tree = writer->tree;
	uint32_t empty;

	writer->record = calloc(tree->count + 1, sizeof(*writer->record));
	writer->number = malloc((tree->functions.count + 1) * sizeof(*writer->number));
	if (!writer->record || !writer->number || string_number(&writer->strings, "", &empty))
		return -ENOMEM;
	for (size_t i = 0; i < tree->functions.count; i++)
		writer->number[i] = UNNUMBERED;
	for (size_t i = 0; i < tree->count; i++) {
		if (tree->node[i].function < CALLTREE_OTHER &&
		    add_function(writer, tree->node[i].function))
			return -ENOMEM;
	}
	return 0;
}

static void write_functions(const struct writer *writer)
{
	static const char *const column[] = {"name", "module", "file"};
	FILE *out = writer->out;

	fputs("\"names\":[", out);
	for (size_t i = 0; i < writer->strings.count; i++) {
		fputs(i ? ",\n" : "", out);
		html_write_text(writer->strings.text[i], out);
	}
	fputs("],\n\"functions\":{", out);
	for (size_t c = 0; c < 3; c++) {
		fprintf(out, "%s\"%s\":[", c ? ",\n" : "", column[c]);
		for (size_t i = 0; i < writer->record_count; i++) {
			const struct function_record *record = &writer->record[i];
			fprintf(out, "%s%" PRIu32, i ? "," : "",
				c == 0   ? record->name
				: c == 1 ? record->module
					 : record->file);
		}
		fputc(']', out);
	}
	fputs("},\n", out);
}

/* ---- the tree -------------------------------------------------------------------------------- */

enum quantity { SELF_NEW, SELF_BASE, DEVIATION, UNIT };

/*
 * Writes whole numbers whose sums are right. Each number is the difference between two successive
 * rounded running sums. A node and its subtree are adjacent, so the sum of their numbers differs
 * from the true sum by at most 1, however many they are.
 */
static void write_sums(const struct writer *writer, int type, enum quantity quantity)
{
	double sum = 0, rounded = 0;

	for (size_t i = 0; i < writer->tree->count; i++) {
		const struct estimate *self = &writer->tree->node[i].self[type];
		const double before = rounded;

		sum += quantity == SELF_BASE ? self->base : fmax(self->value + self->base, 0);
		rounded = round(sum);
		if (i)
			putc(',', writer->out);
		text_number(text_whole(rounded - before), writer->out);
	}
}

static void write_spread(const struct writer *writer, int type, enum quantity quantity)
{
	for (size_t i = 0; i < writer->tree->count; i++) {
		const struct estimate *self = &writer->tree->node[i].self[type];

		if (i)
			putc(',', writer->out);
		write_short(quantity == DEVIATION ? sqrt(fmax(self->variance, 0)) : self->unit,
			    writer->out);
	}
}

static void write_quantity(const struct writer *writer, const char *name, enum quantity quantity)
{
	fprintf(writer->out, ",\n\"%s\":[", name);
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++) {
		fputs(type ? ",\n[" : "[", writer->out);
		if (quantity == SELF_NEW || quantity == SELF_BASE)
			write_sums(writer, type, quantity);
		else
			write_spread(writer, type, quantity);
		fputc(']', writer->out);
	}
	fputc(']', writer->out);
}

static bool is_exact(const struct calltree *tree)
{
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++) {
		const struct estimate *total = &tree->node[0].total[type];
		if (total->variance > 0 || total->unit > 0)
			return false;
	}
	return true;
}

/* The line in which each node calls the next one, or allocates. */
static void write_lines(const struct writer *writer)
{
	fputs(",\n\"line\":[", writer->out);
	for (size_t i = 0; i < writer->tree->count; i++) {
		if (i)
			putc(',', writer->out);
		text_count(writer->nodes->line[i], writer->out);
	}
	putc(']', writer->out);
}

static void write_folded(const struct writer *writer)
{
	const char *before = "";

	fputs(",\n\"folded\":[", writer->out);
	for (size_t i = 1; i < writer->tree->count; i++) {
		if (writer->nodes->is_kept[i] || writer->tree->node[i].function >= CALLTREE_OTHER)
			continue;
		fprintf(writer->out, "%s%zu", before, i);
		before = ",";
	}
	putc(']', writer->out);
}

static void write_nodes(const struct writer *writer, bool is_comparison)
{
	const struct calltree *tree = writer->tree;
	FILE *out = writer->out;

	fputs("\"nodes\":{\"function\":[", out);
	for (size_t i = 0; i < tree->count; i++) {
		const uint32_t function = tree->node[i].function;

		if (i)
			putc(',', out);
		text_number(function == CALLTREE_ROOT    ? -1
			    : function == CALLTREE_OTHER ? -2
							 : (int64_t)writer->number[function],
			    out);
	}
	fputs("],\n\"depth\":[", out);
	for (size_t i = 0; i < tree->count; i++) {
		if (i)
			putc(',', out);
		text_count(tree->node[i].depth, out);
	}
	fputc(']', out);
	write_lines(writer);
	write_folded(writer);
	write_quantity(writer, "self", SELF_NEW);
	if (is_comparison)
		write_quantity(writer, "base", SELF_BASE);
	if (!is_exact(tree)) {
		write_quantity(writer, "deviation", DEVIATION);
		write_quantity(writer, "unit", UNIT);
	}
	fputs("},\n", out);
}

int html_tree_write(const struct calltree *tree, const struct html_nodes *nodes, bool is_comparison,
		    FILE *out)
{
	struct writer writer = {.tree = tree, .nodes = nodes, .out = out};
	const int err = number_functions(&writer);

	if (!err) {
		write_functions(&writer);
		write_nodes(&writer, is_comparison);
	}
	free(writer.strings.text);
	table_close(&writer.strings.by_text);
	free(writer.record);
	free(writer.number);
	return err;
}
