/* SPDX-License-Identifier: MIT */
/* render_answer_json.c - the answer as JSON, see render_answer.h. Start at render_answer_json(). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render_answer.h"
#include "text_out.h"

#define NS_PER_S 1e9
#define STACK_MAX 64u

static void put_slope(double value, double low, double high, FILE *out)
{
	fprintf(out, "\"slope\":{\"value\":%.6g,\"low\":%.6g,\"high\":%.6g}", value, low, high);
}

static void put_stack(const struct answer *answer, const struct answer_row *row, FILE *out)
{
	const struct functions *functions = &answer->frames.functions;
	size_t count;
	const uint32_t *call = user_frames_unfold(&answer->frames, row->stack, &count);

	fputs(",\"stack\":[", out);
	for (size_t i = 0; i < count && i < STACK_MAX; i++) {
		fputs(i ? "," : "", out);
		text_json(functions->name[functions->call[call[i]].function], out);
	}
	fputs("]", out);
}

static void put_row(const struct answer *answer, const struct answer_row *row, FILE *out)
{
	const struct function_call *call =
		row->call == NO_CALL ? NULL : &answer->frames.functions.call[row->call];

	fprintf(out, "{\"verdict\":\"%s\",\"function\":", trend_word(row->trend.verdict));
	text_json(answer_row_name(answer, row), out);
	fputs(",\"file\":", out);
	text_json(call && call->file ? call->file : "", out);
	fprintf(out, ",\"line\":%" PRIu32 ",", call ? call->line : 0);
	put_slope(row->trend.slope, row->trend.slope_low, row->trend.slope_high, out);
	fprintf(out, ",\"live_bytes\":%.0f,\"samples\":%.0f,\"stacks\":%zu,\"is_caller\":%s",
		row->live, row->trend.samples, row->stacks, row->is_caller ? "true" : "false");
	if (row->through != NO_CALL) {
		const struct functions *functions = &answer->frames.functions;

		fputs(",\"through\":", out);
		text_json(functions->name[functions->call[row->through].function], out);
	}
	fprintf(out, ",\"is_enlarged\":%s", row->is_enlarged ? "true" : "false");
	if (answer->slope > 0 && trend_is_growth(row->trend.verdict))
		fprintf(out, ",\"share\":%.3f", row->trend.slope / answer->slope);
	put_stack(answer, row, out);
	fputc('}', out);
}

static void put_process(const struct answer *answer, FILE *out)
{
	const struct process_growth *process = &answer->process;
	const struct profile_meta *meta = &answer->profile->meta;

	fputs(",\"process\":{", out);
	if (process->is_known) {
		put_slope(process->slope, process->low, process->high, out);
		fprintf(out, ",\"grown_bytes\":%.0f", process->bytes);
	}
	if (process->is_known && meta->limit_bytes)
		fputc(',', out);
	if (meta->limit_bytes)
		fprintf(out, "\"limit_bytes\":%" PRIu64 ",\"limited_bytes\":%" PRIu64,
			meta->limit_bytes, meta->limited_bytes);
	fputc('}', out);
}

/* What the allocators have, by their own count, at the last look. */
static void put_heap(const struct answer *answer, FILE *out)
{
	const struct heap_history *history = &answer->profile->meta.heap;
	const struct heap_growth *heap = &answer->heap;
	const struct heap_use *use = &answer->use;
	const struct heap_moment *now = heap->now;

	if (!now && !heap_history_is_refused(history))
		return;
	fputs(",\"heap\":{\"allocator\":", out);
	text_json(history->name ? history->name : "", out);
	if (heap_history_is_refused(history)) {
		fputs(",\"unread\":", out);
		text_json(history->refusal, out);
	}
	if (now)
		fprintf(out,
			",\"at_seconds\":%.3f,\"anonymous_bytes\":%" PRIu64
			",\"used_bytes\":%" PRIu64 ",\"used_blocks\":%" PRIu64
			",\"used_resident_bytes\":%" PRIu64 ",\"free_resident_bytes\":%" PRIu64
			",\"cached_resident_bytes\":%" PRIu64 ",\"trimmable_bytes\":%" PRIu64
			",\"own_resident_bytes\":%" PRIu64 ",\"unsure_resident_bytes\":%" PRIu64,
			(double)now->time_ns / NS_PER_S, now->anonymous, now->used_bytes,
			now->used_count, now->used, now->free, now->cached, now->trimmable,
			now->own, now->unsure);
	if (heap->has_grown)
		fprintf(out,
			",\"grown\":{\"seconds\":%.3f,\"anonymous_bytes\":%.0f,\"used_bytes\":%.0f,"
			"\"retained_bytes\":%.0f,\"own_bytes\":%.0f,\"is_retention\":%s}",
			heap->seconds, heap->anonymous, heap->used, heap->kept, heap->own,
			heap->is_retained ? "true" : "false");
	if (use->is_known)
		fprintf(out, ",\"used_slope\":{\"value\":%.1f,\"low\":%.1f,\"high\":%.1f}",
			use->slope, use->low, use->high);
	fputc('}', out);
}

