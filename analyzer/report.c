/* SPDX-License-Identifier: MIT */
/*
 * report.c - `heapinject report` and `heapinject diff`: reads profiles, writes one view. Start at
 * hi_analyzer_report().
 *
 * The format of an input is detected from its first bytes. Standard output carries only the view.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bias.h"
#include "caveats.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "known_names.h"
#include "merge.h"
#include "output_file.h"
#include "progress_bar.h"
#include "reader.h"
#include "render_formats.h"
#include "report_options.h"
#include "shell.h"
#include "snapshots.h"
#include "symbols.h"

/* ---- the profile ----------------------------------------------------------------------------- */

static const char *unreadable(int err)
{
	switch (err) {
	case -ENODATA:
		return "empty";
	case -ENOEXEC:
		return "none of what can be read: heap profiles of heapinject, gperftools and "
		       "jemalloc, with names before them or without, pprof profiles, "
		       "recordings of heaptrack, collapsed stacks, record streams";
	default:
		return strerror(-err);
	}
}

/*
 * While a session runs, the file for its final profile exists already. It is empty, and for a
 * moment incomplete. As the last snapshot of a series it would show that all memory is gone, so
 * --growth leaves it out.
 */
static bool is_left_out(const struct report_options *options, const char *file, int err,
			const struct profile *profile)
{
	if (options->renderer->render != render_growth ||
	    file != options->file[options->file_count - 1] || options->file_count < 2)
		return false;
	return err == -ENODATA || err == -EBADMSG || (!err && profile->meta.damage);
}

static int load(const struct report_options *options, const char *file, struct profile *profile)
{
	const bool is_stdin = strcmp(file, "-") == 0;
	const char *name = is_stdin ? "standard input" : file;
	const int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0) {
		report_complain(options, "%s: %s", name, strerror(errno));
		return -EIO;
	}
	progress_bar_phase("reading");
	progress_bar_file(fd);
	err = reader_read(fd, profile);
	progress_bar_phase("reading"); /* progress of that file has ended */
	if (!is_stdin)
		close(fd);
	if (is_left_out(options, file, err, profile))
		return err;
	if (err == -EBADMSG)
		report_complain(options, "%s: %s", name,
				profile->meta.damage ? profile->meta.damage : "damaged");
	else if (err)
		report_complain(options, "%s: %s", name, unreadable(err));
	else if (profile->meta.damage)
		report_complain(options, "%s: %s; showing what was good", name,
				profile->meta.damage);
	return err;
}

/* Refuses a --binary with another build-id: wrong names are worse than none. */
static int check_binary(const struct report_options *options, const char *file,
			const struct profile *profile)
{
	const int err = symbols_check_binary(profile, &options->symbols);
	const char *binary = options->symbols.binary;

	if (err == -ESTALE)
		report_complain(
			options,
			"%s is another build than the program in %s: their build-ids differ",
			binary, file);
	else if (err)
		report_complain(options, "%s: %s", binary,
				err == -ENOEXEC ? "not an ELF file" : strerror(-err));
	return err;
}

/* Prints once, for all files, which missing files would have provided more names. */
static void complain_of_lacks(const struct report_options *options,
			      const struct symbols_findings *findings)
{
	static bool is_reported;

	if (!findings->lacked || is_reported)
		return;
	is_reported = true;
	report_complain(
		options,
		"frames without the calls that are inlined there, for want of split debug "
		"information: %zu; %s is not there%s%s%s",
		findings->lacking, findings->lacked, findings->lacked_here ? ", and " : "",
		findings->lacked_here ? findings->lacked_here : "",
		findings->lacked_here
			? " is a package of such files, which libdw reads from elfutils 0.191 on"
			: "");
}

static int look_up(const struct symbols_options *symbols, struct known_names *names,
		   struct profile *profile)
{
	int err = bias_complete(profile, symbols->binary);

	if (!err && names)
		err = known_names_apply(names, profile);
	progress_bar_phase("naming");
	if (!err)
		err = symbols_resolve(profile, symbols);
	if (!err && names)
		err = known_names_learn(names, profile);
	return err;
}

static int resolve(const struct report_options *options, struct known_names *names,
		   struct profile *profile)
{
	struct symbols_findings findings = {0};
	struct symbols_options symbols = options->symbols;

	symbols.findings = &findings;
	symbols.complete = options->renderer->render == render_symbolize;
	const int err = look_up(&symbols, names, profile);
	if (err)
		report_complain(options, "out of memory");
	else
		complain_of_lacks(options, &findings);
	if (!err && symbols.complete)
		report_complain(options,
				"%zu frames without a name, of which %zu have one now; %zu that "
				"had one have source lines or inlined calls now",
				findings.sought, findings.found, findings.bettered);
	free(findings.lacked);
	free(findings.lacked_here);
	return err;
}

