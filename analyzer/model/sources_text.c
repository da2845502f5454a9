/* SPDX-License-Identifier: MIT */
/* sources_text.c - what a report says of its files. Start at sources_describe(). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hi_units.h"
#include "sources.h"

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Warns if the side has several programs, and names two of them. True if it has. */
static bool warn_programs(const struct sources *sources, const struct source *first, FILE *out)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *at = &sources->source[i];

		if (at->side != first->side || at->is_superseded ||
		    !source_is_other_program(first, at))
			continue;
		fprintf(out, "Warning: different programs are added up: %s and %s\n",
			source_program(first), source_program(at));
		return true;
	}
	return false;
}

static bool has_builds(const struct sources *sources, const struct source *first)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *at = &sources->source[i];

		if (at->side == first->side && !at->is_superseded &&
		    source_is_other_build(first, at))
			return true;
	}
	return false;
}

static void print_sum(const struct sources *sources, const struct sources_side *side,
		      const char *label, FILE *out)
{
	if (!side->is_known)
		fprintf(out, "%s: %zu added up", label, side->count);
	else if (side->processes > 1)
		fprintf(out, "%s: %zu processes added up", label, side->processes);
	else if (side->sessions > 1)
		fprintf(out, "%s: %zu sessions of one process added up", label, side->sessions);
	else
		fprintf(out, "%s: %zu of one session added up", label, side->count);
	if (side->is_known && side->processes > 1 && side->sessions > side->processes)
		fprintf(out, " in %zu sessions", side->sessions);
	if (side->superseded)
		fprintf(out, ", of each session its last snapshot");
	if (side->is_known && side->longest_ns > side->shortest_ns)
		fprintf(out, "; windows of %.1fs to %.1fs", seconds(side->shortest_ns),
			seconds(side->longest_ns));
	putc('\n', out);
	if (side->is_known && side->sessions < side->count)
		fprintf(out, "Warning: snapshots of one session are added up (--sum): each has "
			     "what those before it have, too\n");
	if (!warn_programs(sources, side->first, out) && has_builds(sources, side->first))
		fprintf(out, "Warning: the program was built differently: functions are added up "
			     "by name, addresses mean nothing\n");
}

static void print_side(const struct sources *sources, const struct sources_side *side,
		       const char *label, FILE *out)
{
	if (side->count > 1)
		print_sum(sources, side, label, out);
	else if (side->count && side->snapshots > 1)
		fprintf(out,
			"%s: the last of %zu snapshots of this session; --growth compares them, "
			"--sum adds files up\n",
			label, side->snapshots);
}

/* True if a file of the base is later than that of the same session on the other side. */
static bool is_reversed(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		for (size_t k = 0; k < sources->count; k++) {
			const struct source *base = &sources->source[i], *new = &sources->source[k];

			if (base->side == PROFILE_BASE && new->side == PROFILE_NEW &&
			    !base->is_superseded && !new->is_superseded &&
			    source_is_same_session(base, new) &&
			    base->duration_ns > new->duration_ns)
				return true;
		}
	}
	return false;
}

static void print_one_session(const struct sources *sources, const struct sources_side *base,
			      const struct sources_side *new, FILE *out)
{
	const uint64_t from = base->first->duration_ns, to = new->first->duration_ns;

	if (base->count > base->sessions || new->count > new->sessions)
		return; /* a sum of snapshots is of no moment */
	if (is_reversed(sources))
		fprintf(out,
			"Warning: the base is the later one: from %.1fs of the session back to "
			"%.1fs; name the earlier file first\n",
			seconds(base->longest_ns), seconds(new->shortest_ns));
	else if (new->sessions > 1)
		fprintf(out, "Compared: two moments of each of %zu sessions\n", new->sessions);
	else if (from == to)
		fprintf(out, "Compared: a snapshot with itself, at %.1fs of the session\n",
			seconds(to));
	else
		fprintf(out, "Compared: between %.1fs and %.1fs of the session\n", seconds(from),
			seconds(to));
}

/* Says what the base is, if it is one file. */
static void print_base(const struct source *base, const struct source *new, FILE *out)
{
	const time_t start = (time_t)(base->start_unix_ns / 1000000000u);
	char text[HI_UNITS_TEXT_MAX];
	struct tm utc;

	if (source_is_same_process(base, new))
		fprintf(out, "another session of this process");
	else
		fprintf(out, "%s (pid %" PRIu32 ")%s%s",
			*source_program(base) ? source_program(base) : "a process", base->pid,
			base->host ? " on " : "", base->host ? base->host : "");
	if (gmtime_r(&start, &utc) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc))
		fprintf(out, ", %.1fs from %s UTC", seconds(base->duration_ns), text);
	if (base->start_unix_ns > new->start_unix_ns)
		fprintf(out, ", which is later");
}

static void print_windows(const struct sources *sources, double scale,
			  const struct sources_side *base, const struct sources_side *new,
			  FILE *out)
{
	const double from = seconds(base->longest_ns), to = seconds(new->longest_ns);

	if (sources->do_scale)
		fprintf(out,
			"; counted %.4g times, for windows of %.1fs and %.1fs (--scale-base)\n",
			scale, from, to);
	else if (base->longest_ns != new->longest_ns)
		fprintf(out, "; windows of %.1fs and %.1fs, as they are\n", from, to);
	else
		putc('\n', out);
	if (sources->as_is && !sources_are_alike(base->shortest_ns, new->longest_ns))
		fprintf(out, "Warning: the base has the shorter window, and so less of "
			     "everything (--as-is)\n");
	else if (sources->as_is && !sources_are_alike(new->shortest_ns, base->longest_ns))
		fprintf(out, "Warning: the base has the longer window, and so more of "
			     "everything (--as-is)\n");
}

static void print_comparison(const struct sources *sources, double scale,
			     const struct sources_side *base, const struct sources_side *new,
			     FILE *out)
{
	if (!base->is_known || !new->is_known)
		return;
	if (sources_are_same_sessions(sources)) {
		print_one_session(sources, base, new, out);
		return;
	}
	fprintf(out, "Compared: with ");
	if (base->count > 1)
		fprintf(out, "%zu files", base->count);
	else
		print_base(base->first, new->first, out);
	print_windows(sources, scale, base, new, out);
}

static void print_programs(const struct source *base, const struct source *new, FILE *out)
{
	if (source_is_other_program(base, new))
		fprintf(out, "Warning: different programs are compared: %s and %s\n",
			source_program(base), source_program(new));
	else if (source_is_other_build(base, new))
		fprintf(out, "Warning: built differently: functions are compared by name, "
			     "addresses mean nothing\n");
}

int sources_describe(const struct sources *sources, double scale, char **out_text)
{
	const struct sources_side base = sources_side(sources, PROFILE_BASE),
				  new = sources_side(sources, PROFILE_NEW);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	print_side(sources, &new, "Files", out);
	print_side(sources, &base, "Base files", out);
	if (base.count && new.count) {
		print_comparison(sources, scale, &base, &new, out);
		print_programs(base.first, new.first, out);
	}
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	if (!size) {
		free(text);
		text = NULL;
	}
	*out_text = text;
	return 0;
}
