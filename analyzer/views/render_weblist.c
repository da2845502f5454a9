/* SPDX-License-Identifier: MIT */
/*
 * render_weblist.c - the source of some functions as an HTML page, each line with its weight, as
 * pprof -weblist: a line unfolds into its instructions. Start at render_weblist().
 *
 * Figures of lines are those of --list, figures of instructions those of --disasm. The page needs
 * nothing but itself: lines unfold without a script, which only unfolds all of them at once.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "hi_path.h"
#include "hi_units.h"
#include "html_page.h"
#include "html_write.h"
#include "printable.h"
#include "render_annotated.h"
#include "render_header.h"
#include "source_lines.h"
#include "text_equal.h"
#include "weblist_code.h"

#define BODY "@BODY@"

struct weblist {
	const struct profile *profile;
	const struct render_options *options;
	struct callgraph graph;
	struct source_lines lines;
	struct weblist_code code;
	FILE *out;
};

/* One function in one file: lines [first, end) with figures, and the instructions from there. */
struct listed_part {
	size_t first, end, code, code_end;
	struct estimate flat, cum;
};

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_figures(const struct weblist *weblist, double flat, double cum)
{
	annotated_figures(flat, cum, weblist->options->type, weblist->out);
}

static void put_element(const struct weblist *weblist, const char *open, const char *text,
			const char *close)
{
	char *clean = strdup(text);

	if (clean)
		printable(clean);
	fputs(open, weblist->out);
	html_write_markup(clean ? clean : "", weblist->out);
	fputs(close, weblist->out);
	free(clean);
}

/* ---- one line -------------------------------------------------------------------------------- */

/* Prints an instruction. The innermost inlined call has the flat weight, as the lines have it. */
static void put_instruction(const struct weblist *weblist, const struct code_line *line)
{
	struct disassembler_code code = {.address = line->address};
	struct instruction instruction;
	struct code_weight flat, cum;
	char *target;

	code.bytes = machine_code_bytes(line->block->code, line->address, line->size, &code.size);
	if (!code.bytes || !code.size)
		return;
	disassembler_first(weblist->code.machine.disassembler, &code, &instruction);
	code_sums_at(&weblist->code.sums, line->block, line->address, line->size, &flat, &cum);
	put_figures(weblist, line->inlined_file ? 0 : flat.value, cum.value);
	fprintf(weblist->out, " %10" PRIx64 ": ", line->address);
	put_element(weblist, cum.samples > 0 ? "<b>" : "", instruction.text,
		    cum.samples > 0 ? "</b>" : "");
	target = code_text_target(line->block->code, instruction.target);
	if (target)
		put_element(weblist, "  ", target, "");
	free(target);
	if (line->inlined_file) {
		put_element(weblist, "  ", hi_base_name(line->inlined_file), "");
		fprintf(weblist->out, ":%" PRIu32, line->inlined_line);
	}
	fputc('\n', weblist->out);
}

/* The instructions [first, end) are those of the line, and change their machine with the block. */
static int put_instructions(struct weblist *weblist, size_t first, size_t end)
{
	const struct code_line *at = weblist->code.lines.at;
	int err = 0;

	fputs("<pre>", weblist->out);
	for (size_t i = first; i < end && !err; i++) {
		if (i > first && (at[i].block != at[i - 1].block ||
				  at[i].address > at[i - 1].address + at[i - 1].size))
			fprintf(weblist->out, "%10s %10s %10s\n", "", "", "...");
		err = code_text_machine(&weblist->code.machine, at[i].block->code, "weblist");
		if (!err)
			put_instruction(weblist, &at[i]);
	}
	fputs("</pre></details>\n", weblist->out);
	return err;
}

static int put_line(struct weblist *weblist, uint32_t number, const struct source_line *line,
		    const struct source_text *text, size_t code, size_t code_end)
{
	const bool unfolds = code_end > code;
	char *words = source_text_line(text, number);

	fprintf(weblist->out, "%s%s>", unfolds ? "<details><summary" : "<div",
		line ? " class=\"has\"" : "");
	put_figures(weblist, line ? line->flat.value : 0, line ? line->cum.value : 0);
	if (number)
		fprintf(weblist->out, " %6" PRIu32 ":", number);
	else
		fprintf(weblist->out, " %6s:", "?");
	put_element(weblist, "", words ? words : number ? "" : "code without a line", "");
	fputs(unfolds ? "</summary>" : "</div>\n", weblist->out);
	free(words);
	return unfolds ? put_instructions(weblist, code, code_end) : 0;
}