/*
 * Loads a file and resolves its symbols. Each file is resolved by itself, with its own modules: in
 * another file other code may be at the same addresses. names: those of the files before; NULL =
 * there is no other file.
 */
static int load_resolved(const struct report_options *options, const char *file,
			 struct known_names *names, struct profile *profile)
{
	int err = load(options, file, profile);

	if (!err)
		err = check_binary(options, file, profile);
	return err ? err : resolve(options, names, profile);
}

static void complain_of_unmatched(const struct report_options *options, unsigned int unmatched)
{
	for (unsigned int kind = 0; kind < FILTER_KINDS; kind++) {
		if (unmatched & 1u << kind)
			report_complain(options, "--%s %s matches nothing", filter_names[kind],
					options->filter.text[kind]);
	}
}

/* Replaces the profile with the part that passes the filters. */
static int apply_filters(const struct report_options *options, struct profile *profile)
{
	struct profile filtered;
	unsigned int unmatched;
	int err = percent_base_set(profile, options->filter.percent_base);

	if (!err && filter_is_idle(&options->filter))
		return 0;
	if (!err)
		err = filter_profile(profile, &options->filter, &filtered, &unmatched);
	if (err) {
		report_complain(options, "out of memory");
		return err;
	}
	complain_of_unmatched(options, unmatched);
	profile_close(profile);
	*profile = filtered;
	return 0;
}

/* Takes what the views need from each file separately, before it is merged with the others. */
static int add_snapshot(const struct report_options *options, enum profile_side side,
			const struct profile *profile)
{
	struct profile filtered;
	unsigned int unmatched;
	int err;

	if (!options->render.snapshots || side != PROFILE_NEW)
		return 0;
	if (filter_is_idle(&options->filter))
		return snapshots_add(options->render.snapshots, profile);
	err = filter_profile(profile, &options->filter, &filtered, &unmatched);
	if (err)
		return err;
	err = snapshots_add(options->render.snapshots, &filtered);
	profile_close(&filtered);
	return err;
}

/* The result of merging several files, and the names found so far. */
struct merged {
	struct profile *profile;
	struct known_names names;
};

static int add_file(const struct report_options *options, const char *file, enum profile_side side,
		    struct merged *merged)
{
	struct profile profile;
	int err = profile_open(&profile);

	if (!err)
		err = load_resolved(options, file, &merged->names, &profile);
	if (!err && (add_snapshot(options, side, &profile) ||
		     profile_merge(merged->profile, &profile, side))) {
		report_complain(options, "out of memory");
		err = -ENOMEM;
	}
	profile_close(&profile);
	return err;
}

static void complain_of_left_out(const struct report_options *options, const char *file, int err,
				 struct profile *profile)
{
	if (err == -ENODATA) {
		report_complain(
			options,
			"%s: empty, as the last file is while its session goes on; left out", file);
		return;
	}
	if (!profile->meta.damage)
		profile->meta.damage = strdup("damaged");
	report_complain(options, "%s: %s; left out", file,
			profile->meta.damage ? profile->meta.damage : "damaged");
}

/* Loads a file separately and adds it to the series, which keeps only the values of its stacks. */
static int add_to_series(const struct report_options *options, const char *file,
			 struct known_names *names, struct series *series, struct profile_meta *all)
{
	struct profile profile;
	int err = profile_open(&profile);

	if (!err)
		err = load_resolved(options, file, names, &profile);
	if (is_left_out(options, file, err, &profile)) {
		complain_of_left_out(options, file, err, &profile);
		err = 0;
	} else if (!err) {
		err = apply_filters(options, &profile);
		if (!err)
			err = series_add(series, &profile, options->render.type);
		if (!err)
			err = caveats_take_over(all, &profile.meta);
	}
	if (!all->damage) {
		all->damage = profile.meta.damage;
		profile.meta.damage = NULL;
	}
	profile_close(&profile);
	return err;
}

static int load_series(const struct report_options *options, struct series *series,
		       struct profile_meta *all)
{
	struct known_names names = {0};
	int err = 0;

	series->keeps_variance = options->render.is_page;
	for (size_t i = 0; i < options->file_count && !err; i++) {
		progress_bar_part(i, options->file_count);
		err = add_to_series(options, options->file[i], &names, series, all);
	}
	known_names_close(&names);
	return err;
}

static int add_all(const struct report_options *options, struct profile *profile)
{
	const size_t count = options->file_count + options->base_count;
	struct merged merged = {.profile = profile};
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		progress_bar_part(i, count);
		err = i < options->file_count
			      ? add_file(options, options->file[i], PROFILE_NEW, &merged)
			      : add_file(options, options->base[i - options->file_count],
					 PROFILE_BASE, &merged);
	}
	known_names_close(&merged.names);
	return err;
}

static int load_all(const struct report_options *options, struct series *series,
		    struct profile *profile)
{
	int err;

