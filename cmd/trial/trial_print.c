/* SPDX-License-Identifier: MIT */
/* trial_print.c - see trial_print.h. */
#include "trial_print.h"

#include <inttypes.h>
#include <string.h>

#include "hi_units.h"
#include "plain_text.h"

#define NAME_COLUMNS 24

static const char *bytes(uint64_t value, char text[HI_UNITS_TEXT_MAX])
{
	return hi_format_bytes((double)value, text, HI_UNITS_TEXT_MAX);
}

/* The one with the lowest peak; NULL: none was completed. */
static const struct trial *find_least(const struct trial_results *results)
{
	const struct trial *least = NULL;

	for (size_t i = 0; i < results->allocators->count; i++) {
		const struct trial *trial = &results->trial[i];

		if (trial->outcome == TRIAL_DONE &&
		    (!least || trial->report.peak_bytes < least->report.peak_bytes))
			least = trial;
	}
	return least;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_recording(const struct hi_trial_head *head, FILE *out)
{
	char most[HI_UNITS_TEXT_MAX], last[HI_UNITS_TEXT_MAX], time[HI_UNITS_TEXT_MAX];

	fprintf(out,
		"%s (pid %" PRIu64 "), recorded for %s: %" PRIu64 " allocations, %" PRIu64
		" reallocs and %" PRIu64 " frees by %" PRIu64 " thread%s\n",
		head->name, head->pid, hi_format_ns((double)head->duration_ns, time, sizeof(time)),
		head->allocations, head->reallocs, head->frees, head->recorded_threads,
		head->recorded_threads == 1 ? "" : "s");
	fprintf(out,
		"requested at once: at most %s, in at most %" PRIu64 " blocks; at the end %s\n\n",
		bytes(head->most_bytes, most), head->most_blocks, bytes(head->last_bytes, last));
}

static void print_done(const struct trial_results *results, const struct trial *trial, FILE *out)
{
	const struct hi_trial_report *report = &trial->report;
	const uint64_t least = find_least(results)->report.peak_bytes;
	char peak[HI_UNITS_TEXT_MAX], last[HI_UNITS_TEXT_MAX], time[HI_UNITS_TEXT_MAX],
		more[HI_UNITS_TEXT_MAX] = "least";

	if (report->peak_bytes > least)
		snprintf(more, sizeof(more), "+%.1f%%",
			 100.0 * (double)(report->peak_bytes - least) /
				 (double)(least ? least : 1));
	fprintf(out, "%12s %9s %12s %10s", bytes(report->peak_bytes, peak), more,
		bytes(report->final_bytes, last),
		hi_format_ns((double)report->cpu_ns, time, sizeof(time)));
	if (report->refused)
		fprintf(out, "   %" PRIu64 " allocations were refused", report->refused);
	fputc('\n', out);
}

static void print_trial(const struct trial_results *results, size_t i, FILE *out)
{
	const struct allocator *allocator = &results->allocators->one[i];
	const struct trial *trial = &results->trial[i];
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "%-*s ", NAME_COLUMNS, allocator->name);
	switch (trial->outcome) {
	case TRIAL_DONE:
		print_done(results, trial, out);
		break;
	case TRIAL_NOT_INSTALLED:
		if (allocator->package)
			fprintf(out, "   not installed: apt install %s\n", allocator->package);
		else
			fprintf(out, "   it could not be preloaded, or has no malloc\n");
		break;
	case TRIAL_TOO_LARGE:
		fprintf(out, "   given up: it takes more than the %s that it may\n",
			bytes(results->limits.memory_bytes, text));
		break;
	case TRIAL_TOO_LONG:
		fprintf(out, "   given up after %s; --timeout gives it longer\n",
			hi_format_time(results->limits.time_ns, text, sizeof(text)));
		break;
	case TRIAL_FAILED:
		fprintf(out, "   failed: %s\n", trial->why);
		break;
	}
}

static void print_recorded(const struct hi_trial_head *head, FILE *out)
{
	char begin[HI_UNITS_TEXT_MAX], most[HI_UNITS_TEXT_MAX], end[HI_UNITS_TEXT_MAX];

	if (!head->anonymous_most)
		return;
	fprintf(out, "%-*s %12s %9s %12s\n", NAME_COLUMNS, "as it was recorded",
		bytes(head->anonymous_most, most), "", bytes(head->anonymous_end, end));
	fprintf(out,
		"\nThe last row is all anonymous memory of the process, with its stacks and data, "
		"seen some times a second;\nit had %s of it at the start.\n",
		bytes(head->anonymous_begin, begin));
}

/* What holds for every replay. */
static const char *const always[] = {
	"figures are of the heap alone: code, data and stacks of the program come on top",
	"what the blocks held is not known: each page of each block is touched once, also of "
	"those that the program never touched",
	"calls follow each other in the order of the records, and never overlap; time passes for "
	"the allocator as in the recording,\n    but its threads in the background are not started",
	"a free that followed its allocation closely is made by the thread that allocated",
	"memory that is not malloc's (mmap, shared memory, heaps of language runtimes) is not in "
	"it",
	"time is CPU time of the replay, page faults included, and not that of the program",
};

static void print_note(FILE *out, const char *text)
{
	fprintf(out, "  - %s\n", text);
}

