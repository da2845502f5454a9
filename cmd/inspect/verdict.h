/* SPDX-License-Identifier: MIT */
/*
 * Room inspect/ of cmd: what the user is told of a process's memory.
 *
 *   verdict.h          why it is as large as it is: start here
 *   explain_print.h    the parts as a table, and as JSON; census_print.h: a census;
 *                      leaks_print.h: leaks; group_name.h: what both have in common
 *   stopped_print.h    how long it was stopped
 *   owners_print.h     what keeps the blocks: owner_rows.h: by class; owner_paths.h: by which
 *                      pointers; owner_name.h: how owners are called
 *   heap_snapshot.h    the same as a file for DevTools of Chrome
 *   known_stacks.h     blocks that a session has sampled, and their stacks; stack_rows.h: those of
 * a row type_names.h       rights given up, before names of the process are made readable refused.h
 * why a process cannot be looked at
 *
 * Uses the injector's inspect/. Touches no process.
 */

/*
 * verdict.h - why the memory of a process is as large as it is, from what it consists of.
 *
 * A part that grows while it is watched comes first, then the largest that need not be there. What
 * cannot be told from outside (whether what the program holds is a leak) is not told, but how to
 * find out.
 */
#ifndef HI_VERDICT_H
#define HI_VERDICT_H

#include "account.h"

enum verdict_kind {
	VERDICT_GROWS,         /* blocks in use become more */
	VERDICT_HELD,          /* blocks in use, which do not become more */
	VERDICT_RETENTION,     /* the allocator keeps what it could give back */
	VERDICT_ARENAS,        /* it keeps it in many arenas */
	VERDICT_FRAGMENTATION, /* it keeps it, as blocks in use lie in between */
	VERDICT_CACHES,        /* caches of threads */
	VERDICT_HUGE_PAGES,
	VERDICT_STACKS,
	VERDICT_MAPPINGS,
	VERDICT_SHARED,
	VERDICT_FILES,
	VERDICT_LIMIT,   /* nothing is wrong with it but the limit */
	VERDICT_UNKNOWN, /* no part stands out, or what does is not understood */
	VERDICT_KINDS
};

struct verdict {
	enum verdict_kind kind;
	char why[512];     /* a sentence with the figures */
	char remedy[1024]; /* what to do, or how to find out more */
};

/* What was seen. */
struct verdict_facts {
	const struct account *before; /* taken some seconds earlier, or NULL */
	const struct account *now;
	/* Between the two there were further looks: how often blocks in use were more than at the
	 * one before, and how often less. */
	unsigned steps, rising, falling;
	uint64_t limit; /* bytes that it may have resident; 0 = none is known */
};

void verdict_find(const struct verdict_facts *facts, struct verdict *out_verdict);
/* As in JSON, documented in heapinject(1): "retention". */
const char *verdict_name(enum verdict_kind kind);

#endif
