/* SPDX-License-Identifier: MIT */
/*
 * report_command_line.c - see report_command_line.h. First the options one by one
 * (report_options.h), then the files, then the view, which may follow from the name of the output,
 * then what goes together. Start at report_options_parse().
 */
#include "report_command_line.h"

#include <errno.h>
#include <string.h>

#include "hi_options.h"
#include "hi_path.h"
#include "remote_argument.h"
#include "render_formats.h"
#include "render_units.h"
#include "report_option_table.h"

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
	if (!err)
		err = check_expression(options, "tagshow", options->render.tagshow);
	if (!err)
		err = check_expression(options, "taghide", options->render.taghide);
	if (err || !renderer->argument || strcmp(renderer->argument, "RE") != 0)
		return err;
	return check_expression(options, renderer->name, options->render.argument);
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
		if (renderer->ending && renderer->render != render_symbolize &&
		    renderer->render != render_weblist && used < size)
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
		if (report_options_add_base(options, *file++,
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

/* Takes the URLs among the files; what may be secret in them is not to be shown. */
static int take_urls(struct report_options *options)
{
	size_t count = 0;

	for (size_t i = 0; i < options->file_count + options->base_count; i++) {
		const char *file = i < options->file_count ? options->file[i]
							   : options->base[i - options->file_count];
		const char *complaint;

		if (!remote_argument_is(file))
			continue;
		count++;
		complaint = remote_argument_take((char *)file);
		if (complaint) {
			report_complain(options, "%s", complaint);
			return -EINVAL;
		}
	}
	if (options->fetch.seconds && !count) {
		report_complain(options, "--seconds is for URLs, which a program serves; of any "
					 "other one: heapinject attach PID -s TIME");
		return -EINVAL;
	}
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
	if (options->normalize && options->scale_base) {
		report_complain(options, "--normalize and --scale-base exclude each other");
		return -EINVAL;
	}
	if ((options->as_is || options->scale_base || options->normalize) && !options->base_count) {
		report_complain(options, "--%s is for comparisons: diff, --base",
				options->as_is       ? "as-is"
				: options->normalize ? "normalize"
						     : "scale-base");
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
	else if (report_options_is_growth_page(options->renderer, named))
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
	/* the shell's last command line may have set them */
	(void)render_use_unit("auto");
	render_divide_by(1);
	while (!err && (code = hi_options_next(&given)) != HI_OPTIONS_END)
		err = report_options_set(options, code, &given);
	if (!err && !options->help)
		err = take_files(options, argc - given.next, argv + given.next);
	if (!err && !options->help)
		err = take_urls(options);
	if (!err)
		err = choose_renderer(options);
	if (!err && !options->help)
		err = check_symbolize(options);
	if (!err && !options->help)
		err = check_comparison(options);
	return err ? err : check_expressions(options);
}