static void print_notes_of(const struct hi_trial_head *head, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (head->anonymous_begin)
		fprintf(out,
			"  - blocks that are older than the session are not in it: `heapinject "
			"run` "
			"has none, and of attach\n    they are in the %s of the start\n",
			bytes(head->anonymous_begin, text));
	if (head->unknown_frees)
		fprintf(out,
			"  - %" PRIu64
			" frees are left out: of older blocks, of lost records, or of what glibc "
			"had cached for a thread\n    that ended\n",
			head->unknown_frees);
	if (head->dropped)
		fprintf(out,
			"  - %" PRIu64 " records (%.2f%%) were lost, and %" PRIu64
			" blocks were freed without one\n",
			head->dropped,
			100.0 * (double)head->dropped /
				(double)(head->dropped + head->allocations + head->reallocs +
					 head->frees),
			head->missed_frees);
	if (head->left_out)
		fprintf(out, "  - the recording is longer: %" PRIu64 " events more are left out\n",
			head->left_out);
	if (head->aligned)
		fprintf(out,
			"  - the alignment of %" PRIu64
			" blocks is not recorded, and guessed by their addresses\n",
			head->aligned);
	if (head->recorded_threads > HI_TRIAL_THREADS_MAX)
		fprintf(out, "  - %" PRIu64 " threads are replayed by %u\n", head->recorded_threads,
			HI_TRIAL_THREADS_MAX);
	if (head->paused_ns)
		fprintf(out, "  - nothing was recorded in pauses of %s\n",
			hi_format_ns((double)head->paused_ns, text, sizeof(text)));
	if (*head->unhooked)
		fprintf(out, "  - not recorded: what %s gives\n", head->unhooked);
}

void trial_print(const struct trial_results *results, FILE *out)
{
	print_recording(results->head, out);
	if (*results->head->text)
		fprintf(out, "The record stream was %s: all that follows is of what was read.\n",
			results->head->text);
	fprintf(out, "%-*s %12s %9s %12s %10s\n", NAME_COLUMNS, "", "peak RSS", "", "final RSS",
		"time");
	for (size_t i = 0; i < results->allocators->count; i++)
		print_trial(results, i, out);
	print_recorded(results->head, out);
	fprintf(out, "\nWhat a replay cannot know:\n");
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		print_note(out, always[i]);
	print_notes_of(results->head, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const char *const outcomes[] = {[TRIAL_DONE] = "done",
				       [TRIAL_NOT_INSTALLED] = "not installed",
				       [TRIAL_TOO_LARGE] = "too large",
				       [TRIAL_TOO_LONG] = "too long",
				       [TRIAL_FAILED] = "failed"};

static void print_json_trial(const struct allocator *allocator, const struct trial *trial,
			     FILE *out)
{
	const struct hi_trial_report *report = &trial->report;

	fputs("{\"allocator\":", out);
	plain_text_json(out, allocator->name);
	fprintf(out, ",\"outcome\":\"%s\"", outcomes[trial->outcome]);
	if (allocator->setting) {
		fputs(",\"setting\":", out);
		plain_text_json(out, allocator->setting);
	}
	if (trial->outcome == TRIAL_DONE) {
		fputs(",\"library\":", out);
		plain_text_json(out, report->object);
		fprintf(out,
			",\"peak_rss\":%" PRIu64 ",\"final_rss\":%" PRIu64
			",\"cpu_seconds\":%.6f,\"seconds\":%.6f,\"refused\":%" PRIu64,
			report->peak_bytes, report->final_bytes, (double)report->cpu_ns / 1e9,
			(double)report->wall_ns / 1e9, report->refused);
	}
	if (trial->outcome == TRIAL_NOT_INSTALLED && allocator->package) {
		fputs(",\"package\":", out);
		plain_text_json(out, allocator->package);
	}
	if (trial->outcome == TRIAL_FAILED) {
		fputs(",\"why\":", out);
		plain_text_json(out, trial->why);
	}
	fputc('}', out);
}

void trial_print_json(const struct trial_results *results, FILE *out)
{
	const struct hi_trial_head *head = results->head;

	fputs("{\"name\":", out);
	plain_text_json(out, head->name);
	fprintf(out,
		",\"pid\":%" PRIu64 ",\"seconds\":%.6f,\"threads\":%" PRIu64
		",\"allocations\":%" PRIu64 ",\"reallocs\":%" PRIu64 ",\"frees\":%" PRIu64
		",\"unknown_frees\":%" PRIu64 ",\"missed_frees\":%" PRIu64 ",\"dropped\":%" PRIu64
		",\"left_out\":%" PRIu64 ",\"guessed_alignments\":%" PRIu64,
		head->pid, (double)head->duration_ns / 1e9, head->recorded_threads,
		head->allocations, head->reallocs, head->frees, head->unknown_frees,
		head->missed_frees, head->dropped, head->left_out, head->aligned);
	fprintf(out,
		",\"requested_most\":%" PRIu64 ",\"requested_end\":%" PRIu64
		",\"blocks_most\":%" PRIu64,
		head->most_bytes, head->last_bytes, head->most_blocks);
	fprintf(out,
		",\"recorded\":{\"anonymous_begin\":%" PRIu64 ",\"anonymous_most\":%" PRIu64
		",\"anonymous_end\":%" PRIu64 "},\"replays\":[",
		head->anonymous_begin, head->anonymous_most, head->anonymous_end);
	for (size_t i = 0; i < results->allocators->count; i++) {
		if (i)
			fputc(',', out);
		print_json_trial(&results->allocators->one[i], &results->trial[i], out);
	}
	fputs("]", out);
	if (*head->text) {
		fputs(",\"damage\":", out);
		plain_text_json(out, head->text);
	}
	if (*head->unhooked) {
		fputs(",\"unhooked\":", out);
		plain_text_json(out, head->unhooked);
	}
	fputs("}\n", out);
}
