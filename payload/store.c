/* SPDX-License-Identifier: MIT */
/*
 * store.c - stores words that other threads read while they change (struct hi_store), each in one
 * piece. No hook calls this; the injector makes a borrowed thread call it.
 */
#include <stdbool.h>

#include "hi_wire.h"

void hi_store_words(struct hi_store *store, uint64_t count);

__attribute__((visibility("default"))) void hi_store_words(struct hi_store *store, uint64_t count)
{
	for (uint64_t i = 0; i < count && i < HI_STORES; i++) {
		uint64_t found = store[i].expected;

		(void)!__atomic_compare_exchange_n((uint64_t *)(uintptr_t)store[i].at, &found,
						   store[i].value, false, __ATOMIC_SEQ_CST,
						   __ATOMIC_SEQ_CST);
		store[i].expected = found;
	}
}
