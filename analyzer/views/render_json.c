/* SPDX-License-Identifier: MIT */
/*
 * render_json.c - everything that a profile holds, for programs. docs/formats.md has the schema,
 * and says what may change without a new version.
 *
 * Addresses are strings, because many programs read JSON numbers as doubles.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "caveats.h"
#include "heap_growth.h"
#include "hi_stream.h"
#include "sample_types.h"
#include "text_out.h"

#define SCHEMA_VERSION 1

static const char *const end_names[HI_STACK_ENDS] = {
	[HI_END_DEPTH] = "too_deep",      [HI_END_REGION] = "no_region", [HI_END_NO_ROW] = "no_row",
	[HI_END_BAD_FRAME] = "bad_frame", [HI_END_LOST] = "lost",
};

static void put_text(const char *key, const char *text, FILE *out)
{
	fprintf(out, "\"%s\":", key);
	text_json(text, out);
	fputs(",\n", out);
}

static void put_number(const char *key, uint64_t number, FILE *out)
{
	fprintf(out, "\"%s\":%" PRIu64 ",\n", key, number);
}

static void put_caveats(const struct profile_meta *meta, FILE *out)
{
	const char *before = "";

	fputs("\"caveats\":[", out);
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		if (!meta->caveat[kind])
			continue;
		fprintf(out, "%s{\"kind\":\"%s\",\"text\":", before,
			caveats_name((enum hi_caveat)kind));
		text_json(meta->caveat[kind], out);
		putc('}', out);
		before = ",";
	}
	fputs("],\n", out);
}

/* What the allocators had by their own count, at the last look. */
static void put_heap(const struct profile_meta *meta, FILE *out)
{
	struct heap_growth heap;

	heap_growth_of(meta, &heap);
	if (!heap.now)
		return;
	put_text("heap_allocator", meta->heap.name, out);
	put_number("heap_ns", heap.now->time_ns, out);
	put_number("heap_used_bytes", heap.now->used, out);
	put_number("heap_free_bytes", heap.now->free, out);
	put_number("heap_cached_bytes", heap.now->cached, out);
	put_number("heap_trimmable_bytes", heap.now->trimmable, out);
	put_number("heap_own_bytes", heap.now->own, out);
}

static void put_meta(const struct profile *profile, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;

	fputs("\"meta\":{\n", out);
	put_text("comm", meta->comm, out);
	put_text("cmdline", meta->cmdline, out);
	put_text("exe", meta->exe, out);
	put_text("host", meta->host, out);
	put_text("version", meta->version, out);
	put_text("damage", meta->damage, out);
	put_text("sources", meta->sources, out);
	put_number("pid", meta->pid, out);
	put_number("interval", meta->interval, out);
	put_number("start_unix_ns", meta->start_unix_ns, out);
	put_number("process_start_ticks", meta->process_start_ticks, out);
	put_number("duration_ns", meta->duration_ns, out);
	put_number("paused_ns", meta->paused_ns, out);
	put_text("trigger", meta->trigger, out);
	put_number("peak_inuse_bytes", meta->peak_inuse_bytes, out);
	put_number("peak_ns", meta->peak_ns, out);
	put_number("samples", meta->samples, out);
	put_number("frees", meta->frees, out);
	put_number("slack_samples", meta->slack_samples, out);
	put_number("missed_frees", meta->missed_frees, out);
	put_number("anonymous_begin_bytes", meta->memory.anonymous_begin, out);
	put_number("anonymous_end_bytes", meta->memory.anonymous_end, out);
	put_number("writable_end_bytes", meta->memory.writable_end, out);
	put_number("spread_bytes", meta->memory.spread, out);
	put_heap(meta, out);
	put_text("unhooked", meta->unhooked, out);
	put_caveats(meta, out);
	put_number("dropped_allocs", meta->dropped_allocs, out);
	put_number("dropped_frees", meta->dropped_frees, out);
	put_number("live_set_full", meta->live_set_full, out);
	put_number("no_thread_slot", meta->no_thread_slot, out);
	put_number("passed_bytes", meta->passed_bytes, out);
	put_number("stacks_complete", meta->stacks_complete, out);
	put_number("stacks_truncated", meta->stacks_truncated, out);
	put_number("payload_cpu_ns", meta->payload_cpu_ns, out);
	put_number("target_cpu_ns", meta->target_cpu_ns, out);
	fprintf(out, "\"base_scale\":%.17g,\n", meta->base_scale > 0 ? meta->base_scale : 1);
	fprintf(out, "\"is_scaled\":%s,\n\"is_comparison\":%s},\n",
		meta->is_scaled ? "true" : "false",
		profile_is_comparison(profile) ? "true" : "false");
}

