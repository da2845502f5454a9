/* SPDX-License-Identifier: MIT */
/*
 * stackwalk.h - the stack of one stopped thread, walked with libunwind-ptrace's machinery over the
 * project's own accessors.
 *
 * Registers come from one GETREGSET, memory from a page cache over process_vm_readv, unwind
 * information from .eh_frame_hdr in the target's memory. No file is opened, so the walk works in
 * every mount namespace. (libunwind's own accessors stop early in a chroot and report that as the
 * end of the stack.)
 */
#ifndef HI_STACKWALK_H
#define HI_STACKWALK_H

#include "elf_images.h"
#include "stack_frames.h"
#include "tracee.h"

/* Opaque cache of one target; valid while its list of objects does not change. */
struct stackwalker;
must_check int stackwalker_open(pid_t pid, const struct elf_images *images,
				struct stackwalker **out_walker);
/*
 * Learns where stacks may end. That takes milliseconds, so call it before any thread is stopped,
 * and only if the caller needs complete walks: without it no walk counts as complete.
 */
void stackwalker_learn_ends(struct stackwalker *walker);
void stackwalker_close(struct stackwalker *walker);
/*
 * The thread must be TRACEE_STOPPED. 0 also for incomplete walks, of which some are empty: see
 * is_complete and is_cut.
 */
must_check int stackwalk_read(struct stackwalker *walker, const struct tracee *tracee,
			      struct stackwalk *out_walk);
/*
 * The same in two steps, of which only the first needs the thread stopped, for a few microseconds.
 * stackwalk_copy copies its stack; stackwalk_read_copy walks the copy after the thread has been
 * resumed. stackwalk_read_copy: -E2BIG = the stack is deeper than the copy, and nothing is known.
 */
#define STACKWALK_COPY_BYTES 65536
struct stackwalk_copy {
	struct arch_regs regs;
	remote_addr from; /* a page boundary */
	size_t size;
	uint8_t byte[STACKWALK_COPY_BYTES];
};
must_check int stackwalk_copy(const struct tracee *tracee, struct stackwalk_copy *out_copy);
must_check int stackwalk_read_copy(struct stackwalker *walker, pid_t tid,
				   const struct stackwalk_copy *copy, struct stackwalk *out_walk);

#endif
