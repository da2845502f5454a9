/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_map.h - tcmalloc's map from pages to spans, as one of slabs.
 */
#ifndef HI_TCMALLOC_MAP_H
#define HI_TCMALLOC_MAP_H

#include "tcmalloc_layout.h"

struct tcmalloc_map {
	struct heap_map map; /* its slabs are spans, with their size class as tag */
	const struct tcmalloc_layout *layout;
};

/* map, layout and windows stay in use, where they are. */
void tcmalloc_map_open(struct tcmalloc_map *map, struct heap_windows *windows,
		       const struct tcmalloc_layout *layout);
/*
 * All spans, and tcmalloc's own memory. 0, -ENOMEM, -ETIMEDOUT, or an error of the memory. Close
 * slabs in any case.
 */
must_check int tcmalloc_map_spans(const struct tcmalloc_map *map, struct heap_slabs *slabs);

#endif