static void put_types(const struct profile *profile, FILE *out)
{
	fputs("\"sample_types\":[", out);
	for (int type = 0; type < sample_type_count(profile); type++)
		fprintf(out, "%s{\"name\":\"%s\",\"unit\":\"%s\"}", type ? "," : "",
			sample_types[type].name, sample_types[type].unit);
	fputs("],\n", out);
}

/* Writes "key":number. `key` has all the text that precedes the number. */
static void put_count(const char *key, uint64_t number, FILE *out)
{
	fputs(key, out);
	text_count(number, out);
}

static void put_whole(const char *key, double value, FILE *out)
{
	fputs(key, out);
	text_number(text_whole(value), out);
}

static void put_estimate(const struct profile *profile, const struct estimate *estimate,
			 enum sample_type type, FILE *out)
{
	double low, high;

	estimate_interval(estimate, &low, &high);
	put_whole("{\"value\":", estimate->value, out);
	if (caveats_withdraw(&profile->meta, sample_type_is_inuse(type))) {
		fputs(",\"low\":null,\"high\":null", out);
	} else {
		put_whole(",\"low\":", low, out);
		put_whole(",\"high\":", high, out);
	}
	put_whole(",\"base\":", estimate->base, out);
	putc('}', out);
}

static void put_totals(const struct profile *profile, FILE *out)
{
	fputs("\"totals\":[", out);
	for (int type = 0; type < sample_type_count(profile); type++) {
		const struct estimate total = estimate_total(profile, (enum sample_type)type);

		fputs(type ? ",\n" : "\n", out);
		put_estimate(profile, &total, (enum sample_type)type, out);
	}
	fputs("],\n", out);
}

static void put_modules(const struct profile *profile, FILE *out)
{
	fputs("\"modules\":[", out);
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->module[i];

		fputs(i ? ",\n{\"path\":" : "\n{\"path\":", out);
		text_json(module->path, out);
		fputs(",\"build_id\":\"", out);
		for (size_t k = 0; k < module->build_id_size; k++)
			fprintf(out, "%02x", module->build_id[k]);
		fprintf(out,
			"\",\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64
			"\",\"offset\":\"0x%" PRIx64 "\",\"bias\":\"0x%" PRIx64 "\"}",
			module->lo, module->hi, module->file_offset, module->bias);
	}
	fputs("],\n", out);
}

static void put_line(const struct profile_line *line, FILE *out)
{
	fputs("{\"function\":", out);
	text_json(line->function, out);
	fputs(",\"system_name\":", out);
	text_json(line->system_name, out);
	fputs(",\"file\":", out);
	text_json(line->file, out);
	fprintf(out, ",\"line\":%" PRIu32 "}", line->line);
}

static void put_frames(const struct profile *profile, FILE *out)
{
	fputs("\"frames\":[", out);
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frame[i];

		fprintf(out, "%s{\"address\":\"0x%" PRIx64 "\",\"module\":", i ? ",\n" : "\n",
			frame->address);
		if (frame->module < 0)
			fputs("null", out);
		else
			fprintf(out, "%" PRId32, frame->module);
		fputs(",\"lines\":[", out);
		for (size_t k = 0; k < frame->line_count; k++) {
			if (k)
				putc(',', out);
			put_line(&frame->line[k], out);
		}
		fputs("]}", out);
	}
	fputs("],\n", out);
}

/* The rows of each stack: those of stack s are row[first[s]] to row[first[s + 1] - 1]. */
struct rows_of {
	uint32_t *first, *row;
};

static int sort_rows(const struct profile *profile, struct rows_of *out_rows)
{
	struct rows_of rows = {.first = calloc(profile->stack_count + 2, sizeof(*rows.first)),
			       .row = malloc((profile->row_count + 1) * sizeof(*rows.row))};

	*out_rows = rows;
	if (!rows.first || !rows.row)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++)
		rows.first[profile->row[i].key.stack + 2]++;
	for (size_t i = 2; i < profile->stack_count + 2; i++)
		rows.first[i] += rows.first[i - 1];
	for (size_t i = 0; i < profile->row_count; i++)
		rows.row[rows.first[profile->row[i].key.stack + 1]++] = (uint32_t)i;
	return 0;
}

