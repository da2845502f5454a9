/* SPDX-License-Identifier: MIT */
/*
 * patch.h - changes single words that threads of the target may read at any moment as the address
 * of code: GOT slots, and the hooks of gate entries.
 *
 * A write through /proc/PID/mem (or process_vm_writev, or ptrace) is a copy of bytes in the kernel.
 * Where that is one string instruction, as on all newer Intel CPUs, an interrupt may come between
 * two of its bytes, and a thread that reads the word then jumps to an address that never existed.
 * So the way to change such words is passed as a patcher: live_patch.h for a target that runs,
 * patcher_for_stopped for one whose threads are all stopped.
 */
#ifndef HI_PATCH_H
#define HI_PATCH_H

#include <stdbool.h>

#include "memory.h"

enum patch_state {
	PATCH_PENDING, /* not tried, or could not be changed */
	PATCH_DONE,
	PATCH_DIFFERS, /* held another value, which is now in `expected` */
	PATCH_GONE,    /* not mapped any more */
};

struct word_patch {
	remote_addr at; /* aligned */
	uint64_t expected, value;
	bool read_only; /* its page must not be writable afterwards, even if it is now */
	enum patch_state state;
};

struct patcher {
	/*
	 * Tries all pending changes. An error concerns the target as a whole, or the way to change
	 * words: then some are still pending. -EACCES: some words exist but cannot be written.
	 */
	int (*change)(void *context, struct word_patch *change, size_t count);
	void *context;
};

/*
 * Writes through /proc/PID/mem: only while all threads of the target are stopped, or where no
 * thread reads yet. memory must outlive it.
 */
struct patcher patcher_for_stopped(const struct memory *memory);

static inline int patch_words(const struct patcher *patcher, struct word_patch *change,
			      size_t count)
{
	return patcher->change(patcher->context, change, count);
}

#endif
