/* SPDX-License-Identifier: MIT */
/*
 * heap_looks.h - looks at what the allocators of the process have (heap_figures.h), one every few
 * seconds, while a session goes on.
 *
 * A look at a large heap takes long, and records must not wait for it: it is taken by a process
 * that is forked for it, has the process's memory open for reading alone, traces nothing, and ends
 * with its look, or with the session. How often depends on what looks cost: at most `share` of a
 * CPU on average, and one every HEAP_LOOKS_EVERY_NS at most. The first one is taken at once.
 */
#ifndef HI_HEAP_LOOKS_H
#define HI_HEAP_LOOKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "heap_figures.h"

#define HEAP_LOOKS_EVERY_NS 2000000000ull
#define HEAP_LOOKS_SHARE 0.01 /* of a CPU, or what --max-overhead names if that is less */

struct heap_looks {
	pid_t pid; /* 0: no looks are taken */
	uint64_t start_ticks;
	pid_t child; /* 0: no look is being taken */
	int fd;      /* its figures come through; -1: they have come, and it ends */
	uint64_t begun_ns, due_ns;
	uint64_t every_ns; /* from the last look to the next */
	uint64_t total_ns; /* CPU time of all */
	unsigned count;
	struct heap_figures last; /* as of last_ns */
	uint64_t last_ns;
};

/* start_ticks: when the process started (proc_start_time), as its number is given out again. */
void heap_looks_open(struct heap_looks *looks, pid_t pid, uint64_t start_ticks);
/*
 * To be called every round. True: a look has ended, and `last` is new. Times are those of the
 * session.
 */
bool heap_looks_step(struct heap_looks *looks, uint64_t now_ns, double share);
/* The next look is due now; what one that is being taken sees does not count. */
void heap_looks_begin_anew(struct heap_looks *looks);
/*
 * At the end: begins another look if the last one is old, and one is cheap or the session was long
 * enough for what it costs.
 */
void heap_looks_begin_last(struct heap_looks *looks, uint64_t now_ns);
/* Waits for the look that is being taken, but not for long. True: `last` is new. */
bool heap_looks_wait(struct heap_looks *looks);
/* Ends the look that is being taken. */
void heap_looks_close(struct heap_looks *looks);

#endif
