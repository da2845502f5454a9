/* SPDX-License-Identifier: MIT */
/*
 * smaps.h - what of each mapping is in memory, as the kernel counts it: /proc/PID/smaps.
 *
 * The kernel walks the page tables of one mapping after the other. A thread that maps or unmaps
 * memory meanwhile waits until the mapping at hand is done; page faults do not wait.
 */
#ifndef HI_SMAPS_H
#define HI_SMAPS_H

#include "procfs.h"

struct smap {
	uint64_t resident;
	uint64_t anonymous; /* of resident: not of a file, not shared memory */
	uint64_t swapped;   /* of private pages, and of shared memory that only it has */
	uint64_t huge;      /* of resident: in transparent huge pages */
};

struct smaps {
	struct maps maps;
	struct smap *of; /* by mapping */
};

/* 0 or a negative errno. smaps_close may be called on a zeroed struct. */
must_check int smaps_read(pid_t pid, pid_t tid, struct smaps *out_smaps);
/* Those of this memory: as its copy has them, if it has one. */
must_check int smaps_of(const struct memory *memory, struct smaps *out_smaps);
/* The parser of smaps_read; text is terminated. */
must_check int smaps_parse(const char *text, size_t size, struct smaps *out_smaps);
void smaps_close(struct smaps *smaps);

#endif
