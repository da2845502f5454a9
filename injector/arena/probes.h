/* SPDX-License-Identifier: MIT */
/*
 * probes.h - the probes of attach --otel: the first page of a small ELF object, mapped from a file
 * into the part of the arena that is kept for it.
 *
 * Profilers that look for probes read the file behind each mapping, and take memory files for code
 * that was compiled at run time (the OpenTelemetry profiler, process/types.go). So there has to be
 * a file with a name. The injector creates it in a directory of the target, has the target open and
 * map it, and removes it: the mapping keeps the file.
 */
#ifndef HI_ARENA_PROBES_H
#define HI_ARENA_PROBES_H

#include "arena.h"

#define PROBES_BYTES HI_PAGE_BYTES /* of the part in the arena */

/*
 * Maps the probes and sets the control block's addresses of them. The arena has been mapped with
 * room for them. -EROFS: the target sees no directory that takes files and from which code may be
 * mapped.
 */
must_check int probes_map(struct arena *arena, struct remote *remote);
/* Removes the file that an injector has left that died while it mapped the probes. */
void probes_remove_files(pid_t pid, pid_t tid);

#endif
