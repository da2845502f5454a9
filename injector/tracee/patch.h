/* SPDX-License-Identifier: MIT */
/*
 * patch.h - changes of single words that threads of the target may read at any moment as the address of code: GOT slots, and the hooks of gate entries.
 *
 * A write through /proc/PID/mem (or process_vm_writev, or ptrace) is a copy of bytes in the kernel. Where that is one string instruction, as on all newer Intel
 * CPUs, an interrupt may come between two of its bytes, and a thread that reads the word then jumps to an address that never existed. So who changes such words
 * is given as a patcher: live_patch.h for a target that runs, patcher_for_stopped for one whose threads all stand still.
 */
#ifndef HI_PATCH_H
#define HI_PATCH_H

#include <stdbool.h>

#include "memory.h"

enum patch_state {
	PATCH_PENDING, /* not tried, or could not be changed */
	PATCH_DONE,
	PATCH_DIFFERS, /* held something else: `expected` says what, and that is what it holds */
	PATCH_GONE,    /* not mapped any more */
};

struct word_patch {
	remote_addr at; /* aligned */
	uint64_t expected, value;
	bool read_only; /* it lies in a page that is not to be writable afterwards, be it so now */
	enum patch_state state;
};

struct patcher {
	/*
	 * Tries all that are pending. An error is about the target as a whole, or about the way to change words: then some are still pending. -EACCES: some are
	 * there, but cannot be written.
	 */
	int (*change)(void *context, struct word_patch *change, size_t count);
	void *context;
};

/* Through /proc/PID/mem: only while all threads of the target stand still, or where nobody reads yet. memory must outlive it. */
struct patcher patcher_for_stopped(const struct memory *memory);

static inline int patch_words(const struct patcher *patcher, struct word_patch *change, size_t count)
{
	return patcher->change(patcher->context, change, count);
}

#endif
