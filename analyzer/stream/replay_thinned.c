/* SPDX-License-Identifier: MIT */
/* replay_thinned.c - see replay_thinned.h. */
#include "replay_thinned.h"

#include <errno.h>
#include <stdlib.h>

/* A place of the record, by the profile's number of its stack. */
struct place {
	uint32_t stack;
	uint32_t size_bits;
	uint64_t grain;
};

static int compare(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->stack != right->stack)
		return left->stack < right->stack ? -1 : 1;
	return (left->size_bits > right->size_bits) - (left->size_bits < right->size_bits);
}

/* Makes the sorted places different ones: of equal ones the largest grain stays. Returns how many.
 */
static size_t unite(struct place *place, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!kept || compare(&place[kept - 1], &place[i]))
			place[kept++] = place[i];
		else if (place[i].grain > place[kept - 1].grain)
			place[kept - 1].grain = place[i].grain;
	}
	return kept;
}

static uint32_t bit_width(uint64_t value)
{
	return value ? 64u - (uint32_t)__builtin_clzll(value) : 0;
}

/* The coarsest interval for which every figure allows already (estimate.c). */
static uint64_t coarsest_change(const struct profile_meta *meta)
{
	uint64_t coarsest = 0;

	for (size_t i = 0; i < meta->change_count && i < PROFILE_CHANGES_MAX; i++)
		if (meta->change[i].interval > coarsest)
			coarsest = meta->change[i].interval;
	return coarsest;
}

/* Takes the places that make sense and say more. A stack without a sample so far has no row. */
static size_t take_places(struct replay *replay, const struct hi_stream_thinned *record,
			  struct place *out_place)
{
	const struct hi_stream_thinned_place *list = (const void *)(record + 1);
	const uint64_t allowed = coarsest_change(&replay->profile->meta);
	size_t count = 0;

	for (uint32_t i = 0; i < record->count; i++) {
		const struct interned_stack *stack =
			stack_ids_get(&replay->stack_ids, list[i].stack);

		if (!stack || list[i].grain > INTERVAL_MAX) {
			replay_bad(replay, "a thinned place that cannot be");
			return 0;
		}
		if (stack->moment && list[i].grain > allowed)
			out_place[count++] = (struct place){.stack = stack->profile_stack,
							    .size_bits = list[i].size_bits,
							    .grain = list[i].grain};
	}
	return count;
}

/* The place to which the samples of a row belong, or NULL. */
static const struct place *place_of(const struct profile_row *row, const struct place *place,
				    size_t count)
{
	const struct place wanted = {
		.stack = row->key.stack,
		.size_bits = row->alloc_count ? bit_width(row->alloc_bytes / row->alloc_count) : 0};

	return bsearch(&wanted, place, count, sizeof(*place), compare);
}

static void widen(struct profile_row *row, size_t rows, const struct place *place, size_t count)
{
	for (size_t i = 0; count && i < rows; i++) {
		const struct place *found = place_of(&row[i], place, count);

		if (found && found->grain > row[i].key.interval)
			row[i].grain = found->grain;
	}
}

int replay_on_thinned(struct replay *replay, const struct hi_stream_thinned *record)
{
	struct profile *profile = replay->profile;
	struct place *place = calloc(record->count + (size_t)1, sizeof(*place));
	size_t count;

	if (!place)
		return -ENOMEM;
	count = take_places(replay, record, place);
	qsort(place, count, sizeof(*place), compare);
	count = unite(place, count);
	widen(profile->row, profile->row_count, place, count);
	widen(profile->mapping, profile->mapping_count, place, count);
	widen(profile->pooled, profile->pooled_count, place, count);
	free(place);
	return 0;
}
