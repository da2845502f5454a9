/* SPDX-License-Identifier: MIT */
/*
 * stop_world.h - stops all threads that run in a target's memory (memory_sharers.h) at the same
 * time. It is needed to change words that running threads may be writing or unmapping, and ends as
 * soon as they are changed.
 *
 * No thread is held while the injector waits for one that does not stop. First all threads are
 * examined from outside: if one cannot stop, none is stopped. Then those that sleep are stopped,
 * and last, for the shortest time, those that run. If one of these takes longer than some
 * milliseconds, all are let go at once. The next attempt may be made only after a pause of many
 * times what this one took, with twice the patience. Over a session all attempts together are kept
 * below an allowance. A caller that is too early, or has no allowance left, gets -EAGAIN, and no
 * thread was held.
 *
 * A thread that waits in the kernel where nothing stops it (blocked.h) counts as stopped if the
 * wait does no harm: having been asked, it will stop before its next instruction. A child of vfork
 * that it waits for is stopped with the threads.
 *
 * Call begin and end from one tracing thread (tracee.h). System calls that the stop broke off are
 * restarted. If the injector dies in between, the kernel lets all threads go. The allowance is the
 * injector process's: one session, one target.
 */
#ifndef HI_STOP_WORLD_H
#define HI_STOP_WORLD_H

#include <stddef.h>

#include "blocked.h"
#include "tracee.h"

/* Why all threads are stopped. */
enum stop_world_purpose {
	STOP_WORLD_SLOTS,  /* to write slots of libraries that may be unloaded */
	STOP_WORLD_COPIES, /* to fix up copies of pointers in memory */
	STOP_WORLD_WORDS,  /* to write words that no borrowed thread could store */
	STOP_WORLD_LOOK,   /* to copy its memory */
	STOP_WORLD_PURPOSES,
};

struct stop_world {
	/*
	 * each TRACEE_STOPPED, or TRACEE_RUNNING and blocked until it stops; those that were
	 * running come last
	 */
	struct tracee *tracee;
	size_t count;
	pid_t pid;
	enum stop_world_purpose purpose;
	enum arch_call_effect effect; /* effect that system calls of blocked threads may have */
	uint64_t give_up_ns; /* for so long the first thread may be stopped before the last */
	uint64_t since_ns;   /* CLOCK_MONOTONIC: stop of the first thread; 0 = none was */
	/*
	 * when the first thread that did not sleep was stopped; after let_go: how long those were
	 * stopped
	 */
	uint64_t awake_ns;
	size_t awake_from; /* index of that thread */
	struct {
		pid_t pid, tid;
	} obstacle; /* a thread that did not stop; 0 = none */
	/* a process that may share the memory, and that the injector may not examine; 0 = none */
	pid_t unknown;
};

/*
 * -EAGAIN: not now, or not all threads stopped in time; none is held once this tracing thread has
 * ended. -ESRCH: the target is gone.
 */
must_check int stop_world_begin(struct stop_world *world, pid_t pid,
				enum stop_world_purpose purpose);
/* The same, with so much patience from the stop of the first thread to that of the last. */
must_check int stop_world_begin_within(struct stop_world *world, pid_t pid,
				       enum stop_world_purpose purpose, uint64_t patience_ns);
/*
 * Lets all threads go. out_held_ns: how long the first was held. Does all it can, then returns the
 * first error. Must be the last thing that a worker does.
 */
int stop_world_end(struct stop_world *world, uint64_t *out_held_ns);

/*
 * Runs work(context) while all threads are stopped, in a tracing thread of its own. Returns its
 * result, or the error of stop_world_begin. out_held_ns is 0 if it did not run.
 */
must_check int stop_world_do(pid_t pid, enum stop_world_purpose purpose, int (*work)(void *),
			     void *context, uint64_t *out_held_ns);

/*
 * stop_world_do, repeated until the deadline as long as it returns -EAGAIN; no thread is held in
 * between.
 */
must_check int stop_world_wait(pid_t pid, enum stop_world_purpose purpose, int (*work)(void *),
			       void *context, int deadline_ms, uint64_t *out_held_ns);

/* What the session did so far. */
struct stop_world_account {
	unsigned count[STOP_WORLD_PURPOSES]; /* successful stops, by purpose */
	uint64_t longest_ns;                 /* from the first stop until the last thread goes on */
	uint64_t longest_awake_ns;           /* same, from the first thread that did not sleep */
	unsigned given_up;                   /* attempts in which a thread did not stop */
	uint64_t given_up_longest_ns;
	/* time of all attempts together, and the allowance up to now */
	uint64_t used_ns, allowed_ns;
	char obstacle[BLOCKED_TEXT]; /* what prevented the last failed attempt; "" = none failed */
};
struct stop_world_account stop_world_account(void);
/* Raises the allowance to what has been used plus more_ms: detach has to undo all changes. */
void stop_world_allow(int more_ms);
/* Account and allowance begin anew, with another target. */
void stop_world_reset(void);

#endif
