/* SPDX-License-Identifier: MIT */
/*
 * inspected.h - a process that is looked at from outside: its memory, to be read only, its mappings
 * and the objects in it.
 */
#ifndef HI_INSPECTED_H
#define HI_INSPECTED_H

#include "heap.h"

struct inspected {
	const struct memory *memory; /* the caller's */
	struct maps maps;
	struct elf_images images;
	struct pages pages;
	struct heap_source source;
};

/*
 * Opens the memory of the process, to be read only, by a thread that has it: the first one may have
 * ended. To be closed by memory_close. -ESRCH: it has ended.
 */
must_check int inspected_memory(pid_t pid, struct memory *out_memory);
/*
 * As it is now. deadline_ns: of clock.h, for all that is read. 0, -ENOEXEC: not a program of this
 * CPU; or an error of /proc. Close it in either case; a zeroed struct may be closed.
 */
must_check int inspected_open(struct inspected *inspected, const struct memory *memory,
			      uint64_t deadline_ns);
void inspected_close(struct inspected *inspected);

#endif
