/* SPDX-License-Identifier: MIT */
/*
 * render_header.c - see render_header.h.
 *
 * A profile read from another tool's file may have almost no metadata. Lines without content are
 * left out.
 */
#include "render_header.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "caveats.h"
#include "heap_growth.h"
#include "hi_stream.h"
#include "hi_units.h"
#include "printable.h"
#include "style.h"

#define CHANGES_SHOWN 6u
/* Of a command line in a brief header, in bytes. */
#define COMMAND_SHOWN 80u
/* Fewer incomplete stacks than one in so many are no news. */
#define INCOMPLETE_RARE 20u

static const char *const what[SAMPLE_TYPE_COUNT] = {
	[ALLOC_OBJECTS] = " objects allocated",    [ALLOC_SPACE] = " allocated",
	[INUSE_OBJECTS] = " objects in use",       [INUSE_SPACE] = " in use",
	[RESIDENT_SPACE] = " in use and resident", [SWAPPED_SPACE] = " in use and swapped out",
};

/* Prints text that comes from the target and may contain anything. */
static void print_text(FILE *out, const char *before, char *text, const char *after)
{
	char *clean = text && *text ? strdup(text) : NULL;

	if (!clean)
		return;
	printable(clean);
	fprintf(out, "%s%s%s", before, clean, after);
	free(clean);
}

static uint64_t sample_count(const struct profile *profile)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->row_count; i++)
		count += profile->row[i].alloc_count;
	return profile->meta.samples ? profile->meta.samples : count;
}

static void print_window(const struct profile *profile, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;
	const time_t start = (time_t)(meta->start_unix_ns / 1000000000u);
	const double stacks = (double)meta->stacks_complete + (double)meta->stacks_truncated;
	char text[HI_UNITS_TEXT_MAX];
	struct tm utc;

	uint64_t finest, coarsest;
	char coarse[HI_UNITS_TEXT_MAX];

	fprintf(out, "Window: ");
	if (meta->duration_ns)
		fprintf(out, "%.1fs", (double)meta->duration_ns / 1e9);
	if (start && gmtime_r(&start, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc))
		fprintf(out, "%sfrom %s UTC", meta->duration_ns ? " " : "", text);
	if (meta->duration_ns || start)
		fprintf(out, ", ");
	if (meta->is_scaled) {
		fprintf(out, "figures as told by the file, which does not say how sure they are\n");
		return;
	}
	profile_rates(profile, &finest, &coarsest);
	if (coarsest <= HI_INTERVAL_EXACT)
		fprintf(out, "every allocation");
	else if (finest == coarsest)
		fprintf(out, "one sample per %s",
			hi_format_bytes((double)coarsest, text, sizeof(text)));
	else
		fprintf(out, "one sample per %s to %s",
			hi_format_bytes((double)finest, text, sizeof(text)),
			hi_format_bytes((double)coarsest, coarse, sizeof(coarse)));
	fprintf(out, "; %" PRIu64 " samples", sample_count(profile));
	if (stacks > 0)
		fprintf(out, ", %.1f%% complete stacks",
			100 * (double)meta->stacks_complete / stacks);
	fprintf(out, "\n");
}

/* Says which of two rules was taken, where a file's first line leaves that open. */
static void print_rule(const struct profile_meta *meta, FILE *out)
{
	static const char *const rules[] = {
		[PROFILE_RULE_GO] = "of Go, heap/N: N is twice the sampling interval",
		[PROFILE_RULE_LINEAR] = "of gperftools, heap/N: a sample stands for N/2 bytes, or "
					"for itself if that is more",
	};

	if (meta->rule)
		fprintf(out, "Weights: %s\n", rules[meta->rule]);
}

static void print_stack_ends(const struct profile_meta *meta, FILE *out)
{
	static const char *const why[HI_STACK_ENDS] = {
		[HI_END_DEPTH] = "deeper than what is recorded",
		[HI_END_REGION] = "on a stack not known yet",
		[HI_END_NO_ROW] = "ended in code without unwind information",
		[HI_END_BAD_FRAME] = "led out of the stack",
		[HI_END_LOST] = "lost among frame pointers",
	};
	const char *before = "Incomplete stacks: ";

	for (size_t end = 0; end < HI_STACK_ENDS; end++) {
		if (!meta->stack_ends[end] || !why[end])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, meta->stack_ends[end], why[end]);
		before = ", ";
	}
	if (*before == ',')
		fprintf(out, "\n");
}

