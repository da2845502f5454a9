/* SPDX-License-Identifier: MIT */
/*
 * render_leaks.c - what was allocated in the window and is still in use, by stack: a line says how
 * fast it grows and how precise that is, the next ones have the stack. Lines have 100 columns at
 * most, but for longer names.
 */
#include "render_formats.h"

#include <errno.h>
#include <math.h>

#include "hi_units.h"
#include "leaks.h"
#include "render_answer.h"
#include "render_header.h"
#include "stack_columns.h"
#include "style.h"

#define SECONDS_PER_HOUR 3600
/* bytes per second; if no stack grows faster, rates are per hour */
#define SLOW 1024

/* "1.20MB/s" */
static char *format_rate(double rate, bool by_hour, char *text)
{
	char value[HI_UNITS_TEXT_MAX];

	snprintf(text, HI_UNITS_TEXT_MAX, "%.20s/%c",
		 render_value(by_hour ? rate * SECONDS_PER_HOUR : rate, INUSE_SPACE, value),
		 by_hour ? 'h' : 's');
	return text;
}

static bool is_slow(const struct leaks *leaks)
{
	double fastest = 0;

	for (size_t i = 0; i < leaks->count; i++)
		fastest = fmax(fastest, fabs(leaks->leak[i].trend.slope));
	return fastest < SLOW;
}

static void print_trend(const struct trend *trend, bool by_hour, FILE *out)
{
	char slope[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX];

	style_print(trend->verdict == TREND_GROWS ? STYLE_MORE : STYLE_PLAIN, out, "%-21s",
		    trend_word(trend->verdict));
	fprintf(out, " %11s %11s .. %-11s", format_rate(trend->slope, by_hour, slope),
		format_rate(trend->slope_low, by_hour, low),
		format_rate(trend->slope_high, by_hour, high));
}

static void print_leak(const struct stack_text *text, const struct leak *leak, bool by_hour,
		       const struct render_options *options, FILE *out)
{
	char bytes[HI_UNITS_TEXT_MAX], age[HI_UNITS_TEXT_MAX];
	const struct trend *trend = &leak->trend;

	if (trend->verdict == TREND_UNSURE)
		fprintf(out, "%-21s %11s %11s .. %-11s", trend_word(trend->verdict), "?", "?", "?");
	else
		print_trend(trend, by_hour, out);
	fprintf(out, " %9s %8.0f %7.0f %7s\n", render_value(leak->bytes.value, INUSE_SPACE, bytes),
		leak->objects.value, leak->bytes.samples,
		hi_format_ns(leak->age_ns, age, sizeof(age)));
	if (options->details)
		stack_text_print_all(text, leak->stack, "        ", out);
	else
		stack_columns_wrap(text, leak->stack, out);
}

static void print_table(const struct stack_text *text, const struct leaks *leaks,
			const struct render_options *options, FILE *out)
{
	const bool by_hour = is_slow(leaks);
	size_t shown = options->limit ? options->limit : STACK_COLUMNS_LINES;

	/* Growing stacks are never left out, unless the user sets a limit. */
	if (!options->limit && shown < leaks->growing_count)
		shown = leaks->growing_count;
	shown = shown < leaks->count ? shown : leaks->count;
	style_print(STYLE_HEADING, out, "%-21s %11s %11s    %-11s %9s %8s %7s %7s", "", "slope",
		    "slope, 95%", "", "retained", "objects", "samples", "age");
	fputc('\n', out);
	for (size_t i = 0; i < shown; i++)
		print_leak(text, &leaks->leak[i], by_hour, options, out);
	stack_columns_rest(leaks->count, shown, out);
}

/* Prints "~1.95MB (+-e), ~M objects (+-e)"; other programs ask for --unit b. */
static void print_amount(const struct leaks *leaks, const struct estimate *bytes,
			 const struct estimate *objects, FILE *out)
{
	char value[HI_UNITS_TEXT_MAX], error[HI_UNITS_TEXT_MAX];
	double low, high;

	render_value(bytes->value, INUSE_SPACE, value);
	if (leaks->is_unsure) {
		fprintf(out, "~%s, ~%.0f objects", value, objects->value);
		return;
	}
	estimate_interval(bytes, &low, &high);
	fprintf(out, "~%s (\302\261%s)", value, render_value((high - low) / 2, INUSE_SPACE, error));
	estimate_interval(objects, &low, &high);
	fprintf(out, ", ~%.0f objects (\302\261%.0f)", objects->value, (high - low) / 2);
}

static void print_summary(const struct leaks *leaks, FILE *out)
{
	char tail[HI_UNITS_TEXT_MAX], undecided[HI_UNITS_TEXT_MAX];

	fprintf(out, "Retained: ");
	print_amount(leaks, &leaks->bytes, &leaks->objects, out);
	fprintf(out, ", %zu contexts\n", leaks->count);
	fprintf(out, "  (allocated in the window and still there, without the youngest %s)\n",
		hi_format_ns(leaks->tail_ns, tail, sizeof(tail)));
	if (leaks->is_unsure) {
		fprintf(out, "Leak summary: cannot tell what grows; the warnings above say why\n");
		return;
	}
	fprintf(out, "Leak summary: ");
	print_amount(leaks, &leaks->growing_bytes, &leaks->growing_objects, out);
	fprintf(out, ", %zu contexts", leaks->growing_count);
	if (leaks->undecided_count)
		fprintf(out, "\n  (cannot be told yet of %zu others, with ~%s)",
			leaks->undecided_count,
			render_value(leaks->undecided_bytes.value, INUSE_SPACE, undecided));
	fputc('\n', out);
}

static void print_all(const struct stack_text *text, const struct leaks *leaks,
		      const struct render_options *options, FILE *out)
{
	const struct estimate total = estimate_total(text->profile, INUSE_SPACE);

	render_header(text->profile, INUSE_SPACE, &total, out);
	render_answer_sentences(&leaks->answer, out);
	if (leaks->unknown_rows)
		fprintf(out,
			"Warning: of %zu of %zu kinds of blocks it is not known when they were "
			"allocated; they are left out\n",
			leaks->unknown_rows, leaks->unknown_rows + leaks->known_rows);
	if (leaks->count)
		print_table(text, leaks, options, out);
	else
		fprintf(out, "Nothing that was sampled is both older than that and still there.\n");
	print_summary(leaks, out);
}

int render_leaks(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct stack_text text;
	struct leaks leaks = {0};
	int err;

	if (profile_has_base(profile) || options->file_count > 1)
		return render_fail(-EINVAL, "--leaks looks at one session; --growth takes several "
					    "files, --base compares two");
	err = stack_text_open(profile, &text);
	if (!err)
		err = leaks_open(&text, &options->tail, &leaks);
	if (err == -ERANGE)
		err = render_fail(err, "--tail excludes the whole window of %.1fs",
				  leaks.window_ns / 1e9);
	else if (!err && leaks.unknown_rows && !leaks.known_rows)
		err = render_fail(-EINVAL,
				  "the file does not say when its samples were allocated; heap "
				  "profiles and record streams of heapinject do");
	else {
		if (!err)
			print_all(&text, &leaks, options, out);
		err = render_result(err, out);
	}
	leaks_close(&leaks);
	stack_text_close(&text);
	return err;
}
