/* SPDX-License-Identifier: MIT */
/*
 * programs.h - what the programs of the leak suite have in common.
 *
 * A program is a row of one of the tables below. Its work comes in ticks of 10 ms, at absolute
 * times, so that a slow machine changes no rate. Beside it runs a small service, which allocates
 * and frees as servers do. What is lost for good is counted in the ledger, which the runner reads:
 * the truth that a report is compared with.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TICKS_PER_SECOND 100
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A function that stays one, at each of its calls. */
#define SITE __attribute__((noinline, noclone))
/*
 * The block is used, and the function that says so has something left to do after it got the block
 * and is equal to no other: else compilers drop allocations, make jumps of calls, and merge
 * functions.
 */
#define USE(block) __asm__ volatile("" : : "r"(block), "i"(__LINE__) : "memory")

struct program {
	const char *name;
	const char *answers;   /* functions that may be named, by commas; "" of a healthy program */
	unsigned requests;     /* per second, of the service beside it */
	unsigned busy;         /* percent of a core that it computes beside all that */
	void (*prepare)(void); /* before `ready`; or NULL */
	void (*tick)(void);    /* in the main thread; or NULL */
	const char *about;
};

/* Each ends with a row without a name. */
extern const struct program leaky_calls[], leaky_shapes[], leaky_parts[], leaky_cplusplus[];
extern const struct program healthy_tables[], healthy_times[], healthy_cplusplus[];

/* How often something is to be done in this tick that is done so many times per second. */
unsigned due(double per_second);
/* True in one tick of each so many seconds, and not in the first one. */
bool is_time(double every_seconds);
/* Since the calling thread began to tick. */
double seconds(void);
/* The same numbers in each run of one seed; each thread has its own. */
uint32_t random_below(uint32_t below);
/* `expected`, rounded up or down by chance so that it is right in the mean. */
unsigned by_chance(double expected);

/* Starts a thread that ticks as the main thread does. */
void start_ticking(void (*tick)(void));
/* Which of these threads the caller is, from 1; 0: the main thread. */
unsigned thread_number(void);

/* So many bytes are there to stay (or, below zero, are not after all). From any thread. */
void count_leaked(int64_t bytes);

/* The block, written to, so that its memory is really there. Aborts if there is none. */
static inline void *filled(void *block, size_t size)
{
	if (!block)
		abort();
	return memset(block, 1, size);
}

/* The service. Its blocks live for a second at most, its sessions for about two. */
void service_prepare(void);
void service_tick(unsigned requests);

/* Allocates and frees again, from stacks of its own, so many bytes per second. */
void churn(double bytes_per_second);

#ifdef __cplusplus
}
#endif

#endif
