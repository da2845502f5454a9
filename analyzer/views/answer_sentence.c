/* SPDX-License-Identifier: MIT */
/* answer_sentence.c - see answer_sentence.h. */
#include "answer_sentence.h"

#include <math.h>

#include "answer_mappings.h"
#include "answer_words.h"

#define NS_PER_S 1e9
/* a share of the growth that is as good as none */
#define NONE_SHARE 0.1
#define LITTLE_SHARE 0.3 /* of the growth: most of it is something else */
#define ENOUGH_SAMPLES 32
#define CAME_EARLY 0.75 /* of the window: a beginning, not all of it */

/* "about 40s" */
static void print_more(double more_ns, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "about %s more",
		hi_format_ns(ceil(more_ns / NS_PER_S) * NS_PER_S, text, sizeof(text)));
}

/* What holds more than at the start, and may leak, though as much that is older was freed. */
static void print_balanced(const struct answer *answer, const struct answer_row *row, FILE *out)
{
	char live[HI_UNITS_TEXT_MAX];

	answer_words_place(answer, row, out);
	fprintf(out,
		" holds %s more than at the start, and as much that is older was freed: a leak "
		"would look the same until these frees end.\n",
		hi_format_bytes(row->live, live, sizeof(live)));
}

/* The first of what may grow faster than all that does. */
static void print_perhaps(const struct answer *answer, FILE *out)
{
	const struct answer_row *row = &answer->row[1], *end = &answer->row[answer->row_count];
	char rate[HI_UNITS_TEXT_MAX];

	while (row < end &&
	       (trend_is_growth(row->trend.verdict) || row->trend.slope_low <= answer->slope_high))
		row++;
	if (row >= end)
		return;
	if (row->trend.verdict == TREND_REPLACES) {
		print_balanced(answer, row, out);
		return;
	}
	fputs("More may grow, which cannot be told yet: ", out);
	answer_words_place(answer, row, out);
	fprintf(out, ", by %s.\n", answer_words_rate(row->trend.slope, rate));
}

/* What is not growth of it, as older blocks were freed meanwhile. */
static void print_partly(const struct answer *answer, FILE *out)
{
	char rate[HI_UNITS_TEXT_MAX];

	if (answer->use.slope > 0)
		fprintf(out,
			"New blocks that stay come by %s; the difference is older blocks that were "
			"freed meanwhile.\n",
			answer_words_rate(answer->slope, rate));
	else
		fputs("By the allocator's own count what is in use does not grow in all: as much "
		      "that is older was freed meanwhile.\n",
		      out);
}

/* The rate of what is in use, where it is known that not all that comes is growth. */
static void print_rate(const struct answer *answer, FILE *out)
{
	const struct heap_use *use = &answer->use;
	const bool is_use = answer->is_partly && use->slope > 0;
	const struct answer_words_rates all =
		is_use ? answer_words_rates(use->slope, use->low, use->high)
		       : answer_words_rates(answer->slope, answer->slope_low, answer->slope_high);

	fprintf(out, "It %s by %s (95%% interval %s .. %s%s",
		answer->row[0].trend.verdict == TREND_GROWS ? "grows" : "probably grows", all.rate,
		all.low, all.high, is_use ? ", by the allocator's own count" : "");
}

static void print_growth(const struct answer *answer, FILE *out)
{
	const struct answer_row *first = &answer->row[0];
	char rate[HI_UNITS_TEXT_MAX];

	print_rate(answer, out);
	if (answer->growing == 1) {
		fputs("): ", out);
	} else {
		fprintf(out, ") at %zu places, fastest, by %s, at ", answer->growing,
			answer_words_rate(first->trend.slope, rate));
	}
	answer_words_place(answer, first, out);
	fputs(first->is_enlarged    ? ", one block that becomes larger again and again.\n"
	      : first->is_caller    ? ", which leads to many places that allocate.\n"
	      : first->is_scattered ? ", and at many other places.\n"
				    : ".\n",
	      out);
	if (answer->is_partly)
		print_partly(answer, out);
	if (answer->explained >= 0 && answer->explained < LITTLE_SHARE)
		fprintf(out, "That is only %.0f%% of what the process grows by.\n",
			100 * answer->explained);
	print_perhaps(answer, out);
}

/* "40MB more than at the start are held by fill_cache cache.c:10" */
static void print_held(const struct answer *answer, FILE *out)
{
	const struct answer_row *first = &answer->row[0];
	char live[HI_UNITS_TEXT_MAX];

	fprintf(out, "%s more than at the start are held by ",
		hi_format_bytes(first->live, live, sizeof(live)));
	answer_words_place(answer, first, out);
}

