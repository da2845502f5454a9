/* SPDX-License-Identifier: MIT */
/*
 * report.c - `heapinject report`: one profile in, one view out. Start at hi_analyzer_report().
 *
 * Whether the input is a heap profile or a record stream is told from its first bytes. Standard output carries the view and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bias.h"
#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "input.h"
#include "output_file.h"
#include "records.h"
#include "render.h"
#include "replay.h"
#include "symbols.h"

#define RENDERERS_MAX 32u
#define HELP_MAX 8192u
#define SNIFF_BYTES 16u

enum option_code { OPTION_SORT = 256, OPTION_INTERVALS, OPTION_DETAILS, OPTION_TYPE, OPTION_RENDERER = OPTION_TYPE + SAMPLE_TYPE_COUNT };

static const char *const type_options[SAMPLE_TYPE_COUNT] = {
	[ALLOC_OBJECTS] = "alloc-objects",
	[ALLOC_SPACE] = "alloc-space",
	[INUSE_OBJECTS] = "inuse-objects",
	[INUSE_SPACE] = "inuse-space",
};

struct report_options {
	const char *file;   /* "-" = standard input */
	const char *output; /* NULL = standard output */
	const struct renderer *renderer;
	struct render_options render;
	struct symbols_options symbols;
	bool help;
};

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
	va_list arguments;

	fputs("heapinject report: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}

/* ---- command line ---- */

/* The options that are always there, the sample types, and one for each renderer. */
struct option_table {
	struct option option[3 + 5 + SAMPLE_TYPE_COUNT + RENDERERS_MAX + 1];
	char letters[16 + RENDERERS_MAX];
};

static void build_options(struct option_table *table)
{
	static const struct option always[] = {
		{"help", no_argument, NULL, 'h'},
		{"output", required_argument, NULL, 'o'},
		{"binary", required_argument, NULL, 'p'},
		{"limit", required_argument, NULL, 'n'},
		{"sort", required_argument, NULL, OPTION_SORT},
		{"intervals", no_argument, NULL, OPTION_INTERVALS},
		{"details", no_argument, NULL, OPTION_DETAILS},
	};
	size_t count = sizeof(always) / sizeof(always[0]), letter;

	*table = (struct option_table){.letters = ":ho:p:n:"};
	letter = strlen(table->letters);
	memcpy(table->option, always, sizeof(always));
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		table->option[count++] = (struct option){type_options[type], no_argument, NULL, OPTION_TYPE + type};
	for (size_t i = 0; i < RENDERERS_MAX && renderers[i].name; i++) {
		table->option[count++] = (struct option){renderers[i].name, no_argument, NULL, OPTION_RENDERER + (int)i};
		if (renderers[i].letter)
			table->letters[letter++] = renderers[i].letter;
	}
}

static int set_renderer(struct report_options *options, const struct renderer *renderer)
{
	if (options->renderer && options->renderer != renderer) {
		complain("--%s and --%s exclude each other", options->renderer->name, renderer->name);
		return -EINVAL;
	}
	options->renderer = renderer;
	return 0;
}

static int set_sort(struct report_options *options, const char *text)
{
	if (strcmp(text, "flat") == 0)
		options->render.sort = SORT_FLAT;
	else if (strcmp(text, "cum") == 0)
		options->render.sort = SORT_CUM;
	else {
		complain("--sort is flat or cum, not \"%s\"", text);
		return -EINVAL;
	}
	return 0;
}

static int set_limit(struct report_options *options, const char *text)
{
	const char *end;
	uint64_t limit;

	if (hi_parse_digits(text, &limit, &end) || *end || limit == 0 || limit > SIZE_MAX) {
		complain("-n wants a number above 0, not \"%s\"", text);
		return -EINVAL;
	}
	options->render.limit = (size_t)limit;
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
	case ':':
		complain("%s wants a value; see heapinject report --help", argv[optind - 1]);
		return -EINVAL;
	case '?':
		if (optopt > 0 && optopt < OPTION_SORT)
			complain("unknown option -%c; see heapinject report --help", optopt);
		else
			complain("unknown option %s; see heapinject report --help", argv[optind - 1]);
		return -EINVAL;
	}
	if (code >= OPTION_TYPE && code < OPTION_RENDERER) {
		options->render.type = (enum sample_type)(code - OPTION_TYPE);
		return 0;
	}
	return set_renderer(options, renderer_of(code));
}

