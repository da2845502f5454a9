/* SPDX-License-Identifier: MIT */
/* heap_history.c - see heap_history.h. */
#include "heap_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

#define STEP_NS 500000000u
#define UNSURE_SHARE 0.05 /* of what the allocators have */
#define UNSURE_LITTLE (256u << 10)

void heap_history_close(struct heap_history *history)
{
	free(history->name);
	free(history->refusal);
	*history = (struct heap_history){0};
}

static int set(char **text, const char *new)
{
	char *copy = *new ? strdup(new) : NULL;

	if (*new && !copy)
		return -ENOMEM;
	if (copy)
		printable(copy);
	free(*text);
	*text = copy;
	return 0;
}

int heap_history_name(struct heap_history *history, const char *name, const char *refusal)
{
	const int err = *name ? set(&history->name, name) : 0;

	return err ? err : set(&history->refusal, refusal);
}

static void halve(struct heap_history *history)
{
	for (uint32_t i = 0; i < HEAP_MOMENTS_MAX / 2; i++)
		history->moment[i] = history->moment[2 * i];
	history->count = HEAP_MOMENTS_MAX / 2;
	history->step_ns *= 2;
}

void heap_history_add(struct heap_history *history, const struct heap_moment *moment)
{
	const uint32_t count = history->count;

	if (!history->step_ns)
		history->step_ns = STEP_NS;
	if (count && moment->time_ns <= history->moment[count - 1].time_ns)
		return;
	/* one stays until the next stretch begins, so that the last one is the latest of all */
	if (count > 1 && moment->time_ns - history->moment[count - 2].time_ns < history->step_ns)
		history->count--;
	if (history->count == HEAP_MOMENTS_MAX)
		halve(history);
	history->moment[history->count++] = *moment;
}

bool heap_history_is_refused(const struct heap_history *history)
{
	return history->refusal && *history->refusal;
}

double heap_moment_sum(const struct heap_moment *moment)
{
	return (double)moment->used + (double)moment->free + (double)moment->cached +
	       (double)moment->own + (double)moment->unsure;
}

bool heap_moment_is_sure(const struct heap_moment *moment)
{
	return moment->unsure <= UNSURE_LITTLE ||
	       (double)moment->unsure <= UNSURE_SHARE * heap_moment_sum(moment);
}