static void print_replaced(const struct answer *answer, FILE *out)
{
	char rate[HI_UNITS_TEXT_MAX];

	fputs("Nothing grows in all: ", out);
	print_held(answer, out);
	fputs(", but as much that is older was freed: new blocks replace older ones, and all that "
	      "is in use ",
	      out);
	if (answer->use.high > 0)
		fprintf(out, "grows by no more than %s", answer_words_rate(answer->use.high, rate));
	else
		fputs("does not grow", out);
	fputs(", by the allocator's own count. A leak looks the same only while as much older "
	      "memory is freed for good, which a longer session shows (--duration).\n",
	      out);
}

/* What the allocators have in use grows, and more places than that seem to. */
static void print_somewhere(const struct answer *answer, FILE *out)
{
	char rate[HI_UNITS_TEXT_MAX], together[HI_UNITS_TEXT_MAX];

	fprintf(out, "What is in use grows by %s, by the allocator's own count, but ",
		answer_words_rate(answer->use.slope, rate));
	if (answer->doubted > 1)
		fprintf(out,
			"%zu places seem to, by %s together: some of them replace older blocks, "
			"and it cannot be told yet which. The fastest is ",
			answer->doubted, answer_words_rate(answer->doubted_slope, together));
	else
		fputs("it cannot be told yet where: ", out);
	answer_words_place(answer, &answer->row[0], out);
	fputs(answer->doubted > 1 ? ". " : " may. ", out);
}

/* Why it cannot be told, though it grows by its samples. */
static void print_unshown(const struct answer *answer, FILE *out)
{
	fputs("Cannot tell yet whether it grows: ", out);
	print_held(answer, out);
	fputs(", but the process does not grow by as much. They may be a leak that is touched only "
	      "in part or fills memory that was free, or replace older blocks. ",
	      out);
}

/* What grew for a part of the window, and is still there. */
static void print_stopped(const struct answer *answer, FILE *out)
{
	const struct answer_row *first = &answer->row[0];
	char bytes[HI_UNITS_TEXT_MAX], time[HI_UNITS_TEXT_MAX];

	fputs("Nothing grows any more at the end", out);
	fprintf(out,
		answer->use.is_known ? ", but %s more are in use than at the start"
				     : ", but the process has %s more than at the start",
		hi_format_bytes(answer->risen, bytes, sizeof(bytes)));
	fputs(", of which ", out);
	answer_words_place(answer, first, out);
	fputs(" holds the largest part", out);
	if (first->came_ns < CAME_EARLY * answer->window_ns)
		fprintf(out, ", which came in the first %s",
			hi_format_ns(first->came_ns, time, sizeof(time)));
	fputs(". A program that warms up looks like that, and so does a leak that works only under "
	      "load: it takes more of that load to tell, in a longer session (--duration) or "
	      "another one.\n",
	      out);
}

/* What replaces older blocks as far as is known. */
static void print_perhaps_replaced(const struct answer *answer, FILE *out)
{
	const struct process_growth *process = &answer->process;
	const struct heap_use *use = &answer->use;
	const bool is_process = process->is_known && process->low > answer->detectable;
	char rate[HI_UNITS_TEXT_MAX];

	if (is_process || (use->is_known && use->low > answer->detectable)) {
		fprintf(out, "%s grows by %s. What grows by its samples, most at ",
			is_process ? "The process" : "What is in use",
			answer_words_rate(is_process ? process->slope : use->slope, rate));
		answer_words_place(answer, &answer->row[0], out);
		fputs(", replaces older blocks as far as is known, but a leak may be among it. ",
		      out);
		return;
	}
	fputs("Nothing grows in all, as far as is known: ", out);
	print_held(answer, out);
	fputs(", but as much that is older was freed: new blocks replace older ones. A leak beside "
	      "such frees looks the same until these end. ",
	      out);
}

