/* SPDX-License-Identifier: MIT */
/* history.c - see history.h. */
#include "history.h"

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

void history_widen(struct history *history, uint32_t shift)
{
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
	if (histories->count >= HISTORIES_MAX || array_reserve(&histories->history, &histories->capacity, histories->count, sizeof(*histories->history)))
		return 0;
	history_open(&histories->history[histories->count++]);
	return (uint32_t)histories->count;
}

struct history *histories_get(const struct histories *histories, uint32_t number)
{
	return number && number <= histories->count ? &histories->history[number - 1] : NULL;
}

void histories_close(struct histories *histories)
{
	free(histories->history);
	*histories = (struct histories){0};
}
