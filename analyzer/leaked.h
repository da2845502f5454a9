/* SPDX-License-Identifier: MIT */
/*
 * leaked.h - the blocks that a program had leaked when it exited (hi_stream_leaked): the analyzer
 * gives the injector the live blocks, gets back which of them nothing refers to, and reports these
 * by stack.
 */
#ifndef HI_LEAKED_H
#define HI_LEAKED_H

#include <stdbool.h>
#include <stdio.h>

#include "hi_stream.h"
#include "live.h"
#include "profile.h"

struct leaked_block {
	uint64_t bytes;
	uint32_t stack, leader; /* stacks of the profile: its own, and that of its leader */
	bool is_direct;
};
/* Zero-initialized = nothing is known. */
struct leaked {
	struct leaked_block *block;
	size_t count, room;
	bool is_known; /* there was a LEAKED record */
};

/* Writes all live blocks, as hi_block.h says. 0 or negative errno. */
int leaked_write_blocks(const struct profile *profile, const struct live *live, FILE *out);
/* Adds the blocks of a record that are live. 0 or -ENOMEM. */
int leaked_add(struct leaked *leaked, const struct profile *profile, const struct live *live,
	       const struct hi_stream_leaked *record);
void leaked_close(struct leaked *leaked);

/*
 * Writes what follows the answer, as HI_ANALYZER_LEAKS says. suppressions: lines of a file, or
 * NULL; a line that hi_analyzer_check_suppressions() finds bad is skipped. 0 or -ENOMEM.
 */
int leaked_print(const struct leaked *leaked, const struct profile *profile,
		 const char *suppressions, FILE *out);

#endif
