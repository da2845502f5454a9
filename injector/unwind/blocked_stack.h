/* SPDX-License-Identifier: MIT */
/*
 * blocked_stack.h - examines a thread that cannot be stopped, without its registers: where it would
 * continue, and what its stack contains.
 */
#ifndef HI_BLOCKED_STACK_H
#define HI_BLOCKED_STACK_H

#include "procfs.h"

struct blocked_range {
	remote_addr lo, hi;
};

/*
 * 0: thread tid of process pid, in this memory, was blocked (state D) during the whole call; and
 * neither its pc nor any word of its stack (from the red zone below sp up to the end of the
 * mapping) points into one of the ranges; and the stack does not lie in one. The contents of its
 * registers are not known. -EAGAIN: it is not blocked, or was not during the whole call. -EBUSY:
 * the pc, a word or the stack is in a range, or the stack cannot be read to its end.
 */
must_check int blocked_stack_look(const struct memory *memory, pid_t pid, pid_t tid,
				  const struct blocked_range *ranges, size_t count);

#endif
