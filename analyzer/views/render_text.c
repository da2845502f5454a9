/* SPDX-License-Identifier: MIT */
/*
 * render_text.c - the table of functions: flat, flat%, sum%, cum, cum%, function, with columns like
 * those of pprof -text; with --intervals also the precision of each figure.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph_trim.h"
#include "caveats.h"
#include "hi_path.h"
#include "hi_units.h"
#include "render_header.h"
#include "style.h"

#define HEAVIEST 10u /* rows, where all are too light */
#define FINER 65536u /* the rate to try first where a coarser one found nothing */

/* What to try where nothing was sampled: no rate is finer than that of every allocation. */
static void explain_no_sample(const struct profile *profile, FILE *out)
{
	char interval[HI_UNITS_TEXT_MAX];
	const struct profile_meta *meta = &profile->meta;
	const uint64_t last = meta->change_count && meta->change_count <= PROFILE_CHANGES_MAX
				      ? meta->change[meta->change_count - 1].interval
				      : meta->interval;

	if (last <= HI_INTERVAL_EXACT)
		fprintf(out, "No sample was taken: the program allocated nothing in the window.\n"
			     "Try a longer window (--duration), while the program works.\n");
	else
		fprintf(out,
			"No sample was taken: the program allocated nothing in the window, or too "
			"little for one sample per %s.\n"
			"Try a longer window (--duration) or a finer rate (--sample %s).\n",
			hi_format_bytes((double)last, interval, sizeof(interval)),
			last > FINER ? "64K" : "1");
}

static bool has_stack(const struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		if (profile->stack[profile->row[i].key.stack].frame_count > 0)
			return true;
	}
	return false;
}

/* Explains an empty table: is that the answer, or a mistake? total: of what is counted */
static void explain_nothing(const struct profile *profile, const struct estimate *total, FILE *out)
{
	if (profile->row_count == 0 && profile->meta.damage)
		fprintf(out, "Nothing could be read before the damage.\n");
	else if (profile->row_count == 0 && caveats_too_low(caveats_bits(&profile->meta)))
		fprintf(out, "No sample was taken; the warning says why.\n");
	else if (profile->row_count == 0 && profile->meta.is_scaled)
		fprintf(out, "The file holds no allocation.\n");
	else if (profile->row_count == 0)
		explain_no_sample(profile, out);
	else if (total->value != 0 && !has_stack(profile))
		fprintf(out, "Nothing to show: no sample has a stack, so no function can be named. "
			     "--sizes and --raw show what there is.\n");
	else if (profile_is_comparison(profile))
		fprintf(out, "Nothing to show: there is no difference.\n");
	else if (profile->meta.is_scaled)
		fprintf(out, "Nothing to show: the file counts nothing of this. --sample-index "
			     "chooses what is counted.\n");
	else
		fprintf(out, "Nothing to show: what was sampled in the window was freed again in "
			     "the window. --alloc-space shows where it was allocated.\n");
}

/* "low .. high", in a column of its own. */
static void print_interval(const struct estimate *estimate, enum sample_type type, FILE *out)
{
	char low_text[HI_UNITS_TEXT_MAX], high_text[HI_UNITS_TEXT_MAX];
	double low, high;

	estimate_interval(estimate, &low, &high);
	fprintf(out, " %10s .. %-10s", render_value(low, type, low_text),
		render_value(high, type, high_text));
}

/* The mean time, "-" where the count is 0. */
static const char *format_mean(double sum_ns, double count, char *text)
{
	if (count > 0)
		return hi_format_ns(sum_ns / count, text, HI_UNITS_TEXT_MAX);
	snprintf(text, HI_UNITS_TEXT_MAX, "-");
	return text;
}

static void print_details(const struct estimate *estimate, bool is_slack_known, FILE *out)
{
	char waste[HI_UNITS_TEXT_MAX] = "-", age[HI_UNITS_TEXT_MAX], lifetime[HI_UNITS_TEXT_MAX];

	if (is_slack_known)
		hi_format_bytes(estimate->slack, waste, sizeof(waste));
	fprintf(out, " %10s %10s %10s", waste, format_mean(estimate->age_ns, estimate->live, age),
		format_mean(estimate->lifetime_ns, estimate->freed, lifetime));
}

/* True if the source position is printed. Names of the other granularities contain it already. */
static bool has_place(const struct callgraph *graph, const struct callgraph_node *node)
{
	return graph->granularity == PROFILE_FUNCTIONS && node->file && node->line;
}

static void print_node(const struct callgraph *graph, const struct callgraph_node *node,
		       const struct render_options *options, double sum, FILE *out)
{
	const enum sample_type type = options->type;
	static const char *const inlining[] = {[INLINE_NEVER] = "",
					       [INLINE_SOMETIMES] = " (partial-inline)",
					       [INLINE_ALWAYS] = " (inline)"};
	char flat[HI_UNITS_TEXT_MAX], flat_percent[HI_UNITS_TEXT_MAX],
		sum_percent[HI_UNITS_TEXT_MAX], cum[HI_UNITS_TEXT_MAX],
		cum_percent[HI_UNITS_TEXT_MAX];
	const double total = graph->percent_base;
	const bool is_difference = graph->total.base > 0;

	style_print(style_of_change(callgraph_flat(node), is_difference), out, "%10s",
		    render_value(callgraph_flat(node), type, flat));
	fprintf(out, " %s %s ", render_percent(callgraph_flat(node), total, flat_percent),
		render_percent(sum, total, sum_percent));
	style_print(style_of_change(callgraph_cum(node), is_difference), out, "%10s",
		    render_value(callgraph_cum(node), type, cum));
	fprintf(out, " %s", render_percent(callgraph_cum(node), total, cum_percent));
	if (options->intervals) {
		print_interval(&node->flat, type, out);
		print_interval(&node->cum, type, out);
	}
	if (options->details)
		print_details(&node->cum, graph->slack_samples > 0, out);
	fprintf(out, "  %s%s", node->name, inlining[node->inlining]);
	if (has_place(graph, node))
		fprintf(out, "  %s:%u", hi_base_name(node->file), node->line);
	fprintf(out, "\n");
}

