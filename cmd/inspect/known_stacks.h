/* SPDX-License-Identifier: MIT */
/*
 * known_stacks.h - blocks of a process of which a session has sampled the allocation, and by which
 * stacks they were allocated. It comes from the session's analyzer, which read what a process of
 * another user may have written, and is believed no further than that.
 */
#ifndef HI_KNOWN_STACKS_H
#define HI_KNOWN_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "hi_block.h"

/* Zero-initialized: there is no session. */
struct known_stacks {
	struct hi_stacked_block *block; /* by address */
	size_t count;
	char **text; /* by number: a line of plain text */
	size_t text_count;
};

/* From a file of HI_DUMP_STACKED (hi_block.h). 0, -ENOMEM, -EBADMSG, or an error of reading. */
int known_stacks_read(int fd, struct known_stacks *out_stacks);
void known_stacks_close(struct known_stacks *stacks);

#endif
