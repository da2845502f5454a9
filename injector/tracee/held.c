/* SPDX-License-Identifier: MIT */
/* held.c - see held.h. */
#include "held.h"

#include <stdatomic.h>

static _Atomic uint64_t count, longest_ns, sum_ns;

void held_add(uint64_t ns)
{
	uint64_t longest = atomic_load(&longest_ns);

	atomic_fetch_add(&count, 1);
	atomic_fetch_add(&sum_ns, ns);
	while (ns > longest && !atomic_compare_exchange_weak(&longest_ns, &longest, ns))
		;
}

struct held held_so_far(void)
{
	return (struct held){.count = atomic_load(&count),
			     .longest_ns = atomic_load(&longest_ns),
			     .sum_ns = atomic_load(&sum_ns)};
}

void held_reset(void)
{
	atomic_store(&count, 0);
	atomic_store(&longest_ns, 0);
	atomic_store(&sum_ns, 0);
}
