/* SPDX-License-Identifier: MIT */
/*
 * render_massif.c - the text of valgrind's massif, for ms_print: how the memory in use has grown.
 *
 * With several files, each file is a snapshot, taken at its end. A single file records when the
 * blocks that are left at its end were allocated, as a mean per row. From this follows how much of
 * them had been allocated by a given time. That is less than what was in use at that time, because
 * it excludes what was freed in between. Times are milliseconds, from the end of the first file or
 * from the start of the only one.
 */
#include "render_formats.h"

#include <inttypes.h>
#include <math.h>

#include "massif_tree.h"
#include "snapshots.h"
#include "text_out.h"

#define POINTS 50u /* of one file */

struct point {
	double bytes, slack;
};

static void print_head(const struct profile_meta *meta, const char *description, const char *unit,
		       FILE *out)
{
	fprintf(out, "desc: %s\ncmd: ", description);
	text_plain(meta->cmdline ? meta->cmdline : meta->comm, "unknown", out);
	fprintf(out, "\ntime_unit: %s\n", unit);
}

/* Prints a snapshot. tree: the value of heap_tree; the lines of the tree follow. */
static void print_snapshot(size_t number, uint64_t time, const struct point *point,
			   const char *tree, FILE *out)
{
	fprintf(out,
		"#-----------\nsnapshot=%zu\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRId64
		"\nmem_heap_extra_B=%" PRId64 "\n",
		number, time, text_whole(fmax(point->bytes, 0)), text_whole(fmax(point->slack, 0)));
	fprintf(out, "mem_stacks_B=0\nheap_tree=%s\n", tree);
}

/* ---- several files --------------------------------------------------------------------------- */

static size_t peak_of(const struct snapshots *snapshots)
{
	size_t peak = 0;

	for (size_t i = 1; i < snapshots->count; i++) {
		if (snapshots->snapshot[i].bytes > snapshots->snapshot[peak].bytes)
			peak = i;
	}
	return peak;
}

static void print_files(const struct profile *profile, struct snapshots *snapshots, FILE *out)
{
	const bool has_times = snapshots_sort(snapshots);
	const size_t peak = peak_of(snapshots);

	print_head(&profile->meta,
		   has_times ? "heapinject, one snapshot a file"
			     : "heapinject, one snapshot a file, in the order given: their times "
			       "are not known",
		   has_times ? "ms" : "i", out);
	for (size_t i = 0; i < snapshots->count; i++) {
		const struct snapshot *snapshot = &snapshots->snapshot[i];
		const struct point point = {.bytes = snapshot->bytes, .slack = snapshot->slack};

		print_snapshot(i,
			       has_times ? (snapshot->time_ns - snapshots->snapshot[0].time_ns) /
						   1000000
					 : i,
			       &point, i == peak ? "peak" : "detailed", out);
		fputs(snapshot->tree, out);
	}
}

/* ---- one file -------------------------------------------------------------------------------- */

/*
 * The fraction of a row's remaining blocks that had been allocated by time_ns. It assumes that
 * their allocations are spread evenly around their mean, as widely as the window and the times of
 * the row's allocations allow.
 */
static double share_by(const struct profile_row *row, double time_ns, double end_ns)
{
	const double mean =
		row->inuse_count ? fmin(row->inuse_ns / (double)row->inuse_count, end_ns) : 0;
	double width = fmin(mean, end_ns - mean);

	if (row->last_ns)
		width = fmax(fmin(width,
				  fmin(mean - (double)row->first_ns, (double)row->last_ns - mean)),
			     0);
	if (width <= 0)
		return time_ns >= mean;
	return fmin(fmax((time_ns - mean + width) / (2 * width), 0), 1);
}

static void add_row(const struct profile *profile, const struct profile_row *row,
		    struct point *points, size_t count)
{
	const struct estimate estimate = estimate_of(profile, row, INUSE_SPACE);
	const double end_ns = (double)profile->meta.duration_ns;

	for (size_t i = 0; i < count; i++) {
		const double share =
			i + 1 == count
				? 1
				: share_by(row, end_ns * (double)i / (double)(count - 1), end_ns);

		points[i].bytes += share * estimate.value;
		points[i].slack += share * estimate.slack;
	}
}

static bool has_births(const struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		if (profile->row[i].inuse_ns > 0)
			return profile->meta.duration_ns > 0;
	}
	return false;
}

static int print_file(const struct profile *profile, FILE *out)
{
	struct point points[POINTS] = {{0}};
	const size_t count = has_births(profile) ? POINTS : 1;
	const uint64_t end_ms = profile->meta.duration_ns / 1000000;

	for (size_t i = 0; i < profile->row_count; i++)
		add_row(profile, &profile->row[i], points, count);
	print_head(&profile->meta,
		   count > 1 ? "heapinject, when what is in use at the end was allocated"
			     : "heapinject, what is in use at the end",
		   "ms", out);
	for (size_t i = 0; i + 1 < count; i++)
		print_snapshot(i, end_ms * i / (count - 1), &points[i], "empty", out);
	print_snapshot(count - 1, end_ms, &points[count - 1], "peak", out);
	return massif_tree_write(profile, out);
}

int render_massif(const struct profile *profile, const struct render_options *options, FILE *out)
{
	int err = render_refuse_comparison(profile, "massif's format");

	if (err)
		return err;
	if (options->snapshots && options->snapshots->count > 1)
		print_files(profile, options->snapshots, out);
	else
		err = print_file(profile, out);
	return render_result(err, out);
}
