/* SPDX-License-Identifier: MIT */
/*
 * render_list.c - the source of some functions, each line with its weight, in the format of pprof
 * -list. Start at render_list().
 *
 * A function has one part for each file that its lines are in. Source between lines with figures
 * that are far apart is left out.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "callgraph.h"
#include "render_annotated.h"
#include "render_header.h"
#include "source_lines.h"
#include "text_equal.h"

struct listing {
	const struct profile *profile;
	const struct render_options *options;
	struct callgraph graph;
	struct source_lines lines;
	FILE *out;
};

/* Lines [first, end) of one function in one file. */
struct list_part {
	size_t first, end;
	struct estimate flat, cum;
};

/* ---- one file of a function ------------------------------------------------------------------ */

static void print_line(const struct listing *listing, const struct source_line *line,
		       uint32_t number, const struct source_text *text)
{
	char *words = source_text_line(text, number);

	annotated_figures(line ? line->flat.value : 0, line ? line->cum.value : 0,
			  listing->options->type, listing->out);
	fprintf(listing->out, " %6" PRIu32 ":%s\n", number, words ? words : "");
	free(words);
}

/*
 * Prints the source from ANNOTATED_CONTEXT lines before the first line with figures to as many
 * after the last one.
 */
static void print_source(const struct listing *listing, const struct list_part *part,
			 const struct source_text *text)
{
	const struct source_line *lines = listing->lines.line;
	uint32_t next = 0;

	for (size_t i = part->first; i < part->end; i++) {
		const uint32_t number = lines[i].line,
			       before = number > ANNOTATED_CONTEXT ? number - ANNOTATED_CONTEXT : 1;
		if (next && before > next)
			fprintf(listing->out, "%10s %10s %6s\n", "", "", "...");
		for (uint32_t context = next > before ? next : before;
		     context < number && context <= text->count; context++)
			print_line(listing, NULL, context, text);
		print_line(listing, &lines[i], number, text);
		next = number + 1;
		for (; i + 1 < part->end
			       ? next < lines[i + 1].line && next <= number + ANNOTATED_CONTEXT
			       : next <= number + ANNOTATED_CONTEXT;
		     next++) {
			if (next <= text->count)
				print_line(listing, NULL, next, text);
		}
	}
}

static void print_numbers(const struct listing *listing, const struct list_part *part)
{
	for (size_t i = part->first; i < part->end; i++) {
		const struct source_line *line = &listing->lines.line[i];
		annotated_figures(line->flat.value, line->cum.value, listing->options->type,
				  listing->out);
		if (line->line)
			fprintf(listing->out, " %6" PRIu32 ":\n", line->line);
		else
			fprintf(listing->out, " %6s:\n", "?");
	}
}

/* At most one entry has no line number, and it is the first of the part. */
static void print_found(const struct listing *listing, struct list_part part,
			const struct source_text *text)
{
	const struct source_line *last = &listing->lines.line[part.end - 1];

	if (text->modified_unix_ns > listing->profile->meta.start_unix_ns &&
	    listing->profile->meta.start_unix_ns)
		fprintf(listing->out,
			"%s has changed since the profile was taken: lines may have moved\n",
			text->path);
	else if (last->line > text->count)
		fprintf(listing->out, "%s has %zu lines: it is not the file that was compiled\n",
			text->path, text->count);
	if (listing->lines.line[part.first].line == 0) {
		print_numbers(listing,
			      &(struct list_part){.first = part.first, .end = part.first + 1});
		part.first++;
	}
	print_source(listing, &part, text);
}

static int print_part(const struct listing *listing, const struct list_part *part)
{
	const struct source_line *line = &listing->lines.line[part->first];
	const struct source_places places =
		annotated_places(listing->options, listing->profile, line->module);
	struct source_text text;
	const int err = line->file ? source_text_open(&places, line->file, &text) : -ENOENT;

	annotated_head(listing->graph.node[line->function].name,
		       line->file ? line->file : "an unknown file", &part->flat, &part->cum,
		       &listing->graph.total, listing->options, listing->out);
	if (!err) {
		print_found(listing, *part, &text);
		source_text_close(&text);
		return 0;
	}
	if (err == -ENOMEM)
		return err;
	char *sought = line->file ? source_text_sought(&places, line->file) : NULL;
	fprintf(listing->out, "%s\n",
		sought ? sought
		       : "no source: nothing is known of lines here (no debug information)");
	free(sought);
	print_numbers(listing, part);
	return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/*
 * If all lines of a function are in one file, its figures are those of the other views: a stack
 * counts once. If they are in several files, each part has the sums over its lines, in which a
 * stack may count more than once.
 */
static struct list_part next_part(const struct listing *listing, size_t first)
{
	const struct source_lines *lines = &listing->lines;
	const struct source_line *line = &lines->line[first];
	struct list_part part = {.first = first, .end = first};

	for (; part.end < lines->count && lines->line[part.end].function == line->function;
	     part.end++) {
		const char *file = lines->line[part.end].file;
		if (!text_equal(file, line->file))
			break;
		estimate_add(&part.flat, &lines->line[part.end].flat);
		estimate_add(&part.cum, &lines->line[part.end].cum);
	}
	const bool starts = first == 0 || lines->line[first - 1].function != line->function;
	const bool ends =
		part.end == lines->count || lines->line[part.end].function != line->function;
	if (starts && ends) {
		part.flat = listing->graph.node[line->function].flat;
		part.cum = listing->graph.node[line->function].cum;
	}
	return part;
}

/* Heaviest first; equal parts in their order in the array. */
static int compare_parts(const void *left, const void *right)
{
	const struct list_part *a = left, *b = right;

	if (a->cum.value != b->cum.value)
		return a->cum.value > b->cum.value ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int print_parts(const struct listing *listing)
{
	struct list_part *part = malloc((listing->lines.count + 1) * sizeof(*part));
	size_t count = 0;
	int err = part ? 0 : -ENOMEM;

	for (size_t first = 0; part && first < listing->lines.count; first = part[count++].end)
		part[count] = next_part(listing, first);
	if (part) {
		qsort(part, count, sizeof(*part), compare_parts);
		render_header(listing->profile, listing->options->type, &listing->graph.total,
			      listing->out);
	}
	if (part && count == 0)
		fprintf(listing->out,
			"Nothing to show: no sample of this type passes through a function that "
			"matches \"%s\".\n",
			listing->options->argument);
	for (size_t i = 0; i < count && !err; i++)
		err = print_part(listing, &part[i]);
	free(part);
	return err;
}

int render_list(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct listing listing = {.profile = profile, .options = options, .out = out};
	bool *wanted = NULL;
	int err = callgraph_build(profile, options->type, NULL, &listing.graph);

	if (err)
		return render_result(err, out);
	err = annotated_wanted("list", options->argument, &listing.graph.functions, &wanted);
	const bool is_reported = err && err != -ENOMEM;
	if (!err)
		err = source_lines_sum(profile, &listing.graph.functions, options->type, wanted,
				       &listing.lines);
	if (!err)
		err = print_parts(&listing);
	source_lines_close(&listing.lines);
	callgraph_close(&listing.graph);
	free(wanted);
	return is_reported ? err : render_result(err, out);
}
