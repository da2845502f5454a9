/* SPDX-License-Identifier: MIT */
/*
 * doubts.h - copies of gate addresses in shapes that cannot be turned back for certain, and memory that may hold some.
 *
 * escaped.c turns back what is an aligned word, or a register. A program may also keep an address unaligned in a packed structure, with marks in bits of it that
 * an address does not use, or as an operand in code that it makes. To write there would be to guess what these bytes are; but as long as there are any, the
 * gate must stay, as a page of plain jumps. A few bytes that only look like such a copy cost no more than that page.
 */
#ifndef HI_DOUBTS_H
#define HI_DOUBTS_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"

enum doubt {
	DOUBT_UNALIGNED,
	DOUBT_TAGGED,    /* with bits set among the lowest 3 or the highest 16; or in a register of a stopped thread in a way that none can be set */
	DOUBT_CODE,      /* an operand in executable memory */
	DOUBT_READ_ONLY, /* in shared memory where nobody may write */
	DOUBT_UNREAD,    /* pages that are there, and cannot be read */
	DOUBTS,
};

struct doubts {
	size_t count[DOUBTS];
};

/* Where the entries lie, and what is our own. */
struct doubts_gate {
	remote_addr gate;
	unsigned count;
	remote_addr skip_lo, skip_hi;
};

/* Adds to *doubts what `bytes` of the target hold, which lie at `at`. Aligned words that are exact copies do not count: they are fixed_up. */
void doubts_find(struct doubts *doubts, const struct doubts_gate *gate, const uint8_t *bytes, size_t size, remote_addr at, bool is_code);
bool doubts_any(const struct doubts *doubts);
/* What they are, for a user; NULL: there are none. */
const char *doubts_text(const struct doubts *doubts);

#endif
