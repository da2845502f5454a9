/* SPDX-License-Identifier: MIT */
/*
 * doubts.h - copies of gate addresses in shapes that cannot be fixed up for certain, and memory
 * that may hold some.
 *
 * escaped.c fixes up copies that are an aligned word or a register. A program may also keep an
 * address unaligned in a packed structure, with marks in bits that an address does not use, or as
 * an operand in code that it generates. To write there would be to guess what these bytes are. But
 * as long as there are any, the gate must stay, as a page of plain jumps. A few bytes that only
 * look like such a copy cost no more than that page.
 */
#ifndef HI_DOUBTS_H
#define HI_DOUBTS_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"

enum doubt {
	DOUBT_UNALIGNED,
	/*
	 * with bits set among the lowest 3 or those above the addresses that the kernel gives; or
	 * held in a register of a stopped thread in a form that cannot be replaced
	 */
	DOUBT_TAGGED,
	DOUBT_CODE,      /* an operand in executable memory */
	DOUBT_READ_ONLY, /* in shared memory that may not be written */
	DOUBT_UNREAD,    /* pages that are present and cannot be read */
	DOUBTS,
};

struct doubts {
	size_t count[DOUBTS];
};

/* Where the gate entries lie, and the range of the arena, which is skipped. */
struct doubts_gate {
	remote_addr gate;
	unsigned count;
	remote_addr skip_lo, skip_hi;
};

/*
 * Adds to *doubts what `bytes` hold, which were read from the target at address `at`. Aligned words
 * that are exact copies do not count: escaped.c fixes them up.
 */
void doubts_find(struct doubts *doubts, const struct doubts_gate *gate, const uint8_t *bytes,
		 size_t size, remote_addr at, bool is_code);
bool doubts_any(const struct doubts *doubts);
/* Describes the doubts for a user; NULL: there are none. */
const char *doubts_text(const struct doubts *doubts);

#endif
