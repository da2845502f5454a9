/* SPDX-License-Identifier: MIT */
/*
 * escaped.h - copies of gate addresses that the target made while we were attached (`ops->free = free`), found in its memory and registers and turned back into
 * the originals.
 *
 * Looking reads every page of private memory that the target has written to, inaccessible ones, too; those never touched are not touched by us either. Of
 * shared memory and of files that are mapped shared it reads what is in the target's own page tables, up to a limit: a buffer pool of many gigabytes holds no
 * function pointers, as they mean nothing to another program. Files are not written to: a copy there is only counted, and so are copies that are no aligned
 * words (doubts.h). The target runs meanwhile. Turning back happens while it stands still: a word that held a copy a microsecond ago may be a return address by
 * now, on a stack in use or in memory that was freed and given out again.
 */
#ifndef HI_ESCAPED_H
#define HI_ESCAPED_H

#include "doubts.h"
#include "hi_wire.h"
#include "procfs.h"
#include "tracee.h"

struct escaped_target {
	pid_t pid;
	const struct memory *memory;
	remote_addr gate; /* first entry */
	unsigned gate_count;
	remote_addr original[HI_GATE_ENTRIES];
	remote_addr skip_lo, skip_hi; /* the arena: our own words are no escaped copies */
	uint64_t pointer_guard;       /* with which libc disguises the function pointers that it keeps (arch.h); 0 = not known */
};

/*
 * Each copy costs the whole target some microseconds of standing still: more than so many are not turned back, neither in one look nor in one detach, and what
 * they lead to stays. A program that makes copies as fast as we find them is let go as soon as any other.
 */
#define ESCAPED_POINTERS_MAX (1u << 18)

/* Where copies were seen; ESCAPED_POINTERS_MAX at most. */
struct escaped_pointers {
	remote_addr *at;
	size_t count;
	size_t in_files;     /* and how many in shared mappings of files, which are left as they are */
	uint64_t unsearched; /* bytes of shared memory beyond the limit */
	uint64_t swapped;    /* bytes that are swapped out: to search them would bring them back in */
	struct doubts doubts;
};

/* Of stopped threads: those that held copies and now hold the originals; and copies that cannot be turned back. */
struct fixed_registers {
	size_t changed, doubtful;
};

struct fixed_up {
	size_t words;
	struct fixed_registers registers;
};

/* One look at all memory. */
must_check int escaped_find(const struct escaped_target *target, struct escaped_pointers *out_copies);
void escaped_pointers_close(struct escaped_pointers *copies);

/*
 * Turns back those of the copies that still are some, and whatever registers hold, with all threads stopped. Adds to *result. -EAGAIN: some thread would not
 * stop; all run as before.
 */
must_check int escaped_fix_up(const struct escaped_target *target, const struct escaped_pointers *copies, struct fixed_up *result);

/* The registers of one stopped thread, vectors included, turned back. out_regs: as they are now. Adds to *fixed_up. */
must_check int escaped_fix_up_registers(const struct escaped_target *target, const struct tracee *tracee, struct arch_regs *out_regs, struct fixed_registers *fixed_up);

#endif
