/* SPDX-License-Identifier: MIT */
/*
 * report.c - `heapinject report` and `heapinject diff`: reads profiles (report_load.h), writes one
 * view, says whether it is above a limit (report_limit.h). Start at hi_analyzer_report().
 *
 * Standard output carries only the view.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "output_file.h"
#include "progress_bar.h"
#include "render_formats.h"
#include "report_limit.h"
#include "report_load.h"
#include "report_command_line.h"
#include "shell.h"
#include "snapshots.h"

/*
 * Prints on standard error which files the view is of, if its format has no place for that. massif
 * shows all files as they are.
 */
static void tell_sources(const struct report_options *options, const struct profile *profile)
{
	const struct renderer *renderer = options->renderer;
	const char *line = profile->meta.sources;

	if ((!renderer->is_bare && renderer->render != render_heap &&
	     renderer->render != render_pprof) ||
	    renderer->render == render_massif)
		return;
	for (; line && *line; line += strcspn(line, "\n") + 1)
		report_complain(options, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Prints the caveats on standard error if the format of the view has no place for them. */
static void warn_caveats(const struct report_options *options, const struct profile *profile)
{
	tell_sources(options, profile);
	for (int kind = 0; kind < HI_CAVEATS && options->renderer->is_bare; kind++)
		if (profile->meta.caveat[kind])
			report_complain(options, "%s", profile->meta.caveat[kind]);
}

static int render(const struct report_options *options, const struct profile *profile)
{
	struct render_options shown = options->render;
	struct output_file output;
	int err = output_open(&output, options->output);

	if (err) {
		report_complain(options, "cannot write %s: %s", options->output, strerror(-err));
		return err;
	}
	if (output_is_seen(&output))
		progress_bar_close();
	style_use(output.stream, options->color);
	if (!options->has_type)
		shown.type = sample_type_shown_first(profile);
	shown.file_count = profile->meta.files ? profile->meta.files : 1;
	shown.intervals &= !caveats_withdraw(&profile->meta, sample_type_is_inuse(shown.type));
	err = options->renderer->render(profile, &shown, output.stream);
	style_use(NULL, STYLE_NEVER);
	progress_bar_close();
	if (err) {
		report_complain(options, "%s", *render_error() ? render_error() : strerror(-err));
		output_abandon(&output);
		return err;
	}
	err = output_close(&output);
	if (err)
		report_complain(options, "cannot write %s: %s",
				options->output ? options->output : "standard output",
				strerror(-err));
	else
		warn_caveats(options, profile);
	return err;
}

/* Shows one view. The profile cannot be used for another view afterwards. */
static int show(const struct report_options *options, struct profile *profile)
{
	/* --growth has no profile of all files together; each file was filtered by itself. */
	int err = 0;

	if (options->renderer->render != render_growth) {
		err = report_check_type(options, NULL, profile);
		if (!err)
			err = report_filter(options, profile);
	}

	/* a file that is written asks for it, too */
	if (options->has_type)
		profile->meta.default_type = (uint32_t)options->render.type + 1;
	return err ? err : render(options, profile);
}

static int report(struct report_options *options)
{
	struct profile profile;
	struct series series = {0};
	int err = profile_open(&profile), status = HI_EXIT_FAILED;

	options->render.series = &series;
	if (!err)
		err = report_load(options, &series, &profile);
	if (err || shell_is_wanted(options))
		progress_bar_close();
	if (!err)
		err = shell_is_wanted(options) ? shell_run(options, &profile, show)
					       : show(options, &profile);
	if (!err && !profile.meta.damage)
		status = report_check_limit(options, &profile);
	progress_bar_close();
	series_close(&series);
	profile_close(&profile);
	return status;
}

/* A page and a trace of several files show them one by one, too. */
static bool wants_set(const struct report_options *options)
{
	return ((options->renderer->render == render_html ||
		 options->renderer->render == render_perfetto) &&
		options->file_count > 1) ||
	       (options->renderer->render == render_growth && options->render.is_page);
}

int hi_analyzer_report(int argc, char **argv)
{
	struct report_options *options = malloc(sizeof(*options));
	struct snapshots snapshots = {0};
	struct profile_set set = {0};
	int status;

	if (!options) {
		fprintf(stderr, "heapinject %s: out of memory\n", argv[0]);
		return HI_EXIT_FAILED;
	}
	if (report_options_parse(argc, argv, options))
		status = HI_EXIT_USAGE;
	else if (options->help)
		status = fputs(hi_analyzer_report_help(), stdout) < 0 ? HI_EXIT_FAILED : HI_EXIT_OK;
	else {
		options->render.snapshots =
			options->renderer->render == render_massif ? &snapshots : NULL;
		options->render.set = wants_set(options) ? &set : NULL;
		set.total = options->file_count;
		status = report(options);
	}
	snapshots_close(&snapshots);
	profile_set_close(&set);
	free(options);
	return status;
}
