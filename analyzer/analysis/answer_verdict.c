/* SPDX-License-Identifier: MIT */
/*
 * answer_verdict.c - what the rows come to: the verdict of the answer, and how much of the growth
 * of the process they are. See answer.h. Start at answer_set_verdict().
 */
#include <math.h>

#include "answer_groups.h"

#define NS_PER_S 1e9
/* growth of a process in which blocks replace others, as heaps become fragmented */
#define REPLACES_MAX (1024.0 * 1024)

/* Whether the process, or what is in use, grows although blocks only replace others. */
static bool grows_otherwise(const struct answer *answer)
{
	const struct process_growth *process = &answer->process;
	const struct heap_use *use = &answer->use;

	return (process->is_known && process->low > answer->detectable &&
		process->bytes > REPLACES_MAX) ||
	       (use->is_known && use->low > answer->detectable && use->bytes > REPLACES_MAX);
}

/* Whether what is in use does not grow, or by as little as matters to nobody. */
static bool is_flat(const struct answer *answer)
{
	return answer->use.is_known &&
	       answer->use.high * answer->window_ns / NS_PER_S <= REPLACES_MAX;
}

/* Bytes that are usable to each byte that was requested, of all that grows. */
static double usable_times(const struct answer *answer)
{
	return 1 + answer->rounding / answer->slope;
}

static void explain(struct answer *answer)
{
	const struct process_growth *process = &answer->process;
	const struct heap_use *use = &answer->use;
	const double usable = usable_times(answer);

	answer->is_partly = answer_exceeds_use(answer, usable * answer->slope_low,
					       usable * answer->growing_live);
	if (!process->is_known || process->slope <= 0 || process->low <= 0)
		return;
	answer->explained =
		(answer->is_partly ? fmax(use->slope, 0) : usable * answer->slope) / process->slope;
	answer->explained_high =
		(answer->is_partly ? fmax(use->high, 0) : usable * answer->slope_high) /
		process->slope;
}

void answer_set_verdict(struct answer *answer)
{
	answer->verdict = answer->row_count ? answer->row[0].trend.verdict : TREND_STEADY;
	if (answer->verdict == TREND_TOO_FEW)
		answer->more_ns = answer->row[0].trend.more_ns;
	/*
	 * A leak among those of the same sizes, or of the same function, may be why it grows; and
	 * what does not show in what is in use may be hidden by frees that end.
	 */
	if (answer->verdict == TREND_REPLACES && (grows_otherwise(answer) || !is_flat(answer))) {
		answer->verdict = TREND_TOO_FEW;
		answer->more_ns = answer->window_ns;
	}
	if (answer->growing)
		explain(answer);
}
