/* SPDX-License-Identifier: MIT */
/* unsampled_frees.c - see unsampled_frees.h. */
#include "unsampled_frees.h"

#include "live_set.h"

/* False: the home of the address is no sentinel any more. */
static bool is_sentinel(struct hook_scope *scope, uint64_t address, uint32_t home)
{
	const struct hi_state *state = scope->event.state;
	uint64_t *word = (uint64_t *)state->no_sentinel + home / 64, bit = 1ull << home % 64;

	if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
		return false;
	if (home < __atomic_load_n(&hook_scope_control(scope)->unsampled_frees.sentinels,
				   __ATOMIC_RELAXED) &&
	    scope->call->words->freed_size)
		return true;
	if (!(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit))
		live_set_take_sentinel(state, address);
	return false;
}

/* Halves the sentinels where frees are frequent. */
static void brake(struct hi_unsampled_frees *frees)
{
	const uint32_t recent = __atomic_load_n(&frees->recent, __ATOMIC_RELAXED) + 1;
	uint32_t sentinels = __atomic_load_n(&frees->sentinels, __ATOMIC_RELAXED);

	__atomic_store_n(&frees->recent, recent % HI_SENTINEL_BRAKE, __ATOMIC_RELAXED);
	if (recent >= HI_SENTINEL_BRAKE && sentinels > HI_SENTINELS_MIN)
		__atomic_compare_exchange_n(&frees->sentinels, &sentinels, sentinels / 2, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void unsampled_frees_count(struct hook_scope *scope, uint64_t address)
{
	const struct hi_state *state = scope->event.state;
	struct hi_unsampled_frees *frees = &hook_scope_control(scope)->unsampled_frees;
	const uint32_t home = hi_gate_hash(address) & ((1u << state->occupancy_bits) - 1);
	uint64_t usable;
	uint32_t size_class;

	/* the outer call has counted the block */
	if (!scope->has_place || hook_scope_is_inner(scope) || !is_sentinel(scope, address, home))
		return;
	usable = ((uint64_t(*)(uint64_t))scope->call->words->freed_size)(address);
	size_class = hi_size_class(usable);
	record_add(state, &frees->count[size_class], 1);
	record_add(state, &frees->bytes[size_class], usable);
	brake(frees);
}
