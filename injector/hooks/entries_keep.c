/* SPDX-License-Identifier: MIT */
/* entries_keep.c - see entries_keep.h. Enter at entries_keep. */
#include "entries_keep.h"

#include "hi_page.h"

#define IN_PAGE (hi_page_bytes() - 1)

/*
 * Adds the pages that an entry changes to the range of the same mapping. False: too much code would
 * lie in the ranges. (Two ranges in one mapping would leave it in parts: the kernel joins what was
 * moved only with neighbours that have no pages of their own.)
 */
static bool widen(const struct maps *maps, const struct entry *entry, struct code_ranges *ranges)
{
	const struct mapping *mapping = maps_find(maps, entry->at);
	const remote_addr first = entry->by == ENTRY_IN_GAP ? entry->relay : entry->jump_at;
	struct code_range wider = {mapping, first & ~IN_PAGE,
				   (entry->jump_at + entry->size + IN_PAGE) & ~IN_PAGE};
	unsigned i = 0;
	while (i < HI_CODE_RANGES_MAX && ranges->range[i].mapping &&
	       ranges->range[i].mapping != mapping)
		i++;
	if (i == HI_CODE_RANGES_MAX || !mapping || wider.lo < mapping->lo || wider.hi > mapping->hi)
		return false;
	struct code_range *range = &ranges->range[i];
	if (range->mapping) {
		wider.lo = range->lo < wider.lo ? range->lo : wider.lo;
		wider.hi = range->hi > wider.hi ? range->hi : wider.hi;
	}
	const uint64_t bytes = ranges->bytes - (range->hi - range->lo) + (wider.hi - wider.lo);
	if (bytes > HI_CODE_BYTES_MAX)
		return false;
	ranges->bytes = bytes;
	*range = wider;
	return true;
}

bool entries_keep(const struct allocators *allocators, const struct maps *maps,
		  struct entries *entries, struct code_ranges *out_ranges)
{
	bool has_dropped = entries_keep_first(allocators, entries, ENTRIES_GATE_MAX);

	*out_ranges = (struct code_ranges){0};
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		if (!entries->entry[hook].at || widen(maps, &entries->entry[hook], out_ranges))
			continue;
		entries_drop(entries, hook);
		has_dropped = true;
	}
	return has_dropped;
}