/* Prints the sampling intervals and since when each was in force, if the interval changed. */
static void print_changes(const struct profile_meta *meta, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (!meta->change_count)
		return;
	fprintf(out, "Rate:");
	if (meta->budget_ppm)
		fprintf(out, " adapted to stay within %g%% of CPU time:", meta->budget_ppm / 1e4);
	for (size_t i = 0; i < meta->change_count && i < CHANGES_SHOWN; i++)
		fprintf(out, "%s one per %s from %.1fs", i ? "," : "",
			hi_format_bytes((double)meta->change[i].interval, text, sizeof(text)),
			(double)meta->change[i].time_ns / 1e9);
	if (meta->change_count > CHANGES_SHOWN)
		fprintf(out, ", and %" PRIu64 " more changes", meta->change_count - CHANGES_SHOWN);
	fprintf(out, "; each sample is weighed by its own\n");
}

/* Prints the waste, if the allocator could report usable sizes. */
static void print_slack(const struct profile_meta *meta, enum sample_type type,
			const struct estimate *total, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (!meta->slack_samples || total->slack <= 0)
		return;
	fprintf(out, "Waste: %s", hi_format_bytes(total->slack, text, sizeof(text)));
	if (sample_type_is_space(type) && total->value + total->base > 0)
		fprintf(out, " (%.1f%%)", 100 * total->slack / (total->value + total->base));
	fprintf(out, " more than was requested, by the allocator's rounding\n");
}

/* Prints the total. In a comparison it has a sign, which the reader looks for first. */
static void print_total(const struct profile_meta *meta, enum sample_type type,
			const struct estimate *total, FILE *out)
{
	char value[HI_UNITS_TEXT_MAX], low_text[HI_UNITS_TEXT_MAX], high_text[HI_UNITS_TEXT_MAX];
	const bool is_comparison = total->base > 0;
	double low, high;

	if (meta->filters)
		fprintf(out, "Active filters:\n%s", meta->filters);
	fprintf(out, "%s: ", is_comparison ? "Change" : meta->filters ? "Shown" : "Total");
	style_print(style_of_change(total->value, is_comparison), out, "%s%s",
		    is_comparison && total->value > 0 ? "+" : "",
		    render_value(total->value, type, value));
	fputs(what[type], out);
	estimate_interval(total, &low, &high);
	if (high > low)
		fprintf(out, " (95%% interval %s .. %s)", render_value(low, type, low_text),
			render_value(high, type, high_text));
	if (meta->is_difference)
		fprintf(out, ", as the file holds differences");
	else if (is_comparison)
		fprintf(out, ", from %s to %s", render_value(total->base, type, low_text),
			render_value(total->base + total->value, type, high_text));
	fprintf(out, "\n");
}

/*
 * Prints the peak of all that was sampled. The peak is a sum that is rounded differently from the
 * total, so the larger of both is printed.
 */
static void print_peak(const struct profile_meta *meta, enum sample_type type,
		       const struct estimate *total, FILE *out)
{
	const double most =
		fmax((double)meta->peak_inuse_bytes, type == INUSE_SPACE ? total->value : 0);
	char text[HI_UNITS_TEXT_MAX];

	if (!meta->peak_inuse_bytes || meta->filters || total->base > 0)
		return;
	fprintf(out, "Peak: %s%s in use at %.1fs\n",
		meta->interval > HI_INTERVAL_EXACT || meta->change_count ? "about " : "",
		render_value(most, INUSE_SPACE, text), (double)meta->peak_ns / 1e9);
}

/* What the allocator has by its own count, beside what was sampled. */
static void print_heap(const struct profile_meta *meta, const struct estimate *total, FILE *out)
{
	struct heap_growth heap;
	char used[HI_UNITS_TEXT_MAX], kept[HI_UNITS_TEXT_MAX], trim[HI_UNITS_TEXT_MAX],
		all[HI_UNITS_TEXT_MAX];

	heap_growth_of(meta, &heap);
	if (!heap.now || meta->filters || total->base > 0)
		return;
	fprintf(out,
		"Heap: %s in use and %s retained by the allocator, of which a trim would give back "
		"%s, of %s of anonymous memory at %.1fs",
		hi_format_bytes((double)heap.now->used, used, sizeof(used)),
		hi_format_bytes(heap_growth_kept(heap.now), kept, sizeof(kept)),
		hi_format_bytes((double)heap.now->trimmable, trim, sizeof(trim)),
		hi_format_bytes((double)heap.now->anonymous, all, sizeof(all)),
		(double)heap.now->time_ns / 1e9);
	print_text(out, ", by the count of ", meta->heap.name, "");
	fputc('\n', out);
}

