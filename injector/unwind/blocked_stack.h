/* SPDX-License-Identifier: MIT */
/*
 * blocked_stack.h - what can be said of a thread that cannot be stopped, without its registers: where it would go on, and what lies on its stack.
 */
#ifndef HI_BLOCKED_STACK_H
#define HI_BLOCKED_STACK_H

#include "procfs.h"

struct blocked_range {
	remote_addr lo, hi;
};

/*
 * 0: thread tid of process pid, in this memory, is blocked (state D), was so all the while, and neither its pc nor its stack, from the red zone below sp up to
 * the end of the mapping, leads into one of the ranges, nor does the stack lie in one. What its registers hold is not known. -EAGAIN: it is not blocked, or was
 * not all the while. -EBUSY: one does, or the stack cannot be read to its end.
 */
must_check int blocked_stack_look(const struct memory *memory, pid_t pid, pid_t tid, const struct blocked_range *ranges, size_t count);

#endif
