/* SPDX-License-Identifier: MIT */
/*
 * stale_frames.h - proof that hook frames which are still counted will never return, because nobody is in them any more.
 *
 * A thread that is cancelled in a hook, or leaves it by siglongjmp out of a signal handler that interrupted it, takes its frame away without lowering the
 * count. To wait for it is to wait for ever.
 *
 * The argument: once the slots are restored and the gate is disarmed nobody comes in. From the raising of the count until the last instruction of a visit its
 * thread has an address of the payload in its pc, or as a return address on its stack. So a thread that has none, in no register and nowhere on its stack, is
 * outside for good, and when all threads were seen so, whatever is counted belongs to nobody. A stack counts as seen if its walk is complete, or if it is the
 * thread's own and every word of it that is in use was looked at.
 *
 * What it rests on: nobody has switched to another stack in the middle of a hook, to come back later. An allocator does not, and a signal handler that does so
 * must not interrupt an allocator. To be on the safe side even then, it is asked for only when a count has not changed for seconds, and every thread is seen
 * more than once.
 */
#ifndef HI_STALE_FRAMES_H
#define HI_STALE_FRAMES_H

#include "quiesce.h"

/*
 * 0: proved; out_frames frames were counted for nobody, and are not any more. -EAGAIN: some thread may be inside, or cannot be told. Other errors: of the
 * target as a whole.
 */
must_check int stale_frames_forget(const struct quiesce_target *target, uint64_t *out_frames);

#endif