/* Where it matters. */
static void print_much_kept(const struct profile_meta *meta, const struct estimate *total,
			    FILE *out)
{
	struct heap_growth heap;

	heap_growth_of(meta, &heap);
	if (heap.now && heap_growth_keeps_much(heap.now))
		print_heap(meta, total, out);
}

static void print_suppressed(const struct profile_meta *meta, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (meta->suppressed_bytes)
		fprintf(out,
			"Suppressed: %s in use, as the recording says that they are no leak "
			"(__lsan_default_suppressions)\n",
			render_value((double)meta->suppressed_bytes, INUSE_SPACE, text));
}

/* Warns about figures that the file of another tool does not have. */
static void print_missing(const struct profile_meta *meta, enum sample_type type, FILE *out)
{
	const bool is_space = sample_type_is_space(type), is_inuse = sample_type_is_inuse(type);

	if (meta->missing & (is_space ? PROFILE_MISSING_SPACE : PROFILE_MISSING_OBJECTS))
		fprintf(out, "Warning: the input tells no %s: these figures mean nothing\n",
			is_space ? "bytes" : "numbers of objects");
	if (meta->missing & (is_inuse ? PROFILE_MISSING_INUSE : PROFILE_MISSING_ALLOC))
		fprintf(out,
			"Warning: the input does not tell what %s; --%s-space shows what it "
			"tells\n",
			is_inuse ? "is in use" : "was allocated and freed again",
			is_inuse ? "alloc" : "inuse");
}

static void warn(FILE *out, uint64_t count, const char *what_happened)
{
	if (count)
		fprintf(out, "Warning: %" PRIu64 " %s\n", count, what_happened);
}

static void print_warnings(const struct profile *profile, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;
	char rate[HI_UNITS_TEXT_MAX];

	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if (meta->caveat[kind]) {
			fprintf(out, "%s: ", caveats_word((enum hi_caveat)kind));
			print_text(out, "", meta->caveat[kind], "\n");
		}
	warn(out, meta->dropped_allocs,
	     "samples were lost, so figures are too low: the reader did not keep up; take fewer "
	     "(--sample)");
	warn(out, meta->dropped_frees,
	     "frees were lost, so in-use figures are too high: the reader did not keep up; take "
	     "fewer samples (--sample)");
	if ((meta->dropped_allocs || meta->dropped_frees) && !meta->caveat[HI_CAVEAT_DROPPED])
		fprintf(out, "Lost: %.2f%% of the samples; --sample %s would have fitted\n",
			100.0 * (double)meta->dropped_allocs /
				((double)meta->dropped_allocs + (double)sample_count(profile)),
			profile_fitting_rate(profile, rate, sizeof(rate)));
	warn(out, meta->live_set_full,
	     "samples were given up, so figures are too low: too many sampled blocks were live "
	     "(--live-max, --sample)");
	if (meta->no_thread_slot)
		fprintf(out,
			"Warning: up to %" PRIu64
			" allocations of %s were passed over, as too many threads were inside at "
			"once, or on other stacks where a call had been left; the interval of the "
			"total allows for them\n",
			meta->no_thread_slot,
			hi_format_bytes((double)meta->passed_bytes, rate, sizeof(rate)));
	if (meta->end_reason == HI_STREAM_END_DEADMAN)
		fprintf(out, "Warning: the window ended early: the payload disarmed itself, as "
			     "heapinject did not answer\n");
	else if (meta->end_reason == HI_STREAM_END_PROBE)
		fprintf(out, "Warning: the window ended early: somebody put a probe at a function "
			     "of the allocator, whose calls could not be seen any more\n");
	else if (meta->end_reason == HI_STREAM_END_ERROR)
		fprintf(out, "Warning: the window ended early, by an error of the session\n");
	else if (meta->end_reason == HI_STREAM_END_EXEC)
		fprintf(out, "Note: the window ended where the process executed another program; "
			     "what that has allocated is not seen\n");
	print_text(out, "Warning: the input is damaged: ", meta->damage,
		   "; what was good is shown\n");
}

static bool has_text(const char *text)
{
	return text && *text;
}

/* Files of other tools do not say what process they are of. */
static bool is_of_process(const struct profile_meta *meta)
{
	return meta->pid || has_text(meta->comm) || has_text(meta->host) || has_text(meta->cmdline);
}

