/* SPDX-License-Identifier: MIT */
/*
 * report_options.c - see report_options.h: what each option sets. Which options there are is in
 * report_option_table.c, what they are together in report_command_line.c.
 */
#include "report_options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hi_options.h"
#include "hi_units.h"
#include "progress_bar.h"
#include "render_formats.h"
#include "render_units.h"
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

bool report_options_is_growth_page(const struct renderer *one, const struct renderer *other)
{
	return one && other &&
	       ((one->render == render_growth && other->render == render_html) ||
		(one->render == render_html && other->render == render_growth));
}

/* --text --raw, in any order, is --text --all-functions. */
static bool is_raw_of(struct report_options *options, const struct renderer *renderer)
{
	const bool was_raw = options->renderer && options->renderer->render == render_raw,
		   is_raw = renderer->render == render_raw;

	if (!options->renderer || was_raw == is_raw)
		return false;
	options->render.raw = true;
	if (is_raw)
		return true;
	options->renderer = NULL;
	return false;
}

static int set_renderer(struct report_options *options, const struct renderer *renderer,
			const char *argument)
{
	if (report_options_is_growth_page(options->renderer, renderer)) {
		options->render.is_page = true;
		if (renderer->render == render_growth)
			options->renderer = renderer;
		return 0;
	}
	if (is_raw_of(options, renderer))
		return 0;
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

/* As in pprof: 0 and below is everything, but -1 is what the view does by itself. */
static int set_limit(struct report_options *options, const struct hi_options *given)
{
	const char *text = given->value, *typed = given->word + 1 + (given->word[1] == '-');
	const struct option *named = hi_option_find(given->known, typed, strcspn(typed, "="));
	const bool is_negative = *text == '-';
	const char *end;
	uint64_t limit;

	if (hi_parse_digits(text + is_negative, &limit, &end) || *end || limit > LIMIT_MAX) {
		report_complain(options, "%s%s wants a number (0 is all), not \"%s\"",
				named ? "--" : "-", named ? named->name : "n", text);
		return -EINVAL;
	}
	options->render.limit = is_negative && limit == 1 ? 0
				: limit && !is_negative   ? (size_t)limit
							  : LIMIT_MAX;
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
		report_complain(options,
				"--unit is bytes, kb, mb, gb, tb, minimum or auto, not \"%s\"",
				name);
		return -EINVAL;
	}
	return 0;
}

static int set_divisor(const struct report_options *options, const char *text)
{
	char *end;
	const double divisor = strtod(text, &end);

	if (end == text || *end || !isfinite(divisor) || divisor == 0) {
		report_complain(options, "--divide-by wants a number, and not 0; not \"%s\"", text);
		return -EINVAL;
	}
	render_divide_by(divisor);
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

int report_options_add_base(struct report_options *options, const char *file,
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

	if (code != HI_OPTION_BARE && instead)
		report_complain(options, "unknown option: %s; %s; see heapinject %s --help",
				given->word, instead, options->command);
	else
		report_complain(options, "%s; see heapinject %s --help",
				hi_options_explain(given, code, complaint), options->command);
	return -EINVAL;
}

static int set_type(struct report_options *options, const char *text)
{
	options->has_type = true;
	if (report_option_table_type_of(text, &options->render.type))
		return 0;
	report_complain(options,
			"--sample-index is alloc_objects (0), alloc_space (1), inuse_objects (2), "
			"inuse_space (3), resident_space (4) or swapped_space (5), not \"%s\"",
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
				"--granularity is functions, filefunctions, files, lines or "
				"addresses, not \"%s\"",
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
	case OPTION_CALL_TREE:
		options->render.call_tree = is_on;
		return true;
	case OPTION_NORMALIZE:
		options->normalize = is_on;
		return true;
	case OPTION_MMAP:
		options->mmap = is_on;
		return 0;
	case OPTION_POOLS:
		options->pools = is_on;
		return true;
	case OPTION_MEAN:
		options->mean = is_on;
		return true;
	case OPTION_DROP_NEGATIVE:
		options->render.drop_negative = is_on;
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
	case OPTION_DIVIDE_BY:
		return set_divisor(options, value);
	case OPTION_TAGROOT:
		options->filter.tagroot = value;
		return 0;
	case OPTION_TAGLEAF:
		options->filter.tagleaf = value;
		return 0;
	case OPTION_TAGSHOW:
		options->render.tagshow = value;
		return 0;
	case OPTION_TAGHIDE:
		options->render.taghide = value;
		return 0;
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

static int set_timeout(struct report_options *options, const char *text)
{
	if (hi_parse_time(text, &options->fetch.timeout_ns)) {
		report_complain(options, "--timeout wants a time above 0: 90, 90s, 5m; not \"%s\"",
				text);
		return -EINVAL;
	}
	return 0;
}

static int set_sysroot(struct report_options *options, const char *directory)
{
	struct stat status;

	if (stat(directory, &status) || !S_ISDIR(status.st_mode)) {
		report_complain(options,
				"--sysroot wants a directory that has the files of the "
				"profile's machine; %s is none",
				directory);
		return -EINVAL;
	}
	options->symbols.files.sysroot = options->render.files.sysroot = directory;
	return 0;
}

static int set_seconds(struct report_options *options, const char *text)
{
	const char *end;
	uint64_t seconds;

	if (hi_parse_digits(text, &seconds, &end) || *end || !seconds ||
	    seconds > REMOTE_URL_SECONDS_MAX) {
		report_complain(options, "--seconds wants a number from 1 to %u, not \"%s\"",
				REMOTE_URL_SECONDS_MAX, text);
		return -EINVAL;
	}
	options->fetch.seconds = seconds;
	return 0;
}

int report_options_set(struct report_options *options, int code, const struct hi_options *given)
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
		options->symbols.files.binary = options->render.files.binary = value;
		return 0;
	case OPTION_SYSROOT:
		return set_sysroot(options, value);
	case 'n':
		return set_limit(options, given);
	case OPTION_SORT:
		return set_sort(options, value);
	case OPTION_TAIL:
		return set_tail(options, value);
	case OPTION_FAIL_ABOVE:
		return set_fail_above(options, value);
	case OPTION_BASE:
		return report_options_add_base(options, value, PERCENT_BASE_CHANGES);
	case OPTION_DIFF_BASE:
		return report_options_add_base(options, value, PERCENT_BASE_BASE);
	case OPTION_TIMEOUT:
		return set_timeout(options, value);
	case OPTION_SECONDS:
		return set_seconds(options, value);
	case OPTION_COLOR:
		return set_color(options, value);
	}
	if (!value && set_switch(options, code, !given->is_off))
		return 0;
	if (code >= OPTION_TRIM_PATH && code < OPTION_TYPE)
		return set_filter_option(options, code, value);
	if (code >= OPTION_TYPE && code < OPTION_RENDERER) {
		options->render.type = (enum sample_type)(code - OPTION_TYPE);
		options->has_type = true;
		return 0;
	}
	return set_renderer(options, renderer_of(code), value);
}
