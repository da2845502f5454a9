/* SPDX-License-Identifier: MIT */
/*
 * mapped.h - how much address space a process has of each kind, from the text of /proc/PID/maps.
 *
 * Address space, not resident memory: smaps would tell the latter, but the kernel walks the page
 * tables for it with the lock held that every mmap, munmap and brk of the process waits for.
 */
#ifndef HI_MAPPED_H
#define HI_MAPPED_H

#include <stddef.h>
#include <stdint.h>

enum mapped_kind {
	MAPPED_BRK,       /* the heap that brk moves */
	MAPPED_ANONYMOUS, /* private, writable, of no file: by mmap */
	MAPPED_STACK,     /* of the main thread, and what has a guard below it */
	MAPPED_SHARED,    /* of several processes, or to be passed on: shared, memfd, System V */
	MAPPED_FILE,
	MAPPED_KINDS,
};

/* of growth: a kind of mapping that grew by this much explains it */
#define MAPPED_EXPLAINS 0.5

struct mapped {
	uint64_t bytes[MAPPED_KINDS]; /* all 0 = unknown */
	uint64_t stacks;              /* mappings of MAPPED_STACK */
	uint64_t threads;             /* of the process; 0 = unknown */
};

/* text: terminated. Lines that are none are skipped. What heapinject has mapped does not count. */
struct mapped mapped_of(const char *text);
/* Sets all but the threads. */
void mapped_look(struct mapped *mapped, const char *text);
/*
 * Bytes of the kind that have come. Mappings above guard pages are stacks only if about as many
 * threads have come as there are more of them; else they are memory that it maps.
 */
double mapped_more(const struct mapped *begin, const struct mapped *end, enum mapped_kind kind);
/*
 * The kind that grew by at least a part (0 .. 1) of `growth` bytes, the most if several did.
 * MAPPED_KINDS: none, or it is not known.
 */
enum mapped_kind mapped_grown(const struct mapped *begin, const struct mapped *end, double growth,
			      double part);
/* Of one kind: "shared memory". Empty for MAPPED_KINDS. */
const char *mapped_name(enum mapped_kind kind);

#endif
