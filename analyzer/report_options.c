/* SPDX-License-Identifier: MIT */
/* report_options.c - see report_options.h. The options of the views come from their table (render.h). */
#include "report_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hi_analyzer.h"
#include "hi_units.h"

#define RENDERERS_MAX 48u
#define HELP_MAX 16384u

enum option_code { OPTION_SORT = 256, OPTION_INTERVALS, OPTION_DETAILS, OPTION_BASE, OPTION_TYPE, OPTION_RENDERER = OPTION_TYPE + SAMPLE_TYPE_COUNT };

static const char *const type_options[SAMPLE_TYPE_COUNT] = {
	[ALLOC_OBJECTS] = "alloc-objects",
	[ALLOC_SPACE] = "alloc-space",
	[INUSE_OBJECTS] = "inuse-objects",
	[INUSE_SPACE] = "inuse-space",
};

void report_complain(const struct report_options *options, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "heapinject %s: ", options->command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}

/* ---- command line ---- */

/* The options that are always there, the sample types, and one for each renderer. */
static const struct option always[] = {
	{"help", no_argument, NULL, 'h'},
	{"output", required_argument, NULL, 'o'},
	{"binary", required_argument, NULL, 'p'},
	{"limit", required_argument, NULL, 'n'},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"intervals", no_argument, NULL, OPTION_INTERVALS},
	{"details", no_argument, NULL, OPTION_DETAILS},
	{"base", required_argument, NULL, OPTION_BASE},
};
#define ALWAYS (sizeof(always) / sizeof(always[0]))

struct option_table {
	struct option option[ALWAYS + SAMPLE_TYPE_COUNT + RENDERERS_MAX + 1];
	char letters[16 + RENDERERS_MAX];
};

static void build_options(struct option_table *table)
{
	size_t count = ALWAYS, letter;

	*table = (struct option_table){.letters = ":ho:p:n:"};
	letter = strlen(table->letters);
	memcpy(table->option, always, sizeof(always));
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		table->option[count++] = (struct option){type_options[type], no_argument, NULL, OPTION_TYPE + type};
	for (size_t i = 0; i < RENDERERS_MAX && renderers[i].name; i++) {
		const int has_argument = renderers[i].argument ? required_argument : no_argument;

		table->option[count++] = (struct option){renderers[i].name, has_argument, NULL, OPTION_RENDERER + (int)i};
		if (renderers[i].letter)
			table->letters[letter++] = renderers[i].letter;
	}
}

static int set_renderer(struct report_options *options, const struct renderer *renderer)
{
	if (options->renderer && options->renderer != renderer) {
		report_complain(options, "--%s and --%s exclude each other", options->renderer->name, renderer->name);
		return -EINVAL;
	}
	options->renderer = renderer;
	if (renderer->argument)
		options->render.argument = optarg;
	return 0;
}

static int set_sort(struct report_options *options, const char *text)
{
	if (strcmp(text, "flat") == 0)
		options->render.sort = SORT_FLAT;
	else if (strcmp(text, "cum") == 0)
		options->render.sort = SORT_CUM;
	else {
		report_complain(options, "--sort is flat or cum, not \"%s\"", text);
		return -EINVAL;
	}
	return 0;
}

static int set_limit(struct report_options *options, const char *text)
{
	const char *end;
	uint64_t limit;

	if (hi_parse_digits(text, &limit, &end) || *end || limit == 0 || limit > SIZE_MAX) {
		report_complain(options, "-n wants a number above 0, not \"%s\"", text);
		return -EINVAL;
	}
	options->render.limit = (size_t)limit;
	return 0;
}

static int add_base(struct report_options *options, const char *file)
{
	if (options->base_count == REPORT_FILES_MAX) {
		report_complain(options, "more than %u files", REPORT_FILES_MAX);
		return -EINVAL;
	}
	options->base[options->base_count++] = file;
	return 0;
}

static const struct renderer *renderer_of(int code)
{
	if (code >= OPTION_RENDERER)
		return &renderers[code - OPTION_RENDERER];
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		if (renderer->letter && renderer->letter == code)
			return renderer;
	}
	return NULL;
}

static int wrong_option(const struct report_options *options, int code, char **argv)
{
	if (code == ':')
		report_complain(options, "%s wants a value; see heapinject %s --help", argv[optind - 1], options->command);
	else if (optopt > 0 && optopt < OPTION_SORT)
		report_complain(options, "unknown option -%c; see heapinject %s --help", optopt, options->command);
	else
		report_complain(options, "unknown option %s; see heapinject %s --help", argv[optind - 1], options->command);
	return -EINVAL;
}

static int set_option(struct report_options *options, int code, char **argv)
{
	switch (code) {
	case 'h':
		options->help = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case 'p':
		options->symbols.binary = optarg;
		return 0;
	case 'n':
		return set_limit(options, optarg);
	case OPTION_SORT:
		return set_sort(options, optarg);
	case OPTION_INTERVALS:
		options->render.intervals = true;
		return 0;
	case OPTION_DETAILS:
		options->render.details = true;
		return 0;
	case OPTION_BASE:
		return add_base(options, optarg);
	case ':':
	case '?':
		return wrong_option(options, code, argv);
	}
	if (code >= OPTION_TYPE && code < OPTION_RENDERER) {
		options->render.type = (enum sample_type)(code - OPTION_TYPE);
		return 0;
	}
	return set_renderer(options, renderer_of(code));
}

