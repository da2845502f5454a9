/* SPDX-License-Identifier: MIT */
/* html_source.c - see html_source.h. Start at html_source_write(). */
#include "html_source.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html_write.h"
#include "render_annotated.h"
#include "render_formats.h"
#include "source_lines.h"
#include "text_equal.h"
#include "text_out.h"

#define SOURCE_FUNCTIONS 40u
#define CODE_FUNCTIONS 10u
#define CODE_LINES_MAX 160u /* of one function */
#define SOURCE_BYTES_MAX 120000u
/* of all: many routines may have one name */
#define CODE_ROUTINES_MAX 40u
#define CODE_BYTES_MAX 120000u

struct source_writer {
	const struct profile *profile;
	const struct render_options *options;
	struct source_lines lines;
	const struct calltree *tree;
	FILE *out;
	size_t written; /* functions */
	size_t bytes;   /* of lines so far */
};

/* ---- which functions ------------------------------------------------------------------------- */

struct ranked {
	double value;
	uint32_t function;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/*
 * Functions of the tree, heaviest first: by what they allocate themselves, and with a small part by
 * what they lead to. The caller frees the array. NULL = out of memory.
 */
static struct ranked *rank_functions(const struct calltree *tree, enum sample_type type,
				     size_t *out_count)
{
	struct ranked *ranked = calloc(tree->functions.count + 1, sizeof(*ranked));

	if (!ranked)
		return NULL;
	for (size_t i = 0; i < tree->functions.count; i++)
		ranked[i].function = (uint32_t)i;
	for (size_t i = 1; i < tree->count; i++) {
		const struct calltree_node *node = &tree->node[i];
		const struct calltree_node *parent = &tree->node[node->parent];

		if (node->function >= CALLTREE_OTHER)
			continue;
		ranked[node->function].value += fabs(node->self[type].value);
		if (parent->function < CALLTREE_OTHER)
			ranked[parent->function].value += 0.1 * fabs(node->self[type].value);
	}
	qsort(ranked, tree->functions.count, sizeof(*ranked), compare_ranked);
	for (*out_count = 0; *out_count < tree->functions.count && ranked[*out_count].value > 0;)
		++*out_count;
	return ranked;
}

/* ---- source ---------------------------------------------------------------------------------- */

static void write_line(struct source_writer *writer, uint32_t number, const char *before,
		       const struct source_line *line, const struct source_text *text)
{
	char *words = source_text_line(text, number);

	fprintf(writer->out, "%s[%" PRIu32 ",", before, number);
	html_write_text(words ? words : "", writer->out);
	fprintf(writer->out, ",%" PRId64 ",%" PRId64 "]", line ? text_whole(line->flat.value) : 0,
		line ? text_whole(line->cum.value) : 0);
	writer->bytes += 16 + (words ? strlen(words) : 0);
	free(words);
}

/* Lines [first, end) with figures, and some around them. */
static void write_lines(struct source_writer *writer, size_t first, size_t end,
			const struct source_text *text)
{
	const struct source_line *line = writer->lines.line;
	uint32_t next = 1;
	const char *before = "";

	for (size_t i = first; i < end && writer->bytes < SOURCE_BYTES_MAX; i++) {
		const uint32_t number = line[i].line,
			       from = number > ANNOTATED_CONTEXT ? number - ANNOTATED_CONTEXT : 1;
		uint32_t stop = number + ANNOTATED_CONTEXT + 1;

		if (i + 1 < end && line[i + 1].line < stop)
			stop = line[i + 1].line;
		for (uint32_t at = from > next ? from : next; at < stop && at <= text->count;
		     at++) {
			write_line(writer, at, before, at == number ? &line[i] : NULL, text);
			before = ",\n";
			next = at + 1;
		}
	}
}

static const char *note_of(const struct source_writer *writer, const struct source_text *text,
			   uint32_t last)
{
	const uint64_t start = writer->profile->meta.start_unix_ns;

	if (text->modified_unix_ns > start && start)
		return "The file has changed since the profile was taken: lines may have moved.";
	return last > text->count ? "It is not the file that was compiled: it has fewer lines."
				  : "";
}

/* The lines of one function in one file. */
static int write_part(struct source_writer *writer, size_t first, size_t end)
{
	const struct source_line *line = &writer->lines.line[first];
	/* Without a build-id no server is asked: a page has what is at hand. */
	const struct source_places places = {.path = writer->options->source_path,
					     .trim = writer->options->trim_path};
	struct source_text text;
	int err;

	if (!line->file || writer->bytes >= SOURCE_BYTES_MAX)
		return 0;
	err = source_text_open(&places, line->file, &text);
	if (err)
		return err == -ENOMEM ? err : 0;
	fputs(writer->written++ ? ",\n{" : "{", writer->out);
	html_write_printable("function", writer->tree->functions.name[line->function], writer->out);
	html_write_printable("file", line->file, writer->out);
	html_write_printable("note", note_of(writer, &text, writer->lines.line[end - 1].line),
			     writer->out);
	fputs("\"lines\":[", writer->out);
	if (line->line == 0)
		first++;
	write_lines(writer, first, end, &text);
	fputs("]}", writer->out);
	source_text_close(&text);
	return 0;
}

static int write_function(struct source_writer *writer, uint32_t function)
{
	const struct source_line *line = writer->lines.line;
	const size_t count = writer->lines.count;
	int err = 0;

	for (size_t first = 0, end; first < count && !err; first = end) {
		for (end = first + 1; end < count && line[end].function == line[first].function &&
				      text_equal(line[end].file, line[first].file);)
			end++;
		if (line[first].function == function)
			err = write_part(writer, first, end);
	}
	return err;
}

static int write_sources(struct source_writer *writer, const struct ranked *ranked, size_t count)
{
	const struct functions *functions = &writer->tree->functions;
	bool *wanted = calloc(functions->count + 1, sizeof(*wanted));
	int err = wanted ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && i < SOURCE_FUNCTIONS && !err; i++)
		wanted[ranked[i].function] = true;
	if (!err)
		err = source_lines_sum(writer->profile, functions, writer->options->type, wanted,
				       &writer->lines);
	fputs("\"sources\":[", writer->out);
	for (size_t i = 0; i < count && i < SOURCE_FUNCTIONS && !err; i++)
		err = write_function(writer, ranked[i].function);
	fputs("],\n", writer->out);
	free(wanted);
	return err;
}

