/* SPDX-License-Identifier: MIT */
/*
 * memory_copy.h - what was copied of a process at one moment: memory, which pages there were, the
 * kernel's lists of mappings, and where its threads stood. Plain data: who has stopped the threads
 * fills it in (frozen.h).
 *
 * Given to a struct memory, reads of what was copied are answered from it (memory.h, pages.h), and
 * so are maps_of(), smaps_of() and proc_stack_pointers(). What was not copied, as pages of files
 * that cannot be written to, is read from the process.
 */
#ifndef HI_MEMORY_COPY_H
#define HI_MEMORY_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whole pages of one kind, as in pages.h. */
struct copied_run {
	uint64_t lo, hi;
	const uint8_t *byte; /* NULL: it was not copied */
	bool is_swapped, is_file, is_huge;
};

struct stack_pointer {
	pid_t tid;
	uint64_t sp; /* 0: not known, as the thread runs */
};

/*
 * Where no process has memory: the registers of all threads, as a mapping of that name. Pointers in
 * them are found as those in other mappings are.
 */
#define MEMORY_COPY_REGISTERS 0xf000000000000000ull
#define MEMORY_COPY_REGISTERS_NAME "[registers]"

struct memory_copy {
	struct copied_run *run; /* by address */
	size_t count, room;
	char *maps, *smaps; /* text of the kernel; smaps: NULL = not wanted */
	size_t maps_size, smaps_size;
	struct stack_pointer *thread;
	size_t threads;
	/* how often the threads were stopped, the copy of this moment last, and for how long at
	 * most */
	unsigned held_times;
	uint64_t held_ns;
};

/* The run that has the address, or else the next one; NULL: there is none. */
const struct copied_run *memory_copy_find(const struct memory_copy *copy, uint64_t address);

#endif