static int parse(int argc, char **argv, struct report_options *out_options)
{
	struct report_options options = {.render = {.type = INUSE_SPACE}};
	struct option_table table;
	int code, error = 0;

	build_options(&table);
	optind = 0; /* the caller may have parsed options of its own */
	opterr = 0;
	while (!error && (code = getopt_long(argc, argv, table.letters, table.option, NULL)) != -1)
		error = set_option(&options, code, argv);
	if (!error && !options.help && optind != argc - 1) {
		if (optind == argc)
			complain("which file? A heap profile, a record stream, or - for standard input; see heapinject report --help");
		else
			complain("one file at a time, please: \"%s\" is one too many", argv[optind + 1]);
		error = -EINVAL;
	}
	options.file = optind < argc ? argv[optind] : NULL;
	if (!options.renderer)
		options.renderer = renderers;
	*out_options = options;
	return error;
}

/* ---- the profile ---- */

static int read_profile(int fd, struct profile *profile)
{
	struct input input;
	const uint8_t *bytes;
	size_t size;
	int error = input_open(&input, fd);

	if (error)
		return error;
	size = input_peek(&input, SNIFF_BYTES, &bytes);
	if (records_recognize(bytes, size))
		error = replay_stream(&input, NULL, profile);
	else if (heapfile_recognize(bytes, size))
		error = heapfile_read(&input, profile);
	else
		error = input.error ? -input.error : size ? -ENOEXEC : -ENODATA;
	input_close(&input);
	return error;
}

static const char *unreadable(int error)
{
	switch (error) {
	case -ENODATA:
		return "empty";
	case -ENOEXEC:
		return "neither a heap profile (.heap) nor a record stream of heapinject; for a .pb.gz use pprof";
	default:
		return strerror(-error);
	}
}

static int load(const struct report_options *options, struct profile *profile)
{
	const bool is_stdin = strcmp(options->file, "-") == 0;
	const char *name = is_stdin ? "standard input" : options->file;
	const int fd = is_stdin ? STDIN_FILENO : open(options->file, O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0) {
		complain("%s: %s", name, strerror(errno));
		return -EIO;
	}
	error = read_profile(fd, profile);
	if (!is_stdin)
		close(fd);
	if (error == -EBADMSG)
		complain("%s: %s", name, profile->meta.damage ? profile->meta.damage : "damaged");
	else if (error)
		complain("%s: %s", name, unreadable(error));
	else if (profile->meta.damage)
		complain("%s: %s; showing what was good", name, profile->meta.damage);
	return error;
}

/* ---- the view ---- */

static int render(const struct report_options *options, const struct profile *profile)
{
	struct output_file output;
	int error = output_open(&output, options->output);

	if (error) {
		complain("cannot write %s: %s", options->output, strerror(-error));
		return error;
	}
	error = options->renderer->render(profile, &options->render, output.stream);
	if (error) {
		complain("%s", *render_error() ? render_error() : strerror(-error));
		output_abandon(&output);
		return error;
	}
	error = output_close(&output);
	if (error)
		complain("cannot write %s: %s", options->output ? options->output : "standard output", strerror(-error));
	return error;
}

static int report(const struct report_options *options)
{
	struct profile profile;
	int error = profile_open(&profile);
	bool damaged;

	if (!error)
		error = load(options, &profile);
	if (!error && (bias_complete(&profile, options->symbols.binary) || symbols_resolve(&profile, &options->symbols))) {
		error = -ENOMEM;
		complain("out of memory");
	}
	if (!error)
		error = render(options, &profile);
	damaged = profile.meta.damage != NULL;
	profile_close(&profile);
	return error || damaged ? HI_EXIT_FAILED : HI_EXIT_OK;
}

int hi_analyzer_report(int argc, char **argv)
{
	struct report_options options;

	if (parse(argc, argv, &options))
		return HI_EXIT_USAGE;
	if (options.help) {
		fputs(hi_analyzer_report_help(), stdout);
		return HI_EXIT_OK;
	}
	return report(&options);
}

/* ---- help ---- */

static const char help_head[] =
	"usage: heapinject report FILE|- [VIEW] [options]\n"
	"\n"
	"Shows what a session has found. FILE is a heap profile (PREFIX.PID.NNNN.heap) or a record stream (heapinject attach PID -o -);\n"
	"- reads standard input. A heap profile of heapinject holds its symbols: neither the program nor its machine is needed.\n"
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
	"  -o, --output FILE      write the view to FILE instead of standard output\n"
	"  -n, --limit N          at most N rows, or N boxes in the graph\n"
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
		char letter[] = "    ";

		if (renderer->letter)
			memcpy(letter, (const char[]){'-', renderer->letter, ','}, 3);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "  %s--%-16s %s\n", letter, renderer->name, renderer->help);
		if (used >= sizeof(text))
			return text;
	}
	snprintf(text + used, sizeof(text) - used, "%s", help_tail);
	return text;
}