/* What was mapped meanwhile and is still there. */
static void put_mappings(const struct answer *answer, FILE *out)
{
	const struct mapping_growth *mappings = &answer->mappings;
	const struct functions *functions = &answer->frames.functions;

	if (!mappings->is_known)
		return;
	fprintf(out,
		",\"mappings\":{\"application_bytes\":%.0f,\"allocator_bytes\":%.0f,"
		"\"stack_bytes\":%.0f,\"linker_bytes\":%.0f,\"go_bytes\":%.0f,"
		"\"unknown_bytes\":%.0f",
		mappings->application, mappings->allocators, mappings->stacks, mappings->linker,
		mappings->go, mappings->unknown);
	if (mappings->resident >= 0)
		fprintf(out, ",\"application_resident_bytes\":%.0f", mappings->resident);
	if (mappings->most > 0) {
		fputs(",\"function\":", out);
		text_json(functions->name[functions->call[mappings->call].function], out);
		fprintf(out, ",\"function_bytes\":%.0f", mappings->most);
	}
	fputc('}', out);
}

static void put_interval(const struct profile *profile, FILE *out)
{
	uint64_t finest, coarsest;

	profile_intervals(profile, &finest, &coarsest);
	fprintf(out, ",\"interval_bytes\":{\"finest\":%" PRIu64 ",\"coarsest\":%" PRIu64 "}",
		finest, coarsest);
}

static void put_totals(const struct profile *profile, FILE *out)
{
	fprintf(out,
		",\"totals\":{\"samples\":%" PRIu64
		",\"in_use_bytes\":%.0f,\"in_use_objects\":%.0f,"
		"\"allocated_bytes\":%.0f,\"allocated_objects\":%.0f}",
		profile->meta.samples, estimate_total(profile, INUSE_SPACE).value,
		estimate_total(profile, INUSE_OBJECTS).value,
		estimate_total(profile, ALLOC_SPACE).value,
		estimate_total(profile, ALLOC_OBJECTS).value);
}

static void put_sentence(const struct answer *answer, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *buffer = open_memstream(&text, &size);

	if (!buffer)
		return;
	render_answer_sentence(answer, buffer);
	if (!fclose(buffer) && size) {
		text[size - 1] = 0; /* the newline */
		for (char *at = text; (at = strchr(at, '\n')); at++)
			*at = ' ';
		fputs(",\"sentence\":", out);
		text_json(text, out);
	}
	free(text);
}

void render_answer_json(const struct answer *answer, FILE *out)
{
	fprintf(out, "{\"verdict\":\"%s\"", trend_word(answer->verdict));
	put_totals(answer->profile, out);
	put_sentence(answer, out);
	if (answer->explained >= 0)
		fprintf(out, ",\"explained\":%.3f", answer->explained);
	if (answer->more_ns > 0)
		fprintf(out, ",\"more_seconds\":%.0f", ceil(answer->more_ns / NS_PER_S));
	if (answer->risen > 0)
		fprintf(out, ",\"risen_bytes\":%.0f", answer->risen);
	fprintf(out,
		",\"detectable_bytes_per_second\":%.6g"
		",\"detectable_anywhere_bytes_per_second\":%.6g",
		answer->claimed, fmax(answer->claimed, answer->detectable_anywhere));
	put_interval(answer->profile, out);
	put_process(answer, out);
	put_heap(answer, out);
	put_mappings(answer, out);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; i < answer->row_count; i++) {
		fputs(i ? "," : "", out);
		put_row(answer, &answer->row[i], out);
	}
	fputc(']', out);
}
