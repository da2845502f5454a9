/* SPDX-License-Identifier: MIT */
/*
 * stop_world.h - all threads that run in a target's memory (memory_sharers.h) stopped at the same time. What needs it is to change words that running threads
 * may be writing, or unmapping; it is over as soon as they are changed.
 *
 * Nobody is held while we wait for one that will not come. First all threads are looked at from outside: where one cannot stop, nobody is stopped. Then those
 * that sleep are stopped, and last, for the shortest time, those that run. If one of these takes longer than some milliseconds all are let go at once, and the
 * next attempt may be made only after a pause of many times what this one took, with twice the patience. Over a session all attempts together are kept below an
 * allowance. Who calls too early, or has none left, gets -EAGAIN, and nobody was held.
 *
 * A thread that waits in the kernel where nothing stops it (blocked.h) stands still for us if the wait does no harm: having been asked, it will stop before its
 * next instruction. A child of vfork that it waits for is stopped with the threads.
 *
 * begin and end from one tracing thread (tracee.h). System calls that the stop broke off are restarted. If we die in between, the kernel lets all threads go.
 * The allowance is the process's: one session, one target.
 */
#ifndef HI_STOP_WORLD_H
#define HI_STOP_WORLD_H

#include <stddef.h>

#include "blocked.h"
#include "tracee.h"

/* What it is for. */
enum stop_world_purpose {
	STOP_WORLD_SLOTS,  /* of libraries that may be unloaded */
	STOP_WORLD_COPIES, /* of pointers, in memory */
	STOP_WORLD_WORDS,  /* that no thread could be borrowed to store */
	STANDSTILL_PURPOSES,
};

struct stop_world {
	struct tracee *tracee; /* each TRACEE_STOPPED, or TRACEE_RUNNING and blocked until it stops; those that ran come last */
	size_t count;
	pid_t pid;
	enum stop_world_purpose purpose;
	enum arch_call_effect effect; /* that calls of blocked threads may have */
	uint64_t since_ns;            /* CLOCK_MONOTONIC: when the first was stopped; 0 = none was */
	uint64_t awake_ns;            /* and the first that did not sleep; once they go on: for how long they stood */
	size_t awake_from;            /* its place */
	struct {
		pid_t pid, tid;
	} obstacle;   /* who did not stop; 0 = nobody */
	pid_t untold; /* a process that may share the memory, and that we may not look at; 0 = none */
};

/* -EAGAIN: not now, or not all came to a stop in time; none is held once this thread has ended. -ESRCH: the target is gone. */
must_check int stop_world_begin(struct stop_world *world, pid_t pid, enum stop_world_purpose purpose);
/* Lets all of them go. out_held_ns: how long the first was held. The first error, after having done all it could. Only as the last thing in a worker. */
int stop_world_end(struct stop_world *world, uint64_t *out_held_ns);

/*
 * Runs work(context) while all threads stand still, in a tracing thread of its own: its result, or what stop_world_begin says. out_held_ns is 0 if it was not
 * run.
 */
must_check int stop_world_do(pid_t pid, enum stop_world_purpose purpose, int (*work)(void *), void *context, uint64_t *out_held_ns);

/* The same, again and again, for as long as it is -EAGAIN, until the deadline; nobody is held in between. */
must_check int stop_world_wait(pid_t pid, enum stop_world_purpose purpose, int (*work)(void *), void *context, int deadline_ms, uint64_t *out_held_ns);

/* What the session did so far. */
struct stop_world_account {
	unsigned count[STANDSTILL_PURPOSES]; /* that came about, by purpose */
	uint64_t longest_ns;                 /* from the first thread's stop to the last's going on; */
	uint64_t longest_awake_ns;           /* from that of the first that did not sleep */
	unsigned given_up;                   /* attempts at which one did not stop */
	uint64_t given_up_longest_ns;
	uint64_t used_ns, allowed_ns; /* all of them together, and how long that may be by now */
	char obstacle[BLOCKED_TEXT];  /* who was in the way last; "" = nobody, ever */
};
struct stop_world_account stop_world_account(void);
/* Detach has to undo what is done: so much more than has been used. */
void stop_world_allow(int more_ms);

#endif
