/* SPDX-License-Identifier: MIT */
/* resident.c - see resident.h. */
#include "resident.h"

#include <errno.h>
#include <stdlib.h>

#define STEPS_NEAR 4u /* so far a run is looked for by going from one to the next */

static bool is_of_a_kind(const struct page_run *run, const struct page_run *other)
{
	return run->is_swapped == other->is_swapped && run->is_huge == other->is_huge;
}

static int add(void *context, const struct page_run *run)
{
	struct resident *resident = context;
	struct page_run *last = resident->count ? &resident->run[resident->count - 1] : NULL;

	if (last && last->hi == run->lo && is_of_a_kind(last, run)) {
		last->hi = run->hi;
		return 0;
	}
	if (resident->count == resident->room) {
		const size_t room = resident->room ? 2 * resident->room : 256;
		struct page_run *grown = realloc(resident->run, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		resident->run = grown;
		resident->room = room;
	}
	resident->run[resident->count++] = *run;
	return 0;
}

int resident_read(const struct memory *memory, const struct maps *maps,
		  struct resident *out_resident)
{
	struct pages pages;
	int err = 0;

	*out_resident = (struct resident){0};
	pages_open_of(&pages, memory);
	for (size_t i = 0; i < maps->count && !err; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		if (!mapping->shared)
			err = pages_visit(&pages, mapping->lo, mapping->hi, false, add,
					  out_resident);
	}
	pages_close(&pages);
	return err;
}

void resident_close(struct resident *resident)
{
	free(resident->run);
	*resident = (struct resident){0};
}

/* The index of the first run that ends after `at`; count: there is none. */
static size_t find(const struct resident *resident, remote_addr at)
{
	size_t low = 0, high = resident->count;

	if (resident->near < high && resident->run[resident->near].lo <= at) {
		low = resident->near;
		for (unsigned i = 0; i < STEPS_NEAR && low < high; i++, low++)
			if (resident->run[low].hi > at)
				return low;
	}
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (resident->run[middle].hi <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct resident_bytes resident_bytes(struct resident *resident, remote_addr lo, remote_addr hi)
{
	struct resident_bytes bytes = {0};
	size_t at = resident->near = find(resident, lo);

	for (; at < resident->count && resident->run[at].lo < hi; at++) {
		const struct page_run *run = &resident->run[at];
		const uint64_t size = (run->hi < hi ? run->hi : hi) - (run->lo > lo ? run->lo : lo);

		if (run->is_swapped)
			bytes.swapped += size;
		else
			bytes.resident += size;
		if (!run->is_swapped && run->is_huge)
			bytes.huge += size;
		if (run->hi < hi)
			resident->near = at;
	}
	return bytes;
}
