/* SPDX-License-Identifier: MIT */
/* unsampled_frees.c - see unsampled_frees.h. */
#include "unsampled_frees.h"

#include "live_set.h"

/*
 * Whether the home of the address is a sentinel. If it is not to be one any more, takes its count
 * away. NULL is freed often, and no block: its home does not remain one.
 */
static bool is_sentinel(struct hook_scope *scope, uint64_t address, uint32_t home,
			uint32_t sentinels)
{
	const struct hi_state *state = scope->event.state;
	uint64_t *word = (uint64_t *)state->no_sentinel + home / 64, bit = 1ull << home % 64;

	if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
		return false;
	if (address && home < sentinels)
		return scope->call->words->freed_size != 0;
	if (!(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit))
		live_set_take_sentinel(state, address);
	return false;
}

/* Halves the sentinels where frees are frequent. */
static void brake(struct hi_unsampled_frees *frees)
{
	const uint32_t recent = __atomic_fetch_add(&frees->recent, 1, __ATOMIC_RELAXED) + 1;
	uint32_t sentinels = __atomic_load_n(&frees->sentinels, __ATOMIC_RELAXED);

	if (!(recent % HI_SENTINEL_BRAKE) && sentinels > HI_SENTINELS_MIN)
		__atomic_compare_exchange_n(&frees->sentinels, &sentinels, sentinels / 2, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void unsampled_frees_count(struct hook_scope *scope, uint64_t address)
{
	const struct hi_state *state = scope->event.state;
	struct hi_unsampled_frees *frees = &hook_scope_control(scope)->unsampled_frees;
	const uint32_t home = hi_gate_hash(address) & ((1u << state->occupancy_bits) - 1);
	const uint32_t sentinels = __atomic_load_n(&frees->sentinels, __ATOMIC_RELAXED);
	uint64_t usable;
	uint32_t size_class, homes_log;

	/* the outer call has counted the block */
	if (!scope->has_place || hook_scope_is_inner(scope) ||
	    !__atomic_load_n(&scope->event.state->armed, __ATOMIC_ACQUIRE) ||
	    !is_sentinel(scope, address, home, sentinels))
		return;
	usable = ((uint64_t(*)(uint64_t))scope->call->words->freed_size)(address);
	size_class = hi_size_class(usable);
	/* log2 of the homes for each sentinel; sentinels is above home, so not 0 */
	homes_log = (state->occupancy_bits - (31u - (uint32_t)__builtin_clz(sentinels))) & 31;
	record_add(state, &frees->seen[size_class], 1);
	record_add(state, &frees->count[size_class], 1ull << homes_log);
	record_add(state, &frees->bytes[size_class], usable << homes_log);
	brake(frees);
}
