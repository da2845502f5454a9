/* SPDX-License-Identifier: MIT */
/* stack_frames.h - what a walk of a stopped thread has found (stackwalk.h, row_walk.h). */
#ifndef HI_STACK_FRAMES_H
#define HI_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"

#define STACKWALK_FRAMES_MAX 256

struct stackwalk {
	size_t count;
	/* [0] is the thread's pc, the rest are return addresses */
	remote_addr pc[STACKWALK_FRAMES_MAX];
	/*
	 * sp after the frame has returned; 0 for the last
	 */
	remote_addr cfa[STACKWALK_FRAMES_MAX];
	/* the trampoline of a signal handler: the next frame was interrupted, it did not call */
	bool is_signal[STACKWALK_FRAMES_MAX];
	/*
	 * ended at a frame whose return address is undefined: only then does the walk prove
	 * anything (stackwalker_learn_ends)
	 */
	bool is_complete;
	/*
	 * ended because unwind information, readable memory or room was missing: nothing is known
	 * of the frames above
	 */
	bool is_cut;
};

#endif
