/* SPDX-License-Identifier: MIT */
/* history.c - see history.h. */
#include "history.h"

#include <stdbool.h>
#include <stdlib.h>

#include "table.h"

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void fold(uint32_t *slices)
{
	for (size_t i = 0; i < HISTORY_SLICES / 2; i++)
		slices[i] = sum(slices[2 * i], slices[2 * i + 1]);
	for (size_t i = HISTORY_SLICES / 2; i < HISTORY_SLICES; i++)
		slices[i] = 0;
}

void history_open(struct history *history)
{
	*history = (struct history){.shift = HISTORY_SHIFT_FIRST};
}

/* Most slices have no live sample: then the cache line of that count is not touched. */
static void settle(uint32_t *count, uint32_t *at_hand)
{
	if (*at_hand)
		*count = sum(*count, *at_hand);
	*at_hand = 0;
}

void history_settle(struct history *history)
{
	settle(&history->alloc[history->at_hand], &history->at_hand_alloc);
	settle(&history->live[history->at_hand], &history->at_hand_live);
	settle(&history->gone[history->at_hand], &history->at_hand_gone);
	history->at_hand = 0;
}

void history_widen(struct history *history, uint32_t shift)
{
	history_settle(history);
	while (history->shift < shift && history->shift < HISTORY_SHIFT_MAX) {
		fold(history->alloc);
		fold(history->live);
		fold(history->gone);
		history->shift++;
	}
}

uint32_t history_slice(struct history *history, uint64_t time_ns)
{
	while (time_ns >> history->shift >= HISTORY_SLICES)
		history_widen(history, history->shift + 1);
	return (uint32_t)(time_ns >> history->shift);
}

static bool is_at_hand(const struct history *history, uint64_t time_ns)
{
	return time_ns >> history->shift == history->at_hand;
}

static void raise(uint32_t *count)
{
	*count += *count < UINT32_MAX;
}

static void lower(uint32_t *count)
{
	*count -= *count > 0;
}

void history_add_alloc(struct history *history, uint64_t time_ns)
{
	if (!is_at_hand(history, time_ns)) {
		history_settle(history);
		history->at_hand = history_slice(history, time_ns);
	}
	raise(&history->at_hand_alloc);
}

void history_add_live(struct history *history, uint64_t born_ns)
{
	if (is_at_hand(history, born_ns))
		raise(&history->at_hand_live);
	else
		raise(&history->live[history_slice(history, born_ns)]);
}

void history_take_live(struct history *history, uint64_t born_ns)
{
	if (is_at_hand(history, born_ns) && history->at_hand_live)
		history->at_hand_live--;
	else
		lower(&history->live[history_slice(history, born_ns)]);
}

void history_add_gone(struct history *history, uint64_t time_ns)
{
	if (is_at_hand(history, time_ns))
		raise(&history->at_hand_gone);
	else
		raise(&history->gone[history_slice(history, time_ns)]);
}

void history_take_gone(struct history *history, uint64_t time_ns)
{
	if (is_at_hand(history, time_ns) && history->at_hand_gone)
		history->at_hand_gone--;
	else
		lower(&history->gone[history_slice(history, time_ns)]);
}

void history_add(struct history *to, const struct history *from)
{
	struct history same = *from;

	history_widen(to, from->shift);
	history_widen(&same, to->shift);
	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		to->alloc[i] = sum(to->alloc[i], same.alloc[i]);
		to->live[i] = sum(to->live[i], same.live[i]);
		to->gone[i] = sum(to->gone[i], same.gone[i]);
	}
}

uint32_t histories_new(struct histories *histories)
{
	if (histories->count >= HISTORIES_MAX ||
	    array_reserve(&histories->history, &histories->capacity, histories->count,
			  sizeof(*histories->history)))
		return 0;
	history_open(&histories->history[histories->count++]);
	return (uint32_t)histories->count;
}

struct history *histories_get(const struct histories *histories, uint32_t number)
{
	return number && number <= histories->count ? &histories->history[number - 1] : NULL;
}

void histories_prefetch(const struct histories *histories, uint32_t number)
{
	const struct history *history = histories_get(histories, number);

	if (!history)
		return;
	__builtin_prefetch(&history->shift, 1);
	__builtin_prefetch(&history->at_hand_gone, 1);
}

void histories_close(struct histories *histories)
{
	free(histories->history);
	*histories = (struct histories){0};
}
