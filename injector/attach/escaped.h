/* SPDX-License-Identifier: MIT */
/*
 * escaped.h - copies of gate addresses that the target made while attached (`ops->free = free`):
 * finds them in its memory and registers and replaces them by the originals.
 *
 * The search reads every page of private memory that the target has written to, including
 * inaccessible ones. It does not touch pages that the target never touched. Of shared memory and of
 * files that are mapped shared it reads what is in the target's own page tables, up to a limit: a
 * buffer pool of many gigabytes holds no function pointers, as they mean nothing to another
 * program. Files are not written to: a copy there is only counted. Copies that are not aligned
 * words are only counted, too (doubts.h). The target runs during the search. Fixing up happens
 * while all threads are stopped: a word that held a copy a microsecond ago may be a return address
 * by now, on a stack in use or in memory that was freed and allocated again.
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
	remote_addr skip_lo, skip_hi; /* the arena: words in it are not escaped copies */
	/*
	 * the word with which libc disguises the function pointers that it keeps (arch.h); 0 = not
	 * known
	 */
	uint64_t pointer_guard;
};

/*
 * Each copy keeps all threads of the target stopped for some microseconds. More copies than this
 * are not fixed up, neither in one look nor in one detach; they stay, and so does the gate. So a
 * program that makes copies as fast as the injector finds them cannot delay its detach.
 */
#define ESCAPED_POINTERS_MAX (1u << 18)

/* Where copies were seen; ESCAPED_POINTERS_MAX at most. */
struct escaped_pointers {
	remote_addr *at;
	size_t count;
	size_t in_files;     /* copies in shared mappings of files, which are left as they are */
	uint64_t unsearched; /* bytes of shared memory beyond the limit */
	/* bytes that are swapped out, not searched: that would bring them back in */
	uint64_t swapped;
	struct doubts doubts;
};

/*
 * Registers of stopped threads. changed: held copies and now hold the originals. doubtful: copies
 * that cannot be fixed up.
 */
struct fixed_registers {
	size_t changed, doubtful;
};

struct fixed_up {
	size_t words;
	struct fixed_registers registers;
};

/* Searches all memory once. Free the result with escaped_pointers_close. */
must_check int escaped_find(const struct escaped_target *target,
			    struct escaped_pointers *out_copies);
void escaped_pointers_close(struct escaped_pointers *copies);

/*
 * Stops all threads and fixes up the listed words that still hold copies, and all registers. Adds
 * to *result. -EAGAIN: some thread did not stop; all threads run as before.
 */
must_check int escaped_fix_up(const struct escaped_target *target,
			      const struct escaped_pointers *copies, struct fixed_up *result);

/*
 * Fixes up the registers of one stopped thread, including vector registers. out_regs: the registers
 * as they are now. Adds to *fixed_up.
 */
must_check int escaped_fix_up_registers(const struct escaped_target *target,
					const struct tracee *tracee, struct arch_regs *out_regs,
					struct fixed_registers *fixed_up);

#endif