	progress_bar_open();
	if (options->renderer->render == render_growth)
		err = load_series(options, series, &profile->meta);
	else if (options->file_count == 1 && !options->base_count)
		err = load_resolved(options, options->file[0], NULL, profile);
	else
		err = add_all(options, profile);
	progress_bar_part(0, 0);
	progress_bar_phase("drawing");
	return err;
}

/* ---- the view -------------------------------------------------------------------------------- */

/* Prints the caveats on standard error if the format of the view has no place for them. */
static void warn_caveats(const struct report_options *options, const struct profile *profile)
{
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
	shown.intervals &= !caveats_withdraw(&profile->meta, shown.type == INUSE_SPACE ||
								     shown.type == INUSE_OBJECTS);
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

/* ---- the limit ------------------------------------------------------------------------------- */

/*
 * The value that --fail-above limits: for --leaks what grows; otherwise what is in use, in the last
 * file of --growth, or in a comparison the difference from the base.
 */
static int limited_value(const struct report_options *options, const struct profile *profile,
			 double *out_value)
{
	const struct series *series = options->render.series;
	struct stack_text text;
	struct leaks leaks = {0};
	int err;

	*out_value = options->renderer->render == render_growth && series->snapshot_count
			     ? series->snapshot[series->snapshot_count - 1].in_use
			     : estimate_total(profile, INUSE_SPACE).value;
	if (options->renderer->render != render_leaks)
		return 0;
	err = stack_text_open(profile, &text);
	if (!err)
		err = leaks_open(&text, &options->render.tail, &leaks);
	*out_value = leaks.growing_bytes.value;
	leaks_close(&leaks);
	stack_text_close(&text);
	return err;
}

/* True if the view asks what grows, and the caveats withhold the answer. */
static bool is_unsure_of_growth(const struct report_options *options, uint32_t caveats)
{
	const bool asks = options->renderer->render == render_leaks ||
			  options->renderer->render == render_growth;

	return asks && caveats_withhold_verdicts(caveats);
}

static int check_limit(const struct report_options *options, const struct profile *profile)
{
	const uint32_t caveats = caveats_bits(&profile->meta);
	char value_text[HI_UNITS_TEXT_MAX], limit_text[HI_UNITS_TEXT_MAX];
	double value;

	if (is_unsure_of_growth(options, caveats)) {
		report_complain(options, "cannot tell what grows: see the warnings of the report");
		return HI_EXIT_UNSURE;
	}
	if (!options->fail_above)
		return HI_EXIT_OK;
	if (limited_value(options, profile, &value)) {
		report_complain(options, "out of memory");
		return HI_EXIT_FAILED;
	}
	/*
	 * With caveats_too_low() the value is a lower bound, so a value above the limit is certain.
	 */
	if (caveats_too_high(caveats) ||
	    (caveats_too_low(caveats) && value <= (double)options->fail_above)) {
		report_complain(options,
				"cannot tell whether more than the %s of --fail-above %s: see the "
				"warnings of the report",
				hi_format_bytes((double)options->fail_above, limit_text,
						sizeof(limit_text)),
				options->renderer->render == render_leaks ? "grow" : "are in use");
		return HI_EXIT_UNSURE;
	}
	if (value <= (double)options->fail_above)
		return HI_EXIT_OK;
	report_complain(
		options, "%s %s, more than the %s of --fail-above",
		hi_format_bytes(value, value_text, sizeof(value_text)),
		options->renderer->render == render_leaks ? "grow" : "are in use",
		hi_format_bytes((double)options->fail_above, limit_text, sizeof(limit_text)));
	return HI_EXIT_ABOVE;
}

/* Shows one view. The profile cannot be used for another view afterwards. */
static int show(const struct report_options *options, struct profile *profile)
{
	/* --growth has no profile of all files together; each file was filtered by itself. */
	const int err =
		options->renderer->render == render_growth ? 0 : apply_filters(options, profile);

	return err ? err : render(options, profile);
}

static int report(struct report_options *options)
{
	struct profile profile;
	struct series series = {0};
	int err = profile_open(&profile), status = HI_EXIT_FAILED;

	options->render.series = &series;
	if (!err)
		err = load_all(options, &series, &profile);
	if (err || shell_is_wanted(options))
		progress_bar_close();
	if (!err)
		err = shell_is_wanted(options) ? shell_run(options, &profile, show)
					       : show(options, &profile);
	if (!err && !profile.meta.damage)
		status = check_limit(options, &profile);
	progress_bar_close();
	series_close(&series);
	profile_close(&profile);
	return status;
}

int hi_analyzer_report(int argc, char **argv)
{
	struct report_options *options = malloc(sizeof(*options));
	struct snapshots snapshots = {0};
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
		status = report(options);
	}
	snapshots_close(&snapshots);
	free(options);
	return status;
}
