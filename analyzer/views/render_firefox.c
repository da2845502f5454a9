/* SPDX-License-Identifier: MIT */
/*
 * render_firefox.c - a processed profile for the Firefox Profiler: native allocations. Over a range
 * of its timeline it shows what was allocated there, and what of that is retained.
 *
 * Version 57 is written, which each later build of the profiler upgrades by itself. The profiler
 * keeps native allocations in one thread; who allocated is a column there. It tells what is
 * retained by addresses: here the numbers of the blocks (block_events.h) serve as such. Two
 * counters are tracks of memory: what is in use by the same events, and what the process had.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "block_events.h"
#include "firefox_tables.h"
#include "text_out.h"

#define GECKO_VERSION 30
#define PROCESSED_VERSION 57

/* Milliseconds. */
static void print_time(uint64_t time_ns, FILE *out)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, time_ns / 1000000, time_ns % 1000000);
}

static void print_meta(const struct profile_meta *meta, FILE *out)
{
	fprintf(out, "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"interval\":1",
		GECKO_VERSION, PROCESSED_VERSION);
	fputs(",\"startTime\":", out);
	print_time(meta->start_unix_ns, out);
	if (meta->duration_ns) {
		fputs(",\"profilingStartTime\":0,\"profilingEndTime\":", out);
		/* The profiler leaves out what happens at the end of a range. */
		print_time(meta->duration_ns + 1000000, out);
	}
	fputs(",\n\"product\":", out);
	text_json(meta->comm ? meta->comm : "heap profile", out);
	fputs(",\"arguments\":", out);
	text_json(meta->cmdline ? meta->cmdline : "", out);
	fputs(",\"importedFrom\":\"heapinject\",\"processType\":0,\"stackwalk\":1,"
	      "\"symbolicated\":true,\"symbolicationNotSupported\":true,"
	      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
	      "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
	      "\"subcategories\":[\"Other\"]}],\"markerSchema\":[]},\n\"libs\":[],\"pages\":[],\n",
	      out);
}

/* ---- counters -------------------------------------------------------------------------------- */

static void begin_counter(const struct profile_meta *meta, const char *name,
			  const char *description, FILE *out)
{
	fprintf(out,
		"{\"name\":\"%s\",\"category\":\"Memory\",\"description\":\"%s\","
		"\"pid\":\"%" PRIu32 "\",\"mainThreadIndex\":0,\n\"samples\":{\"time\":[",
		name, description, meta->pid);
}

/* The events of one time are one sample. */
static size_t sample_end(const struct block_events *events, size_t first)
{
	size_t end = first;

	while (end < events->count && events->event[end].time_ns == events->event[first].time_ns)
		end++;
	return end;
}

static void print_in_use(const struct profile_meta *meta, const struct block_events *events,
			 FILE *out)
{
	size_t count = 0;

	begin_counter(meta, "in use", "What was allocated since the start and is in use", out);
	for (size_t i = 0; i < events->count; i = sample_end(events, i)) {
		fputs(count++ ? "," : "", out);
		print_time(events->event[i].time_ns, out);
	}
	fputs("],\n\"count\":[", out);
	for (size_t i = 0, end; i < events->count; i = end) {
		int64_t change = 0;

		fputs(i ? "," : "", out);
		end = sample_end(events, i);
		for (size_t k = i; k < end; k++)
			change = text_sum(change, events->event[k].bytes);
		text_number(change, out);
	}
	fprintf(out, "],\n\"length\":%zu}}", count);
}

static void print_process(const struct profile_meta *meta, FILE *out)
{
	uint64_t before = 0;

	begin_counter(meta, "process", "Anonymous memory of the process, resident or swapped", out);
	for (uint32_t i = 0; i < meta->moment_count; i++) {
		fputs(i ? "," : "", out);
		print_time(meta->moment[i].time_ns, out);
	}
	fputs("],\n\"count\":[", out);
	for (uint32_t i = 0; i < meta->moment_count; i++) {
		fputs(i ? "," : "", out);
		text_number((int64_t)(meta->moment[i].anonymous - before), out);
		before = meta->moment[i].anonymous;
	}
	fprintf(out, "],\n\"length\":%" PRIu32 "}}", meta->moment_count);
}

