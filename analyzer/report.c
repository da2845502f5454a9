/* SPDX-License-Identifier: MIT */
/*
 * report.c - `heapinject report` and `heapinject diff`: profiles in, one view out. Start at hi_analyzer_report().
 *
 * What format an input has is told from its first bytes. Standard output carries the view and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bias.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "merge.h"
#include "output_file.h"
#include "reader.h"
#include "render.h"
#include "report_options.h"
#include "shell.h"
#include "symbols.h"

/* ---- the profile ---- */

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

static int load(const struct report_options *options, const char *file, struct profile *profile)
{
	const bool is_stdin = strcmp(file, "-") == 0;
	const char *name = is_stdin ? "standard input" : file;
	const int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0) {
		report_complain(options, "%s: %s", name, strerror(errno));
		return -EIO;
	}
	error = reader_read(fd, profile);
	if (!is_stdin)
		close(fd);
	if (error == -EBADMSG)
		report_complain(options, "%s: %s", name, profile->meta.damage ? profile->meta.damage : "damaged");
	else if (error)
		report_complain(options, "%s: %s", name, unreadable(error));
	else if (profile->meta.damage)
		report_complain(options, "%s: %s; showing what was good", name, profile->meta.damage);
	return error;
}

/* Symbols are looked up in each file's own modules: elsewhere other code may lie at the same addresses. */
static int load_resolved(const struct report_options *options, const char *file, struct profile *profile)
{
	int error = load(options, file, profile);

	if (!error && (bias_complete(profile, options->symbols.binary) || symbols_resolve(profile, &options->symbols))) {
		report_complain(options, "out of memory");
		error = -ENOMEM;
	}
	return error;
}

static int add_file(const struct report_options *options, const char *file, enum profile_side side, struct profile *into)
{
	struct profile profile;
	int error = profile_open(&profile);

	if (!error)
		error = load_resolved(options, file, &profile);
	if (!error && profile_merge(into, &profile, side)) {
		report_complain(options, "out of memory");
		error = -ENOMEM;
	}
	profile_close(&profile);
	return error;
}

static int load_all(const struct report_options *options, struct profile *profile)
{
	int error = 0;

	if (options->file_count == 1 && !options->base_count)
		return load_resolved(options, options->file[0], profile);
	for (size_t i = 0; i < options->file_count && !error; i++)
		error = add_file(options, options->file[i], PROFILE_NEW, profile);
	for (size_t i = 0; i < options->base_count && !error; i++)
		error = add_file(options, options->base[i], PROFILE_BASE, profile);
	return error;
}

/* ---- the view ---- */

static int render(const struct report_options *options, const struct profile *profile)
{
	struct output_file output;
	int error = output_open(&output, options->output);

	if (error) {
		report_complain(options, "cannot write %s: %s", options->output, strerror(-error));
		return error;
	}
	error = options->renderer->render(profile, &options->render, output.stream);
	if (error) {
		report_complain(options, "%s", *render_error() ? render_error() : strerror(-error));
		output_abandon(&output);
		return error;
	}
	error = output_close(&output);
	if (error)
		report_complain(options, "cannot write %s: %s", options->output ? options->output : "standard output", strerror(-error));
	return error;
}

/* One view of what was read; the profile is of no use for another one. */
static int show(const struct report_options *options, struct profile *profile)
{
	return render(options, profile);
}

static int report(const struct report_options *options)
{
	struct profile profile;
	int error = profile_open(&profile);
	bool damaged;

	if (!error)
		error = load_all(options, &profile);
	if (!error)
		error = shell_is_wanted(options) ? shell_run(options, &profile, show) : show(options, &profile);
	damaged = profile.meta.damage != NULL;
	profile_close(&profile);
	return error || damaged ? HI_EXIT_FAILED : HI_EXIT_OK;
}

int hi_analyzer_report(int argc, char **argv)
{
	struct report_options *options = malloc(sizeof(*options));
	int status;

	if (!options) {
		fprintf(stderr, "heapinject %s: out of memory\n", argv[0]);
		return HI_EXIT_FAILED;
	}
	if (report_options_parse(argc, argv, options))
		status = HI_EXIT_USAGE;
	else if (options->help)
		status = fputs(hi_analyzer_report_help(), stdout) < 0 ? HI_EXIT_FAILED : HI_EXIT_OK;
	else
		status = report(options);
	free(options);
	return status;
}
