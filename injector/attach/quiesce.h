/* SPDX-License-Identifier: MIT */
/*
 * quiesce.h - proves that no thread that runs in the target's memory (memory_sharers.h) is inside
 * the payload or the gate, nor will return there.
 *
 * Once every slot holds its old value, no thread newly comes in. So threads need not be seen at the
 * same time: each goes on as soon as it has been examined, some tens of microseconds after it
 * stopped, and none waits for another. A thread is clear when its pc and its stack are outside, and
 * no hook frame is counted for it. If a stack cannot be walked to its end, no word of it may lead
 * inside. If one does, or the stack cannot be read, the thread is clear if its pc is outside at a
 * second look, too, some milliseconds later: the lack of a proof must not keep the injector for
 * ever. A register that holds a gate address (a call hoisted out of a loop) is fixed up to the
 * original on the spot.
 *
 * A thread that waits in the kernel where nothing stops it is waited for, while no thread is held.
 * After two seconds it is examined from outside: its pc and its stack can be seen, its registers
 * cannot. These may hold the gate's address, so an inert gate must stay.
 */
#ifndef HI_QUIESCE_H
#define HI_QUIESCE_H

#include "escaped_fix_up.h"
#include "stackwalk.h"

struct quiesce_target {
	const struct escaped_target *escaped;
	struct stackwalker *walker;   /* may be NULL: then registers and counts are the proof */
	remote_addr gate_lo, gate_hi; /* code of the gate */
	remote_addr payload_lo, payload_hi;
	remote_addr probes_lo, probes_hi; /* equal: there are none */
	remote_addr thread_slots;         /* struct hi_thread_table, in the target's state */
	/* pages whose code still leads inside, when no other way does; 0 = none */
	const remote_addr *near_page;
	size_t near_pages;
	remote_addr return_gadget; /* also leads inside (hi_wire.h); 0 = none is used */
};

struct quiesced {
	size_t threads; /* threads that were examined */
	struct fixed_registers registers;
	uint64_t longest_stop_ns;
	/*
	 * a thread that cannot stop (blocked.h), and is outside except for what its registers may
	 * hold; its process; 0 = none
	 */
	pid_t unseen, unseen_pid;
	remote_addr thread_pointer; /* thread pointer of one of them; 0 = none was examined */
	/* With -EBUSY, the reason: */
	uint64_t frames; /* hook frames that will still return into the payload */
	pid_t stuck;     /* if frames is 0: a thread that was inside or could not be stopped */
};

/* Is code at this address inside, or does it still lead inside? */
bool quiesce_is_inside(const struct quiesce_target *target, remote_addr address);
/*
 * Waits up to deadline_ms. -EBUSY: some thread was inside to the end, or could not be stopped.
 * -ESRCH: the target is gone.
 */
must_check int quiesce(const struct quiesce_target *target, int deadline_ms,
		       struct quiesced *out_result);

#endif