static void print_counters(const struct profile_meta *meta, const struct block_events *events,
			   FILE *out)
{
	fputs("\"counters\":[", out);
	print_in_use(meta, events, out);
	if (meta->moment_count) {
		fputs(",\n", out);
		print_process(meta, out);
	}
	fputs("],\n", out);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* By row: the thread that allocated most of it. The caller frees the array. */
static uint32_t *find_tids(const struct profile *profile)
{
	const struct thread_breakdown *breakdown = &profile->breakdown;
	uint32_t *tid = calloc(profile->row_count + 1, sizeof(*tid));
	uint64_t *most = calloc(profile->row_count + 1, sizeof(*most));

	for (size_t i = 0; tid && most && i < breakdown->count; i++) {
		const struct part *part = &breakdown->part[i];

		if (part->alloc_bytes <= most[part->row])
			continue;
		most[part->row] = part->alloc_bytes;
		tid[part->row] = breakdown->thread[part->thread].tid;
	}
	if (!most) {
		free(tid);
		tid = NULL;
	}
	free(most);
	return tid;
}

static void print_thread_head(const struct profile_meta *meta, FILE *out)
{
	fputs("\"threads\":[{\"name\":", out);
	text_json(meta->comm ? meta->comm : "heap", out);
	fprintf(out,
		",\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32 ",\"processType\":\"default\","
		"\"isMainThread\":true,\"processStartupTime\":0,\"processShutdownTime\":null,"
		"\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\n",
		meta->pid, meta->pid);
	fputs("\"samples\":{\"stack\":[],\"time\":[],\"weight\":null,\"weightType\":\"samples\","
	      "\"length\":0},\n\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],"
	      "\"endTime\":[],\"phase\":[],\"category\":[],\"length\":0},\n",
	      out);
}

static int print_allocations(const struct firefox_tables *tables, const struct block_events *events,
			     FILE *out)
{
	const struct profile *profile = tables->profile;
	uint32_t *tid = find_tids(profile);

	if (!tid)
		return -ENOMEM;
	fputs("\"nativeAllocations\":{\"weightType\":\"bytes\",\"time\":[", out);
	for (size_t i = 0; i < events->count; i++) {
		fputs(i ? "," : "", out);
		print_time(events->event[i].time_ns, out);
	}
	fputs("],\n\"weight\":[", out);
	for (size_t i = 0; i < events->count; i++) {
		fputs(i ? "," : "", out);
		text_number(events->event[i].bytes, out);
	}
	fputs("],\n\"stack\":[", out);
	for (size_t i = 0; i < events->count; i++) {
		const struct profile_row *row = &profile->row[events->event[i].row];

		fputs(i ? "," : "", out);
		text_count(tables->node_of[tables->sums.group_of[row->key.stack]], out);
	}
	fputs("],\n\"memoryAddress\":[", out);
	for (size_t i = 0; i < events->count; i++) {
		fputs(i ? "," : "", out);
		text_count(events->event[i].block, out);
	}
	fputs("],\n\"threadId\":[", out);
	for (size_t i = 0; i < events->count; i++) {
		fputs(i ? "," : "", out);
		text_count(tid[events->event[i].row], out);
	}
	fprintf(out, "],\n\"length\":%zu}}]}\n", events->count);
	free(tid);
	return 0;
}

int render_firefox(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct firefox_tables tables = {0};
	struct block_events events;
	int err = render_refuse_comparison(profile, "Firefox Profiler's format");

	(void)options;
	if (err)
		return err;
	err = block_events_open(profile, &events);
	if (err)
		return render_result(err, out);
	err = firefox_tables_open(&tables, profile);
	if (!err) {
		print_meta(&profile->meta, out);
		print_counters(&profile->meta, &events, out);
		firefox_tables_strings(&tables, out);
		print_thread_head(&profile->meta, out);
		firefox_tables_rest(&tables, out);
		err = print_allocations(&tables, &events, out);
		firefox_tables_close(&tables);
	}
	block_events_close(&events);
	return render_result(err, out);
}