static void print_table(const struct callgraph *graph, const uint32_t *order, size_t count,
			const struct render_options *options, FILE *out)
{
	double sum = 0;

	style_print(STYLE_HEADING, out, "%10s %5s%% %5s%% %10s %5s%%%s%s", "flat", "flat", "sum",
		    "cum", "cum",
		    options->intervals ? "         flat, 95%              cum, 95%       " : "",
		    options->details ? "      waste   mean age   lifetime" : "");
	fputc('\n', out);
	for (size_t i = 0; i < count; i++) {
		const struct callgraph_node *node = &graph->node[order[i]];

		sum += callgraph_flat(node);
		print_node(graph, node, options, sum, out);
	}
}

/* Says how many functions are in no row because nobody looks at them first. 0 or -ENOMEM. */
static int print_folded(const struct profile *profile, const struct user_frames *fold,
			enum sample_type type, FILE *out)
{
	const size_t functions = fold->functions.count;
	bool *is_folded = calloc(functions + 1, sizeof(*is_folded));
	size_t count = 0;

	if (!is_folded)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		if (estimate_of(profile, &profile->row[i], type).value != 0)
			user_frames_note_folded(fold, profile->row[i].key.stack, is_folded);
	}
	for (size_t i = 0; i < functions; i++)
		count += is_folded[i];
	free(is_folded);
	if (count) {
		style_print(STYLE_DIM, out,
			    "Folded %zu function%s of allocators, libraries and starts into "
			    "callers and callees; --all-functions shows %s",
			    count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
		fputc('\n', out);
	}
	return 0;
}

/*
 * Builds the graph of what is to be shown. If all functions are too light, which must not look as
 * if there were nothing, it is that of the heaviest.
 */
static int build(const struct profile *profile, const struct render_options *options,
		 struct callgraph_limits *limits, struct callgraph *out_graph,
		 struct callgraph_dropped *out_dropped, bool *out_all_are_light)
{
	uint32_t *order;
	size_t count = 0;
	int err = callgraph_build_limited(profile, options->type, limits, out_graph, out_dropped);

	*out_all_are_light = false;
	if (err)
		return err;
	order = callgraph_order(out_graph, limits->sort, &count);
	free(order);
	if (!order || count || !out_dropped->nodes)
		return order ? 0 : -ENOMEM;
	callgraph_close(out_graph);
	*out_all_are_light = true;
	limits->node_fraction = limits->edge_fraction = 0;
	limits->nodes = options->limit ? options->limit : HEAVIEST;
	return callgraph_build_limited(profile, options->type, limits, out_graph, out_dropped);
}

/* fold: NULL = show all functions. */
static int print_text(const struct profile *profile, const struct render_options *options,
		      const struct user_frames *fold, FILE *out)
{
	struct render_options shown = *options;
	struct callgraph_limits limits = callgraph_limits_of(options, 0);
	struct callgraph_dropped dropped;
	const double node_fraction = limits.node_fraction;
	struct callgraph graph = {0};
	size_t count = 0;
	bool all_are_light;
	int err;

	limits.fold = fold;
	if (fold && limits.sort == CALLGRAPH_BY_FLAT)
		limits.sort = CALLGRAPH_BY_FLAT_AND_CUM;
	err = build(profile, options, &limits, &graph, &dropped, &all_are_light);
	if (err) {
		callgraph_close(&graph);
		return err;
	}
	/* intervals of a scaled profile, and of means, are unknown */
	shown.intervals &= !profile->meta.is_scaled && !profile->meta.is_mean;
	uint32_t *order = callgraph_order(&graph, limits.sort, &count);
	if (!order)
		err = -ENOMEM;
	else {
		(options->details ? render_header : render_header_brief)(profile, options->type,
									 &graph.total, out);
		if (count == 0 && !profile->meta.filters)
			explain_nothing(profile, &graph.total, out);
		else {
			if (all_are_light)
				fprintf(out,
					"Each function has less than %g%% of the total "
					"(--nodefraction); the largest are:\n",
					100 * node_fraction);
			render_shown(&graph, order, count, &limits, &dropped, options->type, out);
			if (fold)
				err = print_folded(profile, fold, options->type, out);
			print_table(&graph, order, count, &shown, out);
		}
	}
	callgraph_close(&graph);
	free(order);
	return err;
}

int render_text(const struct profile *profile, const struct render_options *options, FILE *out)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct user_frames fold;
	int err;

	if (options->raw)
		return render_result(print_text(profile, options, NULL, out), out);
	err = user_frames_open(profile, &options->user_frames, &fold, complaint);
	if (err == -EINVAL)
		return render_fail(err, "no regular expression: %s", complaint);
	if (!err) {
		err = print_text(profile, options, &fold, out);
		user_frames_close(&fold);
	}
	return render_result(err, out);
}
