/* SPDX-License-Identifier: MIT */
/*
 * probes.h - the probes of attach --otel: the first page of a small ELF object, mapped from a file
 * into the part of the arena that is kept for it.
 *
 * Profilers that look for probes read the file behind each mapping, and take memory files for code
 * that was compiled at run time (the OpenTelemetry profiler, process/types.go). So there has to be
 * a file with a name (probes_file.h). The injector creates it in a directory of the target, has the
 * target open and map it, and removes it: the mapping keeps the file.
 */
#ifndef HI_ARENA_PROBES_H
#define HI_ARENA_PROBES_H

#include "arena.h"
#include "probes_file.h"

#define PROBES_BYTES HI_PAGE_BYTES /* of the part in the arena */

struct probes {
	struct probes_file file;
	uint64_t alloc, free; /* offsets of the functions */
	bool is_mapped;
	bool is_swapped; /* the target found another file under the name */
};
#define PROBES_NONE ((struct probes){.file = PROBES_FILE_NONE})

/*
 * Creates the file, in the next directory that takes it. Not to be called while a thread of the
 * target is held. -EROFS: there is no further directory.
 */
must_check int probes_create(struct probes *probes, pid_t pid, pid_t tid);
/*
 * Has a held thread open, compare, map and close the file, and sets the control block's addresses
 * of the probes. The arena has been mapped with room for them. If the target cannot map this file,
 * which may be otherwise in another directory, is_mapped stays false, and this is no error.
 * -ESTALE: it found another file.
 */
must_check int probes_map(struct probes *probes, struct arena *arena, struct remote *remote);
/* Removes the file. Idempotent. Not to be called while a thread of the target is held. */
void probes_remove(struct probes *probes);

/* probes_remove_files() in the root of this process. */
bool probes_remove_left(pid_t pid, pid_t tid);

#endif