static void put_stack(const struct profile *profile, const struct rows_of *rows, size_t index,
		      FILE *out)
{
	const struct profile_stack *stack = &profile->stack[index];

	fputs("{\"frames\":[", out);
	for (uint32_t f = 0; f < stack->frame_count; f++) {
		if (f)
			putc(',', out);
		text_count(stack->frame[f], out);
	}
	fputs("],\"end\":", out);
	text_json(stack->end < HI_STACK_ENDS ? end_names[stack->end] : NULL, out);
	fputs(",\"estimates\":[", out);
	for (int type = 0; type < sample_type_count(profile); type++) {
		struct estimate sum = {0};

		for (uint32_t i = rows->first[index]; i < rows->first[index + 1]; i++) {
			const struct estimate row = estimate_of(
				profile, &profile->row[rows->row[i]], (enum sample_type)type);

			estimate_add(&sum, &row);
		}
		if (type)
			putc(',', out);
		put_estimate(profile, &sum, (enum sample_type)type, out);
	}
	fputs("]}", out);
}

static int put_stacks(const struct profile *profile, FILE *out)
{
	struct rows_of rows;
	const int err = sort_rows(profile, &rows);

	fputs("\"stacks\":[", out);
	for (size_t i = 0; i < profile->stack_count && !err; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_stack(profile, &rows, i, out);
	}
	fputs("],\n", out);
	free(rows.first);
	free(rows.row);
	return err;
}

static void put_labels(const struct label_set *labels, FILE *out)
{
	for (size_t i = 0; i < labels->count; i++) {
		const struct label *label = &labels->label[i];

		fputs(i ? ",{\"key\":" : ",\"labels\":[{\"key\":", out);
		text_json(label->key, out);
		if (label->text) {
			fputs(",\"text\":", out);
			text_json(label->text, out);
		} else {
			fprintf(out, ",\"number\":%" PRId64 ",\"unit\":", label->number);
			text_json(label->unit, out);
		}
		putc('}', out);
	}
	if (labels->count)
		putc(']', out);
}

static void put_rows(const struct profile *profile, FILE *out)
{
	fputs("\"rows\":[", out);
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		put_count(i ? ",\n{\"stack\":" : "\n{\"stack\":", row->key.stack, out);
		put_count(",\"size_class\":", row->key.size_class, out);
		put_count(",\"interval\":", row->key.interval, out);
		put_count(",\"grain\":", row->grain, out);
		fputs(row->key.side == PROFILE_BASE ? ",\"side\":\"base\"" : ",\"side\":\"new\"",
		      out);
		put_count(",\"alloc_count\":", row->alloc_count, out);
		put_count(",\"alloc_bytes\":", row->alloc_bytes, out);
		put_count(",\"inuse_count\":", row->inuse_count, out);
		put_count(",\"inuse_bytes\":", row->inuse_bytes, out);
		put_count(",\"alloc_slack\":", row->alloc_slack, out);
		put_count(",\"inuse_slack\":", row->inuse_slack, out);
		put_count(",\"freed_count\":", row->freed_count, out);
		put_whole(",\"freed_ns\":", row->freed_ns, out);
		put_whole(",\"inuse_ns\":", row->inuse_ns, out);
		put_labels(labels_get(&profile->labels, row->key.labels), out);
		putc('}', out);
	}
	fputs("],\n", out);
}

static void put_threads(const struct thread_breakdown *breakdown, FILE *out)
{
	fputs("\"threads\":[", out);
	for (size_t i = 0; i < breakdown->thread_count; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		text_json(breakdown->thread[i].name, out);
		fprintf(out, ",\"tid\":%" PRIu32 "}", breakdown->thread[i].tid);
	}
	fputs("],\n\"parts\":[", out);
	for (size_t i = 0; i < breakdown->count; i++) {
		const struct part *part = &breakdown->part[i];

		fprintf(out,
			"%s{\"row\":%" PRIu32 ",\"thread\":%" PRIu32 ",\"alloc_count\":%" PRIu64
			",\"alloc_bytes\":%" PRIu64,
			i ? ",\n" : "\n", part->row, part->thread, part->alloc_count,
			part->alloc_bytes);
		fprintf(out, ",\"inuse_count\":%" PRIu64 ",\"inuse_bytes\":%" PRIu64 "}",
			part->inuse_count, part->inuse_bytes);
	}
	fputs("]", out);
}

int render_json(const struct profile *profile, const struct render_options *options, FILE *out)
{
	(void)options;
	fprintf(out, "{\"schema\":\"heapinject-profile\",\"version\":%d,\n", SCHEMA_VERSION);
	put_meta(profile, out);
	put_types(profile, out);
	put_totals(profile, out);
	put_modules(profile, out);
	put_frames(profile, out);
	const int err = put_stacks(profile, out);
	put_rows(profile, out);
	put_threads(&profile->breakdown, out);
	fputs("}\n", out);
	return render_result(err, out);
}
