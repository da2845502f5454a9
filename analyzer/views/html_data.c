/* SPDX-License-Identifier: MIT */
/*
 * html_data.c - see html_data.h.
 */
#include "heap_growth.h"
#include "html_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "html_answer.h"
#include "html_figures.h"
#include "html_tree.h"
#include "html_write.h"
#include "render_header.h"

#define VERSION 2

/* ---- whose profile it is --------------------------------------------------------------------- */

/* Writes the header lines of every report as one string. */
static int write_report(const struct html_data *data, FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	render_header(data->profile, data->options->type, data->total, stream);
	if (fclose(stream)) {
		free(text);
		return -ENOMEM;
	}
	fputs("\"report\":", out);
	html_write_lines(text, out);
	fputs(",\n", out);
	free(text);
	return 0;
}

static uint64_t sample_count(const struct profile *profile)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->row_count; i++)
		count += profile->row[i].alloc_count;
	return profile->meta.samples ? profile->meta.samples : count;
}

static void write_meta(const struct profile *profile, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;
	const double stacks = (double)meta->stacks_complete + (double)meta->stacks_truncated;
	uint64_t finest, coarsest;

	profile_rates(profile, &finest, &coarsest);
	html_write_printable("title", meta->comm, out);
	html_write_printable("host", meta->host, out);
	html_write_printable("command", meta->cmdline, out);
	fprintf(out,
		"\"pid\":%" PRIu32 ",\"start\":%" PRIu64 ",\"duration\":%.3f,\"interval\":%" PRIu64
		",\"intervals\":[%" PRIu64 ",%" PRIu64 "]"
		",\"samples\":%" PRIu64 ",\"isScaled\":%s,",
		meta->pid, meta->start_unix_ns / 1000000000u, (double)meta->duration_ns / 1e9,
		meta->interval, finest, coarsest, sample_count(profile),
		meta->is_scaled ? "true" : "false");
	if (stacks > 0)
		fprintf(out, "\"complete\":%.6f,\n", (double)meta->stacks_complete / stacks);
	else
		fputs("\"complete\":null,\n", out);
}

static void write_types(const struct profile_meta *meta, enum sample_type type, FILE *out)
{
	static const char *const text[SAMPLE_TYPES_ALWAYS] = {
		[ALLOC_OBJECTS] = "\"kind\":\"alloc\",\"isBytes\":false",
		[ALLOC_SPACE] = "\"kind\":\"alloc\",\"isBytes\":true",
		[INUSE_OBJECTS] = "\"kind\":\"inuse\",\"isBytes\":false",
		[INUSE_SPACE] = "\"kind\":\"inuse\",\"isBytes\":true",
	};

	fprintf(out, "\"type\":%d,\"types\":[", (int)type);
	for (int i = 0; i < SAMPLE_TYPES_ALWAYS; i++)
		fprintf(out, "%s{%s,\"isUnsure\":%s}", i ? "," : "", text[i],
			caveats_withdraw(meta, sample_type_is_inuse((enum sample_type)i))
				? "true"
				: "false");
	fputs("],\n", out);
}

/* How the sampling rate changed, as far as it is known. */
static void write_changes(const struct profile_meta *meta, FILE *out)
{
	const uint64_t count =
		meta->change_count < PROFILE_CHANGES_MAX ? meta->change_count : PROFILE_CHANGES_MAX;

	fputs("\"changes\":[", out);
	for (uint64_t i = 0; i < count; i++)
		fprintf(out, "%s[%.3f,%" PRIu64 "]", i ? "," : "",
			(double)meta->change[i].time_ns / 1e9, meta->change[i].interval);
	fputs("],\n", out);
}

/* What a session says of itself that the header lines do not. */
static void write_session(const struct profile_meta *meta, FILE *out)
{
	fputs("\"session\":{", out);
	html_write_printable("version", meta->version, out);
	html_write_printable("exe", meta->exe, out);
	fputs("\"hooked\":", out);
	html_write_lines(meta->hooked, out);
	fputs(",\n", out);
	html_write_printable("unhooked",
			     meta->unhooked ? meta->unhooked : meta->caveat[HI_CAVEAT_UNHOOKED],
			     out);
	fprintf(out,
		"\"frees\":%" PRIu64 ",\"droppedAllocs\":%" PRIu64 ",\"droppedFrees\":%" PRIu64
		",\"missedFrees\":%" PRIu64 ",\"payloadCpu\":%.6f,\"targetCpu\":%.6f,"
		"\"budget\":%.6f,\"end\":%d,\"peak\":%" PRIu64 ",\"peakTime\":%.3f},\n",
		meta->frees, meta->dropped_allocs, meta->dropped_frees, meta->missed_frees,
		(double)meta->payload_cpu_ns / 1e9, (double)meta->target_cpu_ns / 1e9,
		(double)meta->budget_ppm / 1e6, meta->end_reason, meta->peak_inuse_bytes,
		(double)meta->peak_ns / 1e9);
	write_changes(meta, out);
}

static void write_heap(const struct profile_meta *meta, FILE *out)
{
	struct heap_growth heap;

	heap_growth_of(meta, &heap);
	if (!heap.now) {
		fputs("\"heap\":null,\n", out);
		return;
	}
	fputs("\"heap\":{", out);
	html_write_printable("of", meta->heap.name, out);
	fputs("\"moments\":[", out);
	for (uint32_t i = 0; i < meta->heap.count; i++) {
		const struct heap_moment *moment = &meta->heap.moment[i];

		fprintf(out, "%s[%.3f,%" PRIu64 ",%.0f,%" PRIu64 "]", i ? "," : "",
			(double)moment->time_ns / 1e9, moment->used, heap_growth_kept(moment),
			moment->trimmable);
	}
	fputs("]},\n", out);
}

void html_data_write_moments(const struct profile_meta *meta, FILE *out)
{
	fputs("\"moments\":[", out);
	for (uint32_t i = 0; i < meta->moment_count && meta->files <= 1; i++) {
		const struct profile_moment *moment = &meta->moment[i];

		fprintf(out, "%s[%.3f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			(double)moment->time_ns / 1e9, moment->anonymous, moment->resident,
			moment->seen);
	}
	fputs("],\n", out);
	write_heap(meta, out);
}

static int write_nodes(const struct html_data *data, FILE *out)
{
	struct html_nodes *nodes = data->nodes;
	int err = html_figures_write_ages(nodes, out);

	if (!err)
		err = html_figures_write_threads(nodes, out);
	if (!err)
		err = html_figures_write_snapshots(nodes, data->options->set, out);
	if (!err) {
		html_figures_write_growing(nodes, data->answer, out);
		err = html_tree_write(nodes->tree, nodes, profile_is_comparison(data->profile),
				      out);
	}
	return err;
}

int html_data_write(const struct html_data *data, FILE *out)
{
	const struct profile_meta *meta = &data->profile->meta;
	int err;

	fprintf(out, "{\"version\":%d,\n", VERSION);
	err = write_report(data, out);
	if (err)
		return err;
	write_meta(data->profile, out);
	write_session(meta, out);
	html_data_write_moments(meta, out);
	write_types(meta, data->options->type, out);
	fprintf(out, "\"isComparison\":%s,\"isGrowth\":%s,\"folded\":%zu,\n\"series\":%s,\n%s",
		profile_is_comparison(data->profile) ? "true" : "false",
		data->is_growth ? "true" : "false", data->nodes->tree->folded,
		data->series ? data->series : "null", data->sources);
	err = html_answer_write(data->answer, out);
	if (!err)
		err = write_nodes(data, out);
	fputs("\"end\":true}\n", out);
	return err;
}
