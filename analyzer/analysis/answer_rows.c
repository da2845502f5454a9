/* SPDX-License-Identifier: MIT */
/* answer_rows.c - groups as rows, in the order of what matters. See answer.h. */
#include "answer_groups.h"

/* of the slope of what grows fastest */
#define SMALL_SHARE 0.01

/* The order of rows: what grows, then what replaces older blocks, then what is not decided. */
static int rank(enum trend_verdict verdict)
{
	switch (verdict) {
	case TREND_GROWS:
		return 4;
	case TREND_PROBABLY:
		return 3;
	case TREND_REPLACES:
		return 2;
	case TREND_TOO_FEW:
		return 1;
	default:
		return 0;
	}
}

static bool comes_before(const struct answer_row *a, const struct answer_row *b)
{
	const int left = rank(a->trend.verdict), right = rank(b->trend.verdict);

	return left != right ? left > right : a->trend.slope > b->trend.slope;
}

/* Keeps the ANSWER_ROWS that come first. */
static void add_row(struct answer *answer, const struct answer_row *row)
{
	size_t at = answer->row_count;

	while (at > 0 && comes_before(row, &answer->row[at - 1]))
		at--;
	if (at == ANSWER_ROWS)
		return;
	if (answer->row_count < ANSWER_ROWS)
		answer->row_count++;
	for (size_t i = answer->row_count - 1; i > at; i--)
		answer->row[i] = answer->row[i - 1];
	answer->row[at] = *row;
}

void answer_add_group(struct finder *finder, const struct group *group, uint32_t call)
{
	struct answer *answer = finder->answer;
	const uint32_t own = finder->call_of[group->stack];
	struct answer_row row = {
		.trend = group->trend,
		.live = group->live,
		.stack = group->stack,
		.call = call == NO_GROUP ? own : call,
		.through = call == NO_GROUP || group->is_caller ? NO_CALL : own,
		.stacks = group->stacks,
		.is_caller = group->is_caller,
		.is_enlarged = group->is_enlarged,
		.is_holder = group->is_holder,
		.is_scattered = group->is_scattered,
		.is_unshown = group->is_unshown,
		.came_ns = group->came_ns,
	};

	/* of what is not decided, only what may grow is of interest */
	if (!rank(row.trend.verdict) || (row.trend.verdict == TREND_TOO_FEW && !row.came_ns &&
					 (row.trend.slope_low <= 0 || row.trend.samples < 1)))
		return;
	/* nor what is nothing beside what grows */
	if (row.trend.slope < SMALL_SHARE * finder->fastest)
		return;
	row_trend_bars(&group->sum.slices, ANSWER_BARS, row.bar);
	add_row(answer, &row);
	if (!trend_is_growth(row.trend.verdict))
		return;
	answer->growing++;
	answer->growing_live += group->live;
	answer->slope += row.trend.slope;
	answer->slope_low += row.trend.slope_low;
	answer->slope_high += row.trend.slope_high;
	if (group->sum.bytes.value > 0)
		answer->rounding +=
			row.trend.slope * group->sum.bytes.slack / group->sum.bytes.value;
}

const char *answer_row_name(const struct answer *answer, const struct answer_row *row)
{
	const struct functions *functions = &answer->frames.functions;

	return row->call == NO_CALL ? "(no stack)"
				    : functions->name[functions->call[row->call].function];
}
