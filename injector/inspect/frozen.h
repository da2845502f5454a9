/* SPDX-License-Identifier: MIT */
/*
 * frozen.h - a process as it was at one moment: all its threads are stopped, its memory is copied,
 * and they are let go. What is looked at is the copy, for as long as that takes.
 *
 * Copied are all resident pages that the process can write to or has written to. Where there is
 * room for them is found out, and made, before the first thread is stopped. Pages that are swapped
 * out stay there, and are unknown.
 *
 * The threads are stopped by stop_world.h: system calls go on as if nothing had happened, and if we
 * die, the kernel lets them go. They are held for bound_ns at most, whatever is done by then: if
 * that is not all, there is no copy.
 */
#ifndef HI_FROZEN_H
#define HI_FROZEN_H

#include "memory.h"
#include "memory_copy.h"

struct frozen_want {
	uint64_t bound_ns;
	bool smaps;     /* what the kernel says of each mapping, too */
	bool registers; /* of all threads, and shared memory: for who looks for pointers */
};

#define FROZEN_BOUND_NS_MIN 10000000u

struct frozen {
	struct memory_copy copy;
	uint8_t *room, *registers; /* owned */
	size_t room_bytes, used, registers_bytes;
	/* of earlier copies, too */
	unsigned held_times;
	uint64_t held_ns;
	bool has_swapped; /* pages that are in no memory */
	char why[384];    /* there is no copy; a clause for the user. "": memory or /proc failed */
};

/*
 * memory: without a copy. 0; -EBUSY: not all threads could be stopped at once; -ETIME: the bound
 * was over; -E2BIG: there is no room for so much; or an error of the memory or of /proc. Close it
 * in either case. frozen: zeroed, or the copy of an earlier moment, whose place it takes; how often
 * and for how long at most the threads were stopped counts on. Starts a tracing thread: see
 * tracee_worker().
 */
must_check int frozen_take(const struct memory *memory, const struct frozen_want *want,
			   struct frozen *frozen);
void frozen_close(struct frozen *frozen);

#endif
