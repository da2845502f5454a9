/* SPDX-License-Identifier: MIT */
/*
 * perfmap.h - names of code that a JIT compiler generated, from the file it writes for perf:
 * /tmp/perf-PID.map.
 */
#ifndef HI_PERFMAP_H
#define HI_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#include "file_source.h"

struct perfmap {
	struct perfmap_entry *entry; /* sorted by address */
	size_t count;
	char *text; /* the file; names point into it */
};

/*
 * Opens the map of the process: in the process's own root by its own pid, or here. 0; -ENOENT:
 * there is none that can be trusted; -ENOMEM.
 */
int perfmap_open(const struct file_source *source, struct perfmap *out_map);
/*
 * Takes ownership of text (allocated), also on failure. Skips lines that are not "START SIZE name".
 * 0 or -ENOMEM.
 */
int perfmap_parse(char *text, struct perfmap *out_map);
void perfmap_close(struct perfmap *map);
const char *perfmap_find(const struct perfmap *map, uint64_t address);

#endif
