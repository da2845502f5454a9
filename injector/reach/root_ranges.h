/* SPDX-License-Identifier: MIT */
/*
 * root_ranges.h - where a process whose threads are all stopped keeps the pointers that its program
 * can still use, blocks of the heap aside.
 *
 * These are the writable segments of the program and its libraries, the stacks of all threads from
 * the stack pointer on, and their thread-local storage. Other mappings are none: what mmap gave is
 * not followed, as in LeakSanitizer. Registers are no range, and not here.
 */
#ifndef HI_ROOT_RANGES_H
#define HI_ROOT_RANGES_H

#include "elf_images.h"
#include "thread_words.h"

struct reach_target {
	pid_t pid;
	const struct memory *memory;
	const struct maps *maps;
	const struct elf_images *images;
	const struct thread_words *thread;
	size_t thread_count;
};

struct root_range {
	remote_addr lo, hi;
};
struct root_ranges {
	struct root_range *range; /* in no order; they may overlap */
	size_t count, room;
};

/* 0 or -ENOMEM. Close it in either case. */
must_check int root_ranges_find(const struct reach_target *target, struct root_ranges *out_ranges);
void root_ranges_close(struct root_ranges *roots);

#endif