/* ---- one function in one file ---------------------------------------------------------------- */

/* Where in a part the writer is. */
struct place {
	size_t line, code; /* the next one with figures, the next instruction */
};

/* The next line that has figures or instructions; UINT32_MAX = there is none. */
static uint32_t next_number(const struct weblist *weblist, const struct listed_part *part,
			    const struct place *place)
{
	uint32_t number = UINT32_MAX;

	if (place->line < part->end)
		number = weblist->lines.line[place->line].line;
	if (place->code < part->code_end && weblist->code.lines.at[place->code].line < number)
		number = weblist->code.lines.at[place->code].line;
	return number;
}

/* Writes the line, and moves the place behind it. */
static int put_next(struct weblist *weblist, const struct listed_part *part, uint32_t number,
		    const struct source_text *text, struct place *place)
{
	const struct source_line *line = NULL;
	const size_t code = place->code;

	if (place->line < part->end && weblist->lines.line[place->line].line == number)
		line = &weblist->lines.line[place->line++];
	while (place->code < part->code_end && weblist->code.lines.at[place->code].line == number)
		place->code++;
	return put_line(weblist, number, line, text, code, place->code);
}

static int put_lines(struct weblist *weblist, const struct listed_part *part,
		     const struct source_text *text)
{
	struct place place = {.line = part->first, .code = part->code};
	uint32_t number, next = 0;
	int err = 0;

	while (!err && (number = next_number(weblist, part, &place)) != UINT32_MAX) {
		const uint32_t before = number > ANNOTATED_CONTEXT ? number - ANNOTATED_CONTEXT : 1;

		if (next && before > next)
			fprintf(weblist->out, "<div>%10s %10s %6s</div>\n", "", "", "...");
		for (uint32_t at = next > before ? next : before; at < number && at <= text->count;
		     at++)
			err = err ? err : put_line(weblist, at, NULL, text, 0, 0);
		err = err ? err : put_next(weblist, part, number, text, &place);
		next = number + 1;
		number = next_number(weblist, part, &place);
		for (uint32_t last = next + ANNOTATED_CONTEXT;
		     next > 1 && next < last && next < number && next <= text->count; next++)
			err = err ? err : put_line(weblist, next, NULL, text, 0, 0);
	}
	return err;
}

/* Says why the text is not that of the program, or why there is none. */
static void put_doubt(const struct weblist *weblist, const struct listed_part *part,
		      const struct source_places *places, const struct source_text *text)
{
	const struct source_line *line = &weblist->lines.line[part->first];
	const uint64_t start = weblist->profile->meta.start_unix_ns;
	char *sought = NULL;
	const char *doubt = NULL;

	if (!text->count) {
		sought = line->file ? source_text_sought(places, line->file) : NULL;
		doubt = sought ? sought : "no source: nothing is known of lines here";
	} else if (start && text->modified_unix_ns > start) {
		doubt = "The file has changed since the profile was taken: lines may have moved.";
	} else if (weblist->lines.line[part->end - 1].line > text->count) {
		doubt = "The file is shorter than that which was compiled.";
	}
	if (doubt)
		put_element(weblist, "<p>", doubt, "</p>\n");
	free(sought);
}

