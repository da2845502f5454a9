/* SPDX-License-Identifier: MIT */
/*
 * report_options.c - see report_options.h. Which options there are is in report_option_table.c.
 */
#include "report_options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hi_options.h"
#include "hi_path.h"
#include "hi_units.h"
#include "progress_bar.h"
#include "render_formats.h"
#include "render_header.h"
#include "report_option_table.h"

#define LIMIT_MAX UINT32_MAX

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

static int set_renderer(struct report_options *options, const struct renderer *renderer,
			const char *argument)
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
		options->render.argument = argument;
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

/* As in pprof: 0 is everything, and below 0 what the view does by itself. */
static int set_limit(struct report_options *options, const char *text)
{
	const bool is_negative = *text == '-';
	const char *end;
	uint64_t limit;

	if (hi_parse_digits(text + is_negative, &limit, &end) || *end || limit > LIMIT_MAX) {
		report_complain(options, "-n wants a number (0 is all), not \"%s\"", text);
		return -EINVAL;
	}
	options->render.limit = is_negative ? 0 : limit ? (size_t)limit : LIMIT_MAX;
	return 0;
}

/* Parses "10%" (of the window) or "5s"; "0" excludes nothing. */
static int set_tail(struct report_options *options, const char *text)
{
	struct leaks_tail tail = {0};
	uint64_t ns = 0;
	uint32_t ppm = 0;

	if (strcmp(text, "0") != 0 &&
	    (strchr(text, '%') ? hi_parse_percent(text, &ppm) || ppm >= 1000000
			       : hi_parse_time(text, &ns) != 0)) {
		report_complain(options,
				"--tail wants a part of the window below 100%%, or a time: 10%%, "
				"5s, 500ms, 1h30m; not \"%s\"",
				text);
		return -EINVAL;
	}
	tail.ns = ns;
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

static int set_fraction(const struct report_options *options, const char *name, const char *text,
			double *fraction)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 1)) {
		report_complain(options, "--%s wants a number from 0 to 1, not \"%s\"", name, text);
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

static int wrong_option(const struct report_options *options, int code,
			const struct hi_options *given)
{
	char complaint[HI_OPTION_COMPLAINT_MAX];
	const char *name = given->word + strspn(given->word, "-"),
		   *instead = report_option_table_instead(name, strcspn(name, "="));

	if (code == HI_OPTION_UNKNOWN && instead)
		report_complain(options,
				"unknown option: %s; here it is %s; see heapinject %s --help",
				given->word, instead, options->command);
	else
		report_complain(options, "%s; see heapinject %s --help",
				hi_options_explain(given, code, complaint), options->command);
	return -EINVAL;
}

static int set_type(struct report_options *options, const char *text)
{
	if (report_option_table_type_of(text, &options->render.type))
		return 0;
	report_complain(
		options,
		"--sample-index is alloc_objects (0), alloc_space (1), inuse_objects (2) or "
		"inuse_space (3), not \"%s\"",
		text);
	return -EINVAL;
}

static int set_granularity(struct report_options *options, const char *text)
{
	const char *letters;
	const struct option *option =
		hi_option_find(report_option_table_get(&letters), text, strlen(text));
	const int code = option ? option->val : 0;

	if (code < OPTION_GRANULARITY || code >= OPTION_TYPE) {
		report_complain(options,
				"--granularity is functions, files, lines or addresses, not \"%s\"",
				text);
		return -EINVAL;
	}
	options->filter.granularity = (enum profile_granularity)(code - OPTION_GRANULARITY);
	return 0;
}

/* Options that take no argument, or true or false. */
static bool set_switch(struct report_options *options, int code, bool is_on)
{
	switch (code) {
	case 'h':
		options->help = is_on;
		return true;
	case OPTION_INTERVALS:
		options->render.intervals = is_on;
		return true;
	case OPTION_DETAILS:
		options->render.details = is_on;
		return true;
	case OPTION_SUM:
		options->adds_up = is_on;
		return true;
	case OPTION_AS_IS:
		options->as_is = is_on;
		return true;
	case OPTION_SCALE_BASE:
		options->scale_base = is_on;
		return true;
	case OPTION_NO_INLINES:
		options->filter.no_inlines = is_on;
		return true;
	case OPTION_RELATIVE_PERCENTAGES:
		options->filter.relative = is_on;
		return true;
	case OPTION_TRIM:
	case OPTION_NO_TRIM:
		options->render.no_trim = is_on == (code == OPTION_NO_TRIM);
		return true;
	case OPTION_CUM:
	case OPTION_FLAT:
		options->render.sort = is_on == (code == OPTION_CUM) ? SORT_CUM : SORT_FLAT;
		return true;
	case OPTION_SHOW_BYTES:
		(void)render_use_unit(is_on ? "bytes" : "auto");
		return true;
	case OPTION_RAW:
		options->render.raw = is_on;
		return true;
	default: /* what excludes others is on, or not said */
		return !is_on;
	}
}

/* Options that select what is shown of the profile, and how. */
static int set_filter_option(struct report_options *options, int code, const char *value)
{
	switch (code) {
	case OPTION_TRIM_PATH:
		options->filter.trim_path = options->render.trim_path = value;
		return 0;
	case OPTION_SOURCE_PATH:
		options->filter.source_path = options->render.source_path = value;
		return 0;
	case OPTION_NODE_FRACTION:
		return set_fraction(options, "nodefraction", value, &options->render.node_fraction);
	case OPTION_EDGE_FRACTION:
		return set_fraction(options, "edgefraction", value, &options->render.edge_fraction);
	case OPTION_UNIT:
		return set_unit(options, value);
	case OPTION_WRAPPER:
		options->render.user_frames.wrapper = value;
		return 0;
	case OPTION_NO_WRAPPER:
		options->render.user_frames.no_wrapper = value;
		return 0;
	case OPTION_SAMPLE_INDEX:
		return set_type(options, value);
	case OPTION_GRANULARITY_NAME:
		return set_granularity(options, value);
	}
	if (code < OPTION_GRANULARITY)
		options->filter.text[code - OPTION_FILTER] = value;
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

static int set_option(struct report_options *options, int code, const struct hi_options *given)
{
	const char *value = given->value;

	switch (code) {
	case HI_OPTION_UNKNOWN:
	case HI_OPTION_BARE:
	case HI_OPTION_ODD:
		return wrong_option(options, code, given);
	case 'o':
		options->output = value;
		return 0;
	case 'p':
		options->symbols.binary = options->render.binary = value;
		return 0;
	case 'n':
		return set_limit(options, value);
	case OPTION_SORT:
		return set_sort(options, value);
	case OPTION_TAIL:
		return set_tail(options, value);
	case OPTION_FAIL_ABOVE:
		return set_fail_above(options, value);
	case OPTION_BASE:
		return add_base(options, value, PERCENT_BASE_CHANGES);
	case OPTION_DIFF_BASE:
		return add_base(options, value, PERCENT_BASE_BASE);
	case OPTION_COLOR:
		return set_color(options, value);
	}
	if (!value && set_switch(options, code, !given->is_off))
		return 0;
	if (code >= OPTION_TRIM_PATH && code < OPTION_TYPE)
		return set_filter_option(options, code, value);
	if (code >= OPTION_TYPE && code < OPTION_RENDERER) {
		options->render.type = (enum sample_type)(code - OPTION_TYPE);
		return 0;
	}
	return set_renderer(options, renderer_of(code), value);
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

/* Writes the endings that say which view it is, with commas between. */
static void list_endings(char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		if (renderer->ending && renderer->render != render_symbolize && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 renderer->ending);
	}
}

/*
 * Without a view, an ending that no view has is an error. Without an ending it is the table. - is
 * standard output.
 */
static int check_output(struct report_options *options)
{
	const char *name = options->output ? hi_base_name(options->output) : "";
	const char *ending = *name ? strrchr(name + 1, '.') : NULL;
	char endings[256], meant[64] = "";

	if (strcmp(name, "-") == 0 && name == options->output) {
		options->output = NULL;
		options->has_view = true;
		return 0;
	}
	if (options->renderer || !ending)
		return 0;
	struct hi_nearest nearest = {.typed = ending, .size = strlen(ending)};
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		if (renderer->ending)
			hi_nearest_look(&nearest, renderer->ending);
	}
	if (nearest.name)
		snprintf(meant, sizeof(meant), " (did you mean %s?)", nearest.name);
	list_endings(endings, sizeof(endings));
	report_complain(options,
			"no view writes %s%s; name a view (--text), or end it in one of %s", ending,
			meant, endings);
	return -EINVAL;
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

/* The view that the options and the ending of the output select. */
static int choose_renderer(struct report_options *options)
{
	const struct renderer *named = renderer_by_ending(options->output);

	options->has_view = options->renderer != NULL;
	if (!options->renderer)
		options->renderer = named;
	else if (is_growth_page(options->renderer, named))
		options->render.is_page = options->renderer->render == render_growth;
	const int err = check_output(options);
	if (!options->renderer || (options->renderer->argument && !options->render.argument))
		options->renderer = renderers;
	return err;
}

int report_options_parse(int argc, char **argv, struct report_options *out_options)
{
	struct report_options *options = out_options;
	struct hi_options given = {.argc = argc, .argv = argv, .next = 1};
	int code, err = 0;

	given.known = report_option_table_get(&given.letters);
	*options = (struct report_options){
		.command = argv[0],
		.argc = argc,
		.argv = argv,
		.render = {.type = INUSE_SPACE, .tail.share = LEAKS_TAIL_SHARE}};
	(void)render_use_unit("auto"); /* the shell's last command line may have set it */
	while (!err && (code = hi_options_next(&given)) != HI_OPTIONS_END)
		err = set_option(options, code, &given);
	if (!err && !options->help)
		err = take_files(options, argc - given.next, argv + given.next);
	if (!err)
		err = choose_renderer(options);
	if (!err && !options->help)
		err = check_symbolize(options);
	if (!err && !options->help)
		err = check_comparison(options);
	return err ? err : check_expressions(options);
}