static void print_process(const struct profile_meta *meta, FILE *out)
{
	style_print(STYLE_HEADING, out, "heapinject:");
	print_text(out, " ", meta->comm, "");
	if (meta->pid)
		fprintf(out, " (pid %" PRIu32 ")", meta->pid);
	print_text(out, " on ", meta->host, "");
}

/* Why it was written before the session ended. */
static void print_trigger(const struct profile_meta *meta, FILE *out)
{
	print_text(out, "Written by: ", meta->trigger, "\n");
}

/* Prints the beginning of the command line, on the line that names the process. */
static void print_command(const struct profile_meta *meta, FILE *out)
{
	const size_t length = meta->cmdline ? strlen(meta->cmdline) : 0;
	char *shown = length ? strndup(meta->cmdline, COMMAND_SHOWN) : NULL;

	print_text(out, ": ", shown, length > COMMAND_SHOWN ? "..." : "");
	free(shown);
	fprintf(out, "\n");
}

void render_header_brief(const struct profile *profile, enum sample_type type,
			 const struct estimate *total, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;

	if (is_of_process(meta)) {
		print_process(meta, out);
		print_command(meta, out);
	}
	if (meta->sources)
		fputs(meta->sources, out);
	print_window(profile, out);
	print_trigger(meta, out);
	print_rule(meta, out);
	if (meta->stacks_truncated > meta->stacks_complete / INCOMPLETE_RARE)
		print_stack_ends(meta, out);
	print_changes(meta, out);
	print_total(meta, type, total, out);
	print_much_kept(meta, total, out);
	print_suppressed(meta, out);
	print_missing(meta, type, out);
	print_warnings(profile, out);
}

void render_header(const struct profile *profile, enum sample_type type,
		   const struct estimate *total, FILE *out)
{
	const struct profile_meta *meta = &profile->meta;

	if (is_of_process(meta)) {
		print_process(meta, out);
		fprintf(out, "\n");
		print_text(out, "Command: ", meta->cmdline, "\n");
	}
	if (meta->sources)
		fputs(meta->sources, out);
	print_window(profile, out);
	print_trigger(meta, out);
	print_rule(meta, out);
	print_stack_ends(meta, out);
	print_changes(meta, out);
	print_total(meta, type, total, out);
	print_peak(meta, type, total, out);
	print_heap(meta, total, out);
	print_slack(meta, type, total, out);
	print_suppressed(meta, out);
	print_missing(meta, type, out);
	print_warnings(profile, out);
}

/* The smallest row, by its flat weight, or if it has none, by the cumulative one. */
static void fit_unit(const struct callgraph *graph, const uint32_t *order, size_t count)
{
	double smallest = 0;

	for (size_t i = 0; i < count; i++) {
		const struct callgraph_node *node = &graph->node[order[i]];
		const double flat = fabs(round(callgraph_flat(node))),
			     least = flat > 0 ? flat : fabs(round(callgraph_cum(node)));

		if (least > 0 && (smallest == 0 || least < smallest))
			smallest = least;
	}
	render_fit_unit(smallest > 0 ? smallest : graph->percent_base, graph->percent_base);
}

void render_shown(const struct callgraph *graph, const uint32_t *order, size_t count,
		  const struct callgraph_limits *limits, const struct callgraph_dropped *dropped,
		  enum sample_type type, FILE *out)
{
	char value[HI_UNITS_TEXT_MAX], percent[HI_UNITS_TEXT_MAX], whole[HI_UNITS_TEXT_MAX];
	double flat = 0;

	fit_unit(graph, order, count);
	for (size_t i = 0; i < count; i++)
		flat += callgraph_flat(&graph->node[order[i]]);
	render_percent(flat, graph->percent_base, percent);
	if (graph->divisor != 0) {
		style_print(STYLE_DIM, out, "Means: the sums divided by the objects allocated");
		fputc('\n', out);
	}
	style_print(STYLE_DIM, out, "Showing nodes accounting for %s, %s of %s total",
		    render_value(flat, type, value), percent + strspn(percent, " "),
		    render_value(graph->percent_base, type, whole));
	fputc('\n', out);
	if (dropped->nodes && round(graph->percent_base) != 0) {
		style_print(STYLE_DIM, out, "Dropped %zu node%s (cum <= %s)", dropped->nodes,
			    dropped->nodes == 1 ? "" : "s",
			    render_value(floor(fabs(graph->percent_base) * limits->node_fraction),
					 type, value));
		fputc('\n', out);
	}
	if (count && count < dropped->candidates) {
		style_print(STYLE_DIM, out, "Showing top %zu nodes out of %zu", count,
			    dropped->candidates);
		fputc('\n', out);
	}
}
