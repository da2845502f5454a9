/* SPDX-License-Identifier: MIT */
/*
 * report_options.c - see report_options.h. Which options there are is in report_option_table.c.
 */
#include "report_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hi_units.h"
#include "progress_bar.h"
#include "render_formats.h"
#include "render_header.h"
#include "report_option_table.h"

void report_complain(const struct report_options *options, const char *format, ...)
{
	va_list arguments;

	progress_bar_hide();
	fprintf(stderr, "heapinject %s: ", options->command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}

/* The only combination of two views: --growth --html, in any order. */
static bool is_growth_page(const struct renderer *one, const struct renderer *other)
{
	return one && other &&
	       ((one->render == render_growth && other->render == render_html) ||
		(one->render == render_html && other->render == render_growth));
}

static int set_renderer(struct report_options *options, const struct renderer *renderer)
{
	if (is_growth_page(options->renderer, renderer)) {
		options->render.is_page = true;
		if (renderer->render == render_growth)
			options->renderer = renderer;
		return 0;
	}
	if (options->renderer && options->renderer != renderer) {
		report_complain(options, "--%s and --%s exclude each other",
				options->renderer->name, renderer->name);
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

/* Parses "10%" (of the window) or "5s"; "0" excludes nothing. */
static int set_tail(struct report_options *options, const char *text)
{
	struct leaks_tail tail = {0};
	uint64_t seconds = 0;
	uint32_t ppm = 0;

	if (strcmp(text, "0") != 0 &&
	    (strchr(text, '%') ? hi_parse_percent(text, &ppm) || ppm >= 1000000
			       : hi_parse_seconds(text, &seconds) != 0 || seconds > INT32_MAX)) {
		report_complain(options,
				"--tail wants a part of the window below 100%%, or a time: 10%%, "
				"5s, 2m; not \"%s\"",
				text);
		return -EINVAL;
	}
	tail.ns = seconds * 1000000000u;
	tail.share = ppm / 1e6;
	options->render.tail = tail;
	return 0;
}

static int set_fail_above(struct report_options *options, const char *text)
{
	if (hi_parse_bytes(text, &options->fail_above)) {
		report_complain(
			options,
			"--fail-above wants a number of bytes above 0: 1000000, 64M; not \"%s\"",
			text);
		return -EINVAL;
	}
	return 0;
}

static int set_fraction(const struct report_options *options, const char *name, double *fraction)
{
	char *end;
	const double value = strtod(optarg, &end);

	if (end == optarg || *end || !(value >= 0 && value <= 1)) {
		report_complain(options, "--%s wants a number from 0 to 1, not \"%s\"", name,
				optarg);
		return -EINVAL;
	}
	*fraction = value > 0 ? value : -1; /* as defined in struct render_options */
	return 0;
}

static int set_unit(const struct report_options *options, const char *name)
{
	if (render_use_unit(name)) {
		report_complain(options, "--unit is bytes, kb, mb, gb, tb or auto, not \"%s\"",
				name);
		return -EINVAL;
	}
	return 0;
}

static int set_color(struct report_options *options, const char *word)
{
	if (style_when_parse(word, &options->color)) {
		report_complain(options, "--color is auto, always or never, not \"%s\"", word);
		return -EINVAL;
	}
	return 0;
}

static int add_base(struct report_options *options, const char *file,
		    enum percent_base_of percent_base)
{
	if (options->base_count && options->filter.percent_base != percent_base) {
		report_complain(options, "--base and --diff-base exclude each other");
		return -EINVAL;
	}
	options->filter.percent_base = percent_base;
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
		report_complain(options, "%s wants a value; see heapinject %s --help",
				argv[optind - 1], options->command);
	else if (optopt > 0 && optopt < OPTION_SORT)
		report_complain(options, "unknown option -%c; see heapinject %s --help", optopt,
				options->command);
	else
		report_complain(options, "unknown option %s; see heapinject %s --help",
				argv[optind - 1], options->command);
	return -EINVAL;
}

/* Options that select what is shown of the profile, and how. */
static int set_filter_option(struct report_options *options, int code)
{
	switch (code) {
	case OPTION_TRIM_PATH:
		options->filter.trim_path = options->render.trim_path = optarg;
		return 0;
	case OPTION_SOURCE_PATH:
		options->filter.source_path = options->render.source_path = optarg;
		return 0;
	case OPTION_NO_INLINES:
		options->filter.no_inlines = true;
		return 0;
	case OPTION_RELATIVE_PERCENTAGES:
		options->filter.relative = true;
		return 0;
	case OPTION_NODE_FRACTION:
		return set_fraction(options, "nodefraction", &options->render.node_fraction);
	case OPTION_EDGE_FRACTION:
		return set_fraction(options, "edgefraction", &options->render.edge_fraction);
	case OPTION_NO_TRIM:
		options->render.no_trim = true;
		return 0;
	case OPTION_UNIT:
		return set_unit(options, optarg);
	case OPTION_SHOW_BYTES:
		return set_unit(options, "bytes");
	case OPTION_WRAPPER:
		options->render.user_frames.wrapper = optarg;
		return 0;
	case OPTION_NO_WRAPPER:
		options->render.user_frames.no_wrapper = optarg;
		return 0;
	case OPTION_RAW:
		options->render.raw = true;
		return 0;
	}
	if (code < OPTION_GRANULARITY)
		options->filter.text[code - OPTION_FILTER] = optarg;
	else
		options->filter.granularity = (enum profile_granularity)(code - OPTION_GRANULARITY);
	return 0;
}

/* name: the option that has the expression. */
static int check_expression(const struct report_options *options, const char *name,
			    const char *expression)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct pattern pattern;
	const int err = pattern_open(&pattern, expression, complaint);

	pattern_close(&pattern);
	if (err)
		report_complain(options, "--%s: \"%s\" is no regular expression: %s", name,
				expression, err == -ENOMEM ? "out of memory" : complaint);
	return err;
}

/* Checks regular expressions early, so that an error in one is a usage error. */
static int check_expressions(const struct report_options *options)
{
	const struct renderer *renderer = options->renderer;
	char complaint[FILTER_COMPLAINT_MAX];
	int err = filter_check(&options->filter, complaint);

	if (err) {
		report_complain(options, "%s", err == -ENOMEM ? "out of memory" : complaint);
		return err;
	}
	err = check_expression(options, "wrapper", options->render.user_frames.wrapper);
	if (!err)
		err = check_expression(options, "no-wrapper",
				       options->render.user_frames.no_wrapper);
	if (err || !renderer->argument || strcmp(renderer->argument, "RE") != 0)
		return err;
	return check_expression(options, renderer->name, options->render.argument);
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
		options->symbols.binary = options->render.binary = optarg;
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
	case OPTION_TAIL:
		return set_tail(options, optarg);
	case OPTION_FAIL_ABOVE:
		return set_fail_above(options, optarg);
	case OPTION_BASE:
		return add_base(options, optarg, PERCENT_BASE_CHANGES);
	case OPTION_DIFF_BASE:
		return add_base(options, optarg, PERCENT_BASE_BASE);
	case OPTION_SUM:
		options->adds_up = true;
		return 0;
	case OPTION_AS_IS:
		options->as_is = true;
		return 0;
	case OPTION_SCALE_BASE:
		options->scale_base = true;
		return 0;
	case OPTION_COLOR:
		return set_color(options, optarg);
	case ':':
	case '?':
		return wrong_option(options, code, argv);
	}
	if (code >= OPTION_TRIM_PATH && code < OPTION_TYPE)
		return set_filter_option(options, code);
	if (code >= OPTION_TYPE && code < OPTION_RENDERER) {
		options->render.type = (enum sample_type)(code - OPTION_TYPE);
		return 0;
	}
	return set_renderer(options, renderer_of(code));
}

/*
 * The renderer with the longest ending that matches the name: heap.pb.gz, profile.speedscope.json.
 */
static const struct renderer *renderer_by_ending(const char *name)
{
	const struct renderer *best = NULL;

	for (const struct renderer *renderer = renderers; name && renderer->name; renderer++) {
		const size_t length = renderer->ending ? strlen(renderer->ending) : 0,
			     size = strlen(name);

		if (length && size > length &&
		    strcmp(name + size - length, renderer->ending) == 0 &&
		    (!best || length > strlen(best->ending)))
			best = renderer;
	}
	return best;
}

static int take_files(struct report_options *options, int count, char **file)
{
	if (strcmp(options->command, "diff") == 0) {
		if (count != 2) {
			report_complain(options, "two files, please: the old one and the new one; "
						 "see heapinject diff --help");
			return -EINVAL;
		}
		if (add_base(options, *file++,
			     options->base_count ? options->filter.percent_base
						 : PERCENT_BASE_BASE))
			return -EINVAL;
		count--;
	}
	if (count < 1) {
		report_complain(options,
				"which file? A heap profile, a record stream, or - for standard "
				"input; see heapinject %s --help",
				options->command);
		return -EINVAL;
	}
	options->file = file;
	options->file_count = (size_t)count;
	return 0;
}

/*
 * Checks that --symbolize has one file without filters and writes a heap profile, so that only
 * names change.
 */
static int check_symbolize(const struct report_options *options)
{
	const struct renderer *named = renderer_by_ending(options->output);
	const char *why = NULL;

	if (options->renderer->render != render_symbolize)
		return 0;
	if (options->base_count || options->file_count > 1)
		why = "one file, and not several: each by itself";
	else if (!filter_is_idle(&options->filter))
		why = "the whole file: without filters and the like";
	else if (named && named->render != render_heap)
		why = "a .heap file: what else it is to be, with its names, is a view of its own";
	if (!why)
		return 0;
	report_complain(options, "--symbolize completes %s; --heap and --pprof write names, too",
			why);
	return -EINVAL;
}

static int check_comparison(const struct report_options *options)
{
	if (options->as_is && options->scale_base) {
		report_complain(options, "--as-is and --scale-base exclude each other");
		return -EINVAL;
	}
	if ((options->as_is || options->scale_base) && !options->base_count) {
		report_complain(options, "--%s is for comparisons: diff, --base",
				options->as_is ? "as-is" : "scale-base");
		return -EINVAL;
	}
	return 0;
}

int report_options_parse(int argc, char **argv, struct report_options *out_options)
{
	struct report_options *options = out_options;
	const char *letters;
	const struct option *known = report_option_table_get(&letters);
	int code, err = 0;

	*options = (struct report_options){
		.command = argv[0],
		.argc = argc,
		.argv = argv,
		.render = {.type = INUSE_SPACE, .tail.share = LEAKS_TAIL_SHARE}};
	(void)render_use_unit("auto"); /* the shell's last command line may have set it */
	optind = 0;                    /* the caller may have parsed options of its own */
	opterr = 0;
	while (!err && (code = getopt_long(argc, argv, letters, known, NULL)) != -1)
		err = set_option(options, code, argv);
	if (!err && !options->help)
		err = take_files(options, argc - optind, argv + optind);
	options->has_view = options->renderer != NULL;
	if (!options->renderer)
		options->renderer = renderer_by_ending(options->output);
	else if (is_growth_page(options->renderer, renderer_by_ending(options->output)))
		options->render.is_page = options->renderer->render == render_growth;
	if (!options->renderer || (options->renderer->argument && !options->render.argument))
		options->renderer = renderers;
	if (!err && !options->help)
		err = check_symbolize(options);
	if (!err && !options->help)
		err = check_comparison(options);
	return err ? err : check_expressions(options);
}