static void print_undecided(const struct answer *answer, FILE *out)
{
	const struct process_growth *process = &answer->process;
	char rate[HI_UNITS_TEXT_MAX];

	if (answer->row[0].is_holder) {
		fprintf(out,
			"The process grows by %s. Most of what it has allocated in this "
			"window is held by ",
			answer_words_rate(process->slope, rate));
		answer_words_place(answer, &answer->row[0], out);
		fputs(answer->row[0].trend.samples < ENOUGH_SAMPLES
			      ? ", in too few blocks to tell whether that grows. "
			      : ", of which it is not certain that it grows. ",
		      out);
	} else if (answer->row[0].trend.verdict == TREND_REPLACES) {
		print_perhaps_replaced(answer, out);
	} else if (answer->row[0].is_unshown) {
		print_unshown(answer, out);
	} else if (answer->use.is_known && answer->use.low > answer->detectable) {
		print_somewhere(answer, out);
	} else {
		fputs("Cannot tell yet whether it grows: ", out);
		answer_words_place(answer, &answer->row[0], out);
		fputs(" may. ", out);
	}
	if (answer->more_ns > 0) {
		fputs("It takes ", out);
		print_more(answer->more_ns, out);
		fputs(" (--duration)", out);
	} else {
		fputs("It takes a longer session (--duration)", out);
	}
	fputs(answer->row[0].is_unshown || answer->row[0].trend.verdict == TREND_REPLACES
		      ? ".\n"
		      : " or finer samples (--sample).\n",
	      out);
}

static bool grows_unseen(const struct answer *answer)
{
	return answer->process.is_known && answer->process.low > answer->detectable &&
	       answer->slope_high < NONE_SHARE * answer->process.low &&
	       answer->held < ANSWER_HELD_SHARE * answer->process.bytes;
}

static void print_unseen(const struct answer *answer, FILE *out)
{
	const struct profile_meta *meta = &answer->profile->meta;
	const enum mapped_kind kind = mapped_grown(&meta->mapped_begin, &meta->mapped_end,
						   answer->process.bytes, MAPPED_EXPLAINS);
	char rate[HI_UNITS_TEXT_MAX], bytes[HI_UNITS_TEXT_MAX];

	fprintf(out,
		"The process grows by %s, and nothing that was allocated through the hooked "
		"functions does: ",
		answer_words_rate(answer->process.slope, rate));
	if (answer_mappings_explain(answer))
		answer_mappings_print_cause(answer, out);
	else if (answer->heap.is_retained)
		fputs("most of that is memory that was freed and the allocator retains", out);
	else if (kind == MAPPED_KINDS)
		fputs("it maps memory by other means, or fills memory that it has allocated "
		      "before",
		      out);
	else
		fprintf(out, "it has %s more of %s",
			hi_format_bytes(mapped_more(&meta->mapped_begin, &meta->mapped_end, kind),
					bytes, sizeof(bytes)),
			mapped_name(kind));
	if (!answer->heap.is_retained && !answer_mappings_explain(answer))
		answer_words_heaps(answer, kind, "; that may be ", out);
	fputs(".\n", out);
}

static void print_steady(const struct answer *answer, FILE *out)
{
	const bool is_thinned = answer->detectable_anywhere > 2 * answer->claimed;
	/* two rates in one sentence are both per second or both per hour */
	const bool is_hourly =
		answer_words_is_slow(is_thinned ? answer->detectable_anywhere : answer->claimed);
	char rate[HI_UNITS_TEXT_MAX], anywhere[HI_UNITS_TEXT_MAX], window[HI_UNITS_TEXT_MAX];

	fprintf(out, "Nothing %sgrows in these %s; a leak of more than %s would have been found",
		answer_mappings_are_hidden(answer)                ? "whose stack is known "
		: answer->process.other_bytes >= ANSWER_OTHER_MIN ? "that was allocated "
								  : "",
		hi_format_ns(answer->window_ns, window, sizeof(window)),
		answer_words_rate_like(answer->claimed, answer->claimed, is_hourly, rate));
	if (is_thinned)
		fprintf(out, ", or of %s where most is allocated",
			answer_words_rate(answer->detectable_anywhere, anywhere));
	fputs(".\n", out);
}

static void print_unsure(const struct answer *answer, FILE *out)
{
	const char *dropped = answer->profile->meta.caveat[HI_CAVEAT_DROPPED];

	if (dropped)
		fprintf(out, "Cannot tell what grows: %s.\n", dropped);
	else
		fputs("Cannot tell what grows; the notes say why.\n", out);
}

void answer_sentence_print(const struct answer *answer, FILE *out)
{
	switch (answer->verdict) {
	case TREND_GROWS:
	case TREND_PROBABLY:
		print_growth(answer, out);
		break;
	case TREND_UNSURE:
		print_unsure(answer, out);
		break;
	default:
		if (grows_unseen(answer))
			print_unseen(answer, out);
		else if (answer->verdict == TREND_REPLACES)
			print_replaced(answer, out);
		else if (answer->risen > 0)
			print_stopped(answer, out);
		else if (answer->verdict == TREND_TOO_FEW)
			print_undecided(answer, out);
		else
			print_steady(answer, out);
	}
}
