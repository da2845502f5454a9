/* SPDX-License-Identifier: MIT */
/*
 * quiesce.h - proof that no thread that runs in the target's memory (memory_sharers.h) is inside the payload or the gate, nor will return there.
 *
 * Once every slot holds its old value nobody new comes in, so threads need not be seen at the same time: each is let go as soon as it has been looked at, some
 * tens of microseconds after it stopped, and none waits for another. A thread is clear when its pc and its stack are outside, and no hook frame is counted for
 * it. Of a stack that cannot be walked to its end no word may lead inside. Where one does, or none can be read, the thread is clear if its pc is outside at a
 * second look, some milliseconds later, too: a proof that is not to be had must not keep us for ever. A register that holds a gate address (a call hoisted out
 * of a loop) is fixed_up to the original on the spot.
 *
 * A thread that waits where nothing stops it is waited for, while nobody is held. After two seconds it is looked at from outside: its pc and its stack can be
 * seen, its registers cannot. So of a gate whose address these may hold something has to stay.
 */
#ifndef HI_QUIESCE_H
#define HI_QUIESCE_H

#include "escaped.h"
#include "stackwalk.h"

struct quiesce_target {
	const struct escaped_target *escaped;
	struct stackwalker *walker;   /* may be NULL: then registers and counts must do */
	remote_addr gate_lo, gate_hi; /* code of the gate */
	remote_addr payload_lo, payload_hi;
	remote_addr thread_slots; /* struct hi_thread_table, in the target's state */
	const remote_addr *jump;  /* addresses of single instructions from which the way leads inside, though no other does any more */
	size_t jump_count;
	remote_addr return_gadget; /* so does the way from there (hi_wire.h); 0 = none is used */
};

struct quiesced {
	size_t threads; /* looked at */
	struct fixed_registers registers;
	uint64_t longest_stop_ns;
	pid_t unseen, unseen_pid;   /* a thread that cannot stop (blocked.h), and is outside but for what its registers hold, and its process; 0 = none */
	remote_addr thread_pointer; /* of one of them; 0 = none was looked at */
	/* Why it was not to be had, with -EBUSY: */
	uint64_t frames; /* of hooks, that will still return into the payload */
	pid_t stuck;     /* if there are none of those: a thread that was inside, or could not be stopped */
};

/* Is code at this address inside, or on its way there? */
bool quiesce_is_inside(const struct quiesce_target *target, remote_addr address);
/* -EBUSY: some thread was inside to the last, or could not be stopped. -ESRCH: the target is gone. */
must_check int quiesce(const struct quiesce_target *target, int deadline_ms, struct quiesced *out_result);

#endif
