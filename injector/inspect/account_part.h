/* SPDX-License-Identifier: MIT */
/*
 * account_part.h - the parts of a process's resident memory. Each resident byte is in one.
 */
#ifndef HI_ACCOUNT_PART_H
#define HI_ACCOUNT_PART_H

enum account_part {
	ACCOUNT_USED,      /* blocks that the program has, without heads and rounding */
	ACCOUNT_HEADS,     /* of all blocks, and what was rounded up */
	ACCOUNT_CACHED,    /* freed blocks in caches of threads and of sizes */
	ACCOUNT_FREE,      /* what the allocator has free */
	ACCOUNT_METADATA,  /* what the allocator needs for itself */
	ACCOUNT_UNSURE,    /* of an allocator, not understood */
	ACCOUNT_STACKS,    /* of threads */
	ACCOUNT_ANONYMOUS, /* other anonymous mappings */
	ACCOUNT_DATA,      /* written data of the program and its libraries */
	ACCOUNT_FILES,     /* files, unchanged */
	ACCOUNT_SHARED,    /* shared memory: tmpfs, memfd, System V */
	ACCOUNT_SESSION,   /* what a session of heapinject has in it */
	ACCOUNT_PARTS
};

#endif
