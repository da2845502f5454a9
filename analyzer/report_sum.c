/* SPDX-License-Identifier: MIT */
/*
 * report_sum.c - see report_sum.h.
 *
 * Which snapshot of a session is its last is known only after all files. So the last one of each
 * session is held back until the end or, as memory has a bound, until HELD_MAX more sessions have
 * come. A shell sorts the snapshots of a session side by side.
 */
#include "report_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "known_names.h"
#include "merge.h"
#include "progress_bar.h"
#include "report_file.h"
#include "snapshots.h"
#include "sources.h"

#define HELD_MAX 16u

struct held {
	struct profile profile;
	size_t source; /* its number in sources */
};
struct sum {
	const struct report_options *options;
	struct profile *profile;
	struct series *series;    /* of the files of the new side; NULL = nobody wants it */
	struct known_names names; /* found so far */
	struct sources sources;
	struct held held[HELD_MAX]; /* in the order in which they came */
	size_t held_count;
};

static int no_memory(const struct sum *sum)
{
	report_complain(sum->options, "out of memory");
	return -ENOMEM;
}

static int keep_snapshot(struct sum *sum, const char *file, const struct profile *profile)
{
	const struct render_options *render = &sum->options->render;
	int err = 0;

	if (render->snapshots)
		return snapshots_add(render->snapshots, profile);
	if (sum->series)
		err = series_add(sum->series, profile, render->type);
	return err ? err : profile_set_add(render->set, profile, report_file_name(file));
}

/* Takes what the views need from each file separately, before it is merged with the others. */
static int add_snapshot(struct sum *sum, const char *file, enum profile_side side,
			const struct profile *profile)
{
	const struct report_options *options = sum->options;
	struct profile filtered;
	unsigned int unmatched;
	int err;

	if ((!options->render.snapshots && !options->render.set) || side != PROFILE_NEW)
		return 0;
	if (filter_is_idle(&options->filter))
		return keep_snapshot(sum, file, profile);
	err = filter_profile(profile, &options->filter, &filtered, &unmatched);
	if (err)
		return err;
	err = keep_snapshot(sum, file, &filtered);
	profile_close(&filtered);
	return err;
}

static int merge(struct sum *sum, const struct profile *profile, size_t source)
{
	return profile_merge(sum->profile, profile, sum->sources.source[source].side)
		       ? no_memory(sum)
		       : 0;
}

static int merge_oldest(struct sum *sum)
{
	struct held *oldest = &sum->held[0];
	const int err = merge(sum, &oldest->profile, oldest->source);

	profile_close(&oldest->profile);
	memmove(oldest, oldest + 1, --sum->held_count * sizeof(*oldest));
	return err;
}

/* Whether no file to come can be a later snapshot of the same session, and none is before it. */
static bool is_final(const struct sum *sum, const struct source *source)
{
	return sum->held_count == 0 &&
	       (sum->sources.adds_up || !source_is_same_session(source, source));
}

static int hold(struct sum *sum, struct profile *profile, size_t source)
{
	const int err = sum->held_count == HELD_MAX ? merge_oldest(sum) : 0;

	if (err)
		return err;
	sum->held[sum->held_count++] = (struct held){.profile = *profile, .source = source};
	*profile = (struct profile){0};
	return 0;
}

/* The earlier file of the same session and side that counts so far; NULL = there is none. */
static struct source *counted_snapshot(const struct sum *sum, const struct source *source)
{
	for (struct source *at = sum->sources.source; at < source; at++) {
		if (at->side == source->side && !at->is_superseded &&
		    source_is_same_session(at, source))
			return at;
	}
	return NULL;
}

static struct held *held_of(struct sum *sum, const struct source *source)
{
	for (size_t i = 0; i < sum->held_count; i++) {
		if (&sum->sources.source[sum->held[i].source] == source)
			return &sum->held[i];
	}
	return NULL;
}

/* Of two snapshots of one session, the later one is held on. */
static int keep_later(struct sum *sum, struct source *before, struct source *source,
		      struct profile *profile)
{
	struct held *held = held_of(sum, before);
	const struct profile earlier = held ? held->profile : (struct profile){0};

	if (!held) {
		report_complain(sum->options,
				"%s is of the same session as %s, which was added up before it was "
				"seen; name the files of one session side by side",
				source->file, before->file);
		return -EINVAL;
	}
	if (source->duration_ns <= before->duration_ns) {
		source->is_superseded = true;
		return 0;
	}
	before->is_superseded = true;
	held->profile = *profile;
	held->source = (size_t)(source - sum->sources.source);
	*profile = earlier;
	return 0;
}

static int add_profile(struct sum *sum, const char *file, enum profile_side side,
		       struct profile *profile)
{
	struct source *source, *before;

	if (add_snapshot(sum, file, side, profile) ||
	    sources_add(&sum->sources, profile, file, side))
		return no_memory(sum);
	source = &sum->sources.source[sum->sources.count - 1];
	if (is_final(sum, source))
		return merge(sum, profile, sum->sources.count - 1);
	before = sum->sources.adds_up ? NULL : counted_snapshot(sum, source);
	return before ? keep_later(sum, before, source, profile)
		      : hold(sum, profile, sum->sources.count - 1);
}

static int add_file(struct sum *sum, const char *file, enum profile_side side)
{
	struct profile profile;
	int err = profile_open(&profile);

	if (!err)
		err = report_file_load(sum->options, file, &sum->names, &profile);
	if (!err)
		err = add_profile(sum, file, side, &profile);
	else if (report_file_is_left_out(sum->options, file, err, &profile))
		err = 0;
	profile_close(&profile);
	return err;
}

static int add_all(struct sum *sum)
{
	const struct report_options *options = sum->options;
	const size_t count = options->file_count + options->base_count;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		progress_bar_part(i, count);
		err = i < options->file_count
			      ? add_file(sum, options->file[i], PROFILE_NEW)
			      : add_file(sum, options->base[i - options->file_count], PROFILE_BASE);
	}
	while (!err && sum->held_count)
		err = merge_oldest(sum);
	return err;
}

/* Says in the profile what it is of, unless it is a comparison that misleads. */
static int describe(const struct sum *sum)
{
	struct profile_meta *meta = &sum->profile->meta;
	char *why = NULL;
	int err = sources_check(&sum->sources, &meta->base_scale, &why);

	if (why)
		report_complain(sum->options, "%s", why);
	free(why);
	if (!err)
		err = sources_describe(&sum->sources, meta->base_scale, &meta->sources);
	return err == -ENOMEM ? no_memory(sum) : err;
}

/* A side of which every file was left out would be nothing, not an empty one. */
static int check_sides(const struct sum *sum)
{
	if (sources_side(&sum->sources, PROFILE_NEW).count &&
	    (!sum->options->base_count || sources_side(&sum->sources, PROFILE_BASE).count))
		return 0;
	report_complain(sum->options, "no file is left to show");
	return -ENODATA;
}

int report_sum(const struct report_options *options, struct series *series, struct profile *profile)
{
	struct sum sum = {
		.options = options,
		.profile = profile,
		.series = series,
		.sources = {.adds_up = options->adds_up,
			    .as_is = options->as_is || options->normalize,
			    .do_scale = options->scale_base},
	};
	int err = add_all(&sum);

	if (!err)
		err = check_sides(&sum);
	if (!err)
		err = describe(&sum);
	if (!err && options->normalize)
		estimate_normalize(profile);
	while (sum.held_count)
		profile_close(&sum.held[--sum.held_count].profile);
	known_names_close(&sum.names);
	sources_close(&sum.sources);
	return err;
}