/* The one whose ending is the longest that the name has: heap.pb.gz, profile.speedscope.json. */
static const struct renderer *renderer_by_ending(const char *name)
{
	const struct renderer *best = NULL;

	for (const struct renderer *renderer = renderers; name && renderer->name; renderer++) {
		const size_t length = renderer->ending ? strlen(renderer->ending) : 0, size = strlen(name);

		if (length && size > length && strcmp(name + size - length, renderer->ending) == 0 && (!best || length > strlen(best->ending)))
			best = renderer;
	}
	return best;
}

static int take_files(struct report_options *options, int count, char **file)
{
	if (strcmp(options->command, "diff") == 0) {
		if (count != 2) {
			report_complain(options, "two files, please: the old one and the new one; see heapinject diff --help");
			return -EINVAL;
		}
		if (add_base(options, *file++))
			return -EINVAL;
		count--;
	}
	if (count < 1) {
		report_complain(options, "which file? A heap profile, a record stream, or - for standard input; see heapinject %s --help", options->command);
		return -EINVAL;
	}
	options->file = file;
	options->file_count = (size_t)count;
	return 0;
}

int report_options_parse(int argc, char **argv, struct report_options *out_options)
{
	struct report_options *options = out_options;
	struct option_table table;
	int code, error = 0;

	*options = (struct report_options){.command = argv[0], .render = {.type = INUSE_SPACE}};
	build_options(&table);
	optind = 0; /* the caller may have parsed options of its own */
	opterr = 0;
	while (!error && (code = getopt_long(argc, argv, table.letters, table.option, NULL)) != -1)
		error = set_option(options, code, argv);
	if (!error && !options->help)
		error = take_files(options, argc - optind, argv + optind);
	if (!options->renderer)
		options->renderer = renderer_by_ending(options->output);
	if (!options->renderer || (options->renderer->argument && !options->render.argument))
		options->renderer = renderers;
	return error;
}

/* ---- help ---- */

static const char help_head[] =
	"usage: heapinject report FILE|-... [VIEW] [options]\n"
	"       heapinject diff OLD NEW [VIEW] [options]\n"
	"\n"
	"Shows what a session has found. FILE is one of its profiles (PREFIX.PID.NNNN.heap or .pb.gz), a record stream (heapinject attach PID -o -), or of\n"
	"another tool: gperftools, jemalloc, pprof, heaptrack, collapsed stacks, compressed or not;\n"
	"- reads standard input. Several files are added up. A heap profile of heapinject holds its symbols: neither the program nor its\n"
	"machine is needed.\n"
	"\n"
	"views, the first one by default:\n";

static const char help_tail[] =
	"\n"
	"what is counted (estimates from the samples, exact with --sample 1):\n"
	"      --inuse-space      bytes allocated in the window and still live (default)\n"
	"      --inuse-objects    the same in objects\n"
	"      --alloc-space      bytes allocated in the window\n"
	"      --alloc-objects    the same in objects\n"
	"\n"
	"options:\n"
	"  -p, --binary FILE      take the main program's symbols from FILE\n"
	"  -o, --output FILE      write the view to FILE instead of standard output; where no view is named, the ending says which\n"
	"  -n, --limit N          at most N rows, or N boxes in the graph\n"
	"      --base FILE        compare: what is in FILE counts against the rest; diff OLD NEW is report --base OLD NEW\n"
	"      --sort flat|cum    order rows by the function itself, or with what it calls\n"
	"      --intervals        text: the 95 % interval of each figure, too\n"
	"      --details          text: waste (usable bytes beyond those requested), mean age of what is in use, mean lifetime of what was freed\n"
	"  -h, --help             this text\n"
	"\n"
	"exit status: 0 ok; 1 the file is missing, unusable or damaged (what was good in it is shown all the same), or the view failed;\n"
	"2 wrong usage\n"
	"\n"
	"examples:\n"
	"  heapinject report heap.1234.0001.heap\n"
	"  heapinject report heap.1234.0001.heap --svg -o heap.svg\n"
	"  heapinject attach 1234 -s 60 -o - | ssh box heapinject report - --alloc-space -n 20\n";

const char *hi_analyzer_report_help(void)
{
	static char text[HELP_MAX];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", help_head);

	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		char letter[] = "    ", name[64];

		if (renderer->letter)
			memcpy(letter, (const char[]){'-', renderer->letter, ','}, 3);
		snprintf(name, sizeof(name), "%s%s%s", renderer->name, renderer->argument ? " " : "", renderer->argument ? renderer->argument : "");
		used += (size_t)snprintf(text + used, sizeof(text) - used, "  %s--%-16s %s\n", letter, name, renderer->help);
		if (used >= sizeof(text))
			return text;
	}
	snprintf(text + used, sizeof(text) - used, "%s", help_tail);
	return text;
}
