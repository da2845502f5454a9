/* SPDX-License-Identifier: MIT */
/* report_load.c - see report_load.h. */
#include "report_load.h"

#include <errno.h>
#include <string.h>

#include "caveats.h"
#include "known_names.h"
#include "merge.h"
#include "progress_bar.h"
#include "render_formats.h"
#include "render_units.h"
#include "report_file.h"
#include "report_option_table.h"
#include "report_sum.h"
#include "residency.h"
#include "tag_frames.h"

static void complain_of_unmatched(const struct report_options *options, unsigned int unmatched)
{
	for (unsigned int kind = 0; kind < FILTER_KINDS; kind++) {
		if (unmatched & 1u << kind)
			report_complain(options, "--%s %s matches nothing%s", filter_names[kind],
					options->filter.text[kind],
					kind == FILTER_TAGFOCUS || kind == FILTER_TAGIGNORE
						? "; --tags shows the tags that there are"
						: "");
	}
}

int report_check_type(const struct report_options *options, const char *file,
		      const struct profile *profile)
{
	const char *why = residency_text(profile->meta.residency);

	if (!options->has_type || (int)options->render.type < sample_type_count(profile))
		return 0;
	report_complain(options, "--%s: %s%s%s", report_option_table_type(options->render.type),
			file ? file : "", file ? ": " : "",
			why ? why
			    : "what is resident is not known: a .pb.gz of a session says it, and "
			      "of several files all must");
	return -ENODATA;
}

/* Before the filters, which may name these frames, too. */
static int add_tags(const struct report_options *options, struct profile *profile)
{
	const struct tag_frames tags = {.root = options->filter.tagroot,
					.leaf = options->filter.tagleaf,
					.size = render_size};
	bool is_found;

	if (!tags.root && !tags.leaf)
		return 0;
	const int err = tag_frames_add(profile, &tags, &is_found);
	if (!err && !is_found)
		report_complain(options,
				"--%s %s: nothing has such a tag; --tags shows those that there "
				"are",
				tags.root ? "tagroot" : "tagleaf",
				tags.root ? tags.root : tags.leaf);
	return err;
}

int report_filter(const struct report_options *options, struct profile *profile)
{
	struct profile filtered;
	unsigned int unmatched;
	int err = percent_base_set(profile, options->filter.percent_base);

	profile->meta.is_mean = options->mean;
	if (!err && filter_is_idle(&options->filter))
		return 0;
	if (!err)
		err = add_tags(options, profile);
	if (!err)
		err = filter_profile(profile, &options->filter, &filtered, &unmatched);
	if (err) {
		report_complain(options, "out of memory");
		return err;
	}
	complain_of_unmatched(options, unmatched);
	filtered.meta.is_mean = options->mean;
	profile_close(profile);
	*profile = filtered;
	return 0;
}

static void complain_of_left_out(const struct report_options *options, const char *file, int err,
				 struct profile *profile)
{
	if (err == -ENODATA || err == -EINPROGRESS)
		return; /* report_file.c has said so */
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
		err = report_file_load(options, file, names, &profile);
	if (report_file_is_left_out(options, file, err, &profile)) {
		complain_of_left_out(options, file, err, &profile);
		err = 0;
	} else if (!err) {
		err = report_check_type(options, file, &profile);
		if (!err)
			err = report_filter(options, &profile);
		if (!err)
			err = series_add(series, &profile, options->render.type);
		if (!err && options->render.set)
			err = profile_set_add(options->render.set, &profile,
					      report_file_name(file));
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

	for (size_t i = 0; i < options->file_count && !err; i++) {
		progress_bar_part(i, options->file_count);
		err = add_to_series(options, options->file[i], &names, series, all);
	}
	known_names_close(&names);
	return err;
}

/* The page of --growth shows the last file beside the series; what all are warned of stays. */
static int show_last(const struct profile_set *set, struct profile *profile)
{
	struct profile last;
	int err;

	if (!set || !set->count)
		return 0;
	err = profile_open(&last);
	if (!err)
		err = profile_merge(&last, &set->profile[set->count - 1], PROFILE_NEW);
	if (!err)
		err = caveats_take_over(&last.meta, &profile->meta);
	if (!err && !last.meta.damage) {
		last.meta.damage = profile->meta.damage;
		profile->meta.damage = NULL;
	}
	profile_close(err ? &last : profile);
	if (!err)
		*profile = last;
	return err;
}

int report_load(const struct report_options *options, struct series *series,
		struct profile *profile)
{
	int err;

	progress_bar_open();
	series->keeps_variance = options->render.set != NULL;
	if (options->renderer->render == render_growth) {
		err = load_series(options, series, &profile->meta);
		if (!err)
			err = show_last(options->render.set, profile);
	} else if (options->file_count == 1 && !options->base_count)
		err = report_file_load(options, options->file[0], NULL, profile);
	else
		err = report_sum(options, options->render.set ? series : NULL, profile);
	progress_bar_part(0, 0);
	progress_bar_phase("drawing");
	return err;
}