/* ---- machine code ---------------------------------------------------------------------------- */

/* A regular expression that matches the names of some functions and nothing else. */
static char *pattern_of(const struct functions *functions, const struct ranked *ranked,
			size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("^(", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "|" : "", out);
		for (const char *at = functions->name[ranked[i].function]; *at; at++) {
			if (strchr("\\^$.[]|()*+?{}", *at))
				fputc('\\', out);
			fputc(*at, out);
		}
	}
	fputs(")$", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* What --disasm prints of them, without colours; "" = there is no code, or no disassembler. */
static char *code_text(const struct source_writer *writer, const char *pattern)
{
	struct render_options options = *writer->options;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return NULL;
	options.argument = pattern;
	options.limit = CODE_ROUTINES_MAX;
	options.intervals = false;
	err = render_disasm(writer->profile, &options, out);
	if (fclose(out) || err) {
		free(text);
		return err == -ENOMEM ? NULL : strdup("");
	}
	return text;
}

/*
 * Splits the text at its heads, "ROUTINE ==== name in module". A function of which only addresses
 * are known has no instruction, and is left out. The heaviest come first.
 */
static void write_code(FILE *out, char *text)
{
	static const char head[] = "ROUTINE ======================== ";
	char *part = strstr(text, head);
	size_t written = 0, bytes = 0;

	fputs("\"code\":[", out);
	while (part && bytes < CODE_BYTES_MAX) {
		char *name = part + strlen(head), *lines = strchr(name, '\n'),
		     *next = lines ? strstr(lines, head) : NULL;

		if (!lines)
			break;
		*lines++ = 0;
		if (next)
			next[-1] = 0;
		if (!strstr(lines, "no code: ")) {
			char *end = lines;

			for (size_t i = 0; i < CODE_LINES_MAX && end; i++)
				end = strchr(end + 1, '\n');
			if (end)
				*end = 0;
			fputs(written++ ? ",\n{" : "{", out);
			html_write_printable("function", name, out);
			fputs("\"lines\":", out);
			html_write_lines(lines, out);
			fputc('}', out);
			bytes += strlen(lines);
		}
		part = next;
	}
	fputs("],\n", out);
}

static int write_codes(const struct source_writer *writer, const struct ranked *ranked,
		       size_t count)
{
	const size_t shown = count < CODE_FUNCTIONS ? count : CODE_FUNCTIONS;
	char *pattern = pattern_of(&writer->tree->functions, ranked, shown),
	     *text = pattern && shown ? code_text(writer, pattern) : strdup("");

	if (text)
		write_code(writer->out, text);
	free(pattern);
	free(text);
	return text ? 0 : -ENOMEM;
}

int html_source_write(const struct profile *profile, const struct calltree *tree,
		      const struct render_options *options, FILE *out)
{
	struct source_writer writer = {
		.profile = profile, .options = options, .tree = tree, .out = out};
	struct ranked *ranked;
	size_t count;
	int err;

	if (profile_is_comparison(profile) || profile->meta.granularity != PROFILE_FUNCTIONS) {
		fputs("\"sources\":[],\n\"code\":[],\n", out);
		return 0;
	}
	ranked = rank_functions(tree, options->type, &count);
	err = ranked ? write_sources(&writer, ranked, count) : -ENOMEM;
	if (!err)
		err = write_codes(&writer, ranked, count);
	source_lines_close(&writer.lines);
	free(ranked);
	return err;
}
