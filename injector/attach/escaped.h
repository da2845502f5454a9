/* SPDX-License-Identifier: MIT */
/*
 * escaped.h - copies of gate addresses that the target made while attached (`ops->free = free`):
 * finds them in its memory. escaped_fix_up.h replaces them by the originals.
 *
 * The search reads every page of private memory that the target has written to, including
 * inaccessible ones. It does not touch pages that the target never touched. Of shared memory and of
 * files that are mapped shared it reads what is in the target's own page tables, up to a limit: a
 * buffer pool of many gigabytes holds no function pointers, as they mean nothing to another
 * program. Files are not written to: a copy there is only counted. Copies that are not aligned
 * words are only counted, too (doubts.h). The target runs during the search.
 */
#ifndef HI_ESCAPED_H
#define HI_ESCAPED_H

#include "doubts.h"
#include "hi_wire.h"
#include "procfs.h"

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
	remote_addr pointer_guard_at; /* where a symbol says that it is; 0 = none does */
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

/* Searches all memory once. Free the result with escaped_pointers_close. */
must_check int escaped_find(const struct escaped_target *target,
			    struct escaped_pointers *out_copies);
void escaped_pointers_close(struct escaped_pointers *copies);

/* Is the value the address of a gate entry? Then out_entry is its number. */
bool escaped_is_gate_entry(const struct escaped_target *target, uint64_t value,
			   unsigned *out_entry);
/* Is the value a copy, plain or disguised? Then out_value is its replacement. */
bool escaped_is_copy(const struct escaped_target *target, uint64_t value, uint64_t *out_value);

#endif
