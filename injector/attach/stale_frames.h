/* SPDX-License-Identifier: MIT */
/*
 * stale_frames.h - proves that hook frames which are still counted will never return, because no
 * thread is in them any more.
 *
 * A thread that is cancelled in a hook, or leaves it by siglongjmp out of a signal handler that
 * interrupted it, removes its frame without lowering the count. Waiting for such a frame would
 * never end.
 *
 * The argument: once the slots are restored and the gate is disarmed, no thread comes in. From the
 * raising of the count until the last instruction of a hook scope its thread has an address of the
 * payload in its pc, or as a return address on its stack. So a thread that has none, in no register
 * and nowhere on its stack, is outside for good. When all threads were seen so, the counted frames
 * belong to no thread. A stack counts as seen if its walk is complete, or if it is the thread's own
 * and every word of it that is in use was checked.
 *
 * Of functions that the user has named it proves less: what calls back into the program may have
 * left a frame on a stack that no thread is on now, and go on there later.
 *
 * The assumption: no thread has switched to another stack in the middle of a hook, to come back
 * later. An allocator does not do that, and a signal handler that does must not interrupt an
 * allocator. To be safe even then, this proof is attempted only when a count has not changed for
 * seconds, and every thread is examined more than once.
 */
#ifndef HI_STALE_FRAMES_H
#define HI_STALE_FRAMES_H

#include "quiesce.h"

/*
 * 0: proved; the counts of out_frames frames, which belonged to no thread, have been cleared.
 * -EBUSY: no thread is inside, but frames of named functions may wait on stacks of coroutines.
 * -EAGAIN: some thread may be inside, or cannot be judged. Other errors concern the target as a
 * whole.
 */
must_check int stale_frames_forget(const struct quiesce_target *target, uint64_t *out_frames);

#endif