static int put_part(struct weblist *weblist, const struct listed_part *part)
{
	const struct source_line *line = &weblist->lines.line[part->first];
	const struct source_places places =
		annotated_places(weblist->options, weblist->profile, line->module);
	struct source_text text = {0};
	char percent[HI_UNITS_TEXT_MAX];
	int err = line->file ? source_text_open(&places, line->file, &text) : -ENOENT;

	if (err == -ENOMEM)
		return err;
	put_element(weblist, "<section>\n<h2>", weblist->graph.node[line->function].name,
		    "</h2>\n");
	put_element(weblist, "<p class=\"where\">", line->file ? line->file : "an unknown file",
		    "</p>\n<p>");
	put_figures(weblist, part->flat.value, part->cum.value);
	render_percent(part->cum.value, weblist->graph.total.value, percent);
	fprintf(weblist->out, " (flat, cum) %s of Total</p>\n", percent + strspn(percent, " "));
	put_doubt(weblist, part, &places, &text);
	fputs("<div class=\"code\" tabindex=\"0\">\n", weblist->out);
	err = put_lines(weblist, part, &text);
	fputs("</div>\n</section>\n", weblist->out);
	if (text.count)
		source_text_close(&text);
	return err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Figures as in --list: those of the function, if all of its lines are in one file. */
static struct listed_part next_part(const struct weblist *weblist, size_t first)
{
	const struct source_line *line = weblist->lines.line;
	const size_t count = weblist->lines.count;
	const uint32_t function = line[first].function;
	struct listed_part part = {.first = first, .end = first};

	for (; part.end < count && line[part.end].function == function &&
	       text_equal(line[part.end].file, line[first].file);
	     part.end++) {
		estimate_add(&part.flat, &line[part.end].flat);
		estimate_add(&part.cum, &line[part.end].cum);
	}
	if ((first == 0 || line[first - 1].function != function) &&
	    (part.end == count || line[part.end].function != function)) {
		part.flat = weblist->graph.node[function].flat;
		part.cum = weblist->graph.node[function].cum;
	}
	part.code = code_lines_of(&weblist->code.lines, function, line[first].file, &part.code_end);
	return part;
}

/* Heaviest first. */
static int compare_parts(const void *left, const void *right)
{
	const struct listed_part *a = left, *b = right;

	if (a->cum.value != b->cum.value)
		return a->cum.value > b->cum.value ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static void put_top(const struct weblist *weblist)
{
	char *text = NULL, *line, *rest;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory) {
		render_header(weblist->profile, weblist->options->type, &weblist->graph.total,
			      memory);
		fclose(memory);
	}
	put_element(weblist, "<h1>", weblist->options->argument, "</h1>\n");
	fputs("<pre class=\"head\" tabindex=\"0\">", weblist->out);
	html_write_markup(text ? text : "", weblist->out);
	fputs("</pre>\n<p id=\"buttons\"></p>\n<ul>\n", weblist->out);
	free(text);
	for (rest = weblist->code.notes; (line = strsep(&rest, "\n"));) {
		if (*line)
			put_element(weblist, "<li>", line, "</li>\n");
	}
	if (weblist->code.lines.is_cut)
		fputs("<li>There are more instructions than are shown.</li>\n", weblist->out);
	fputs("</ul>\n", weblist->out);
	if (!weblist->lines.count)
		fputs("<p>No sample of this type passes through these functions.</p>\n",
		      weblist->out);
}

static int put_body(struct weblist *weblist)
{
	const size_t count = weblist->lines.count;
	struct listed_part *part = malloc((count + 1) * sizeof(*part));
	size_t parts = 0;
	int err = part ? 0 : -ENOMEM;

	for (size_t first = 0; part && first < count; first = part[parts++].end)
		part[parts] = next_part(weblist, first);
	if (part)
		qsort(part, parts, sizeof(*part), compare_parts);
	if (part)
		put_top(weblist);
	for (size_t i = 0; i < parts && !err; i++)
		err = put_part(weblist, &part[i]);
	free(part);
	return err;
}

static int put_page(struct weblist *weblist)
{
	const char *body = strstr(hi_html_weblist, BODY);
	int err;

	fwrite(hi_html_weblist, 1, (size_t)(body - hi_html_weblist), weblist->out);
	err = put_body(weblist);
	fputs(body + strlen(BODY), weblist->out);
	return err;
}

int render_weblist(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct weblist weblist = {.profile = profile, .options = options, .out = out};
	bool *wanted = NULL;
	int err = render_refuse_terminal(out, "weblist");

	if (err)
		return err;
	err = callgraph_build(profile, options->type, NULL, &weblist.graph);
	if (err)
		return render_result(err, out);
	err = annotated_wanted("weblist", options->argument, &weblist.graph.functions, &wanted);
	const bool is_reported = err && err != -ENOMEM;
	if (!err)
		err = source_lines_sum(profile, &weblist.graph.functions, options->type, wanted,
				       &weblist.lines);
	if (!err)
		err = weblist_code_open(profile, &weblist.graph.functions, wanted, options,
					&weblist.code);
	if (!err)
		err = put_page(&weblist);
	weblist_code_close(&weblist.code);
	source_lines_close(&weblist.lines);
	callgraph_close(&weblist.graph);
	free(wanted);
	return is_reported ? err : render_result(err, out);
}
