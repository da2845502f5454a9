/* SPDX-License-Identifier: MIT */
/*
 * stacked_blocks.h - the sampled blocks that are live now, each with the stack that allocated it,
 * for commands that find these blocks in the process's memory.
 */
#ifndef HI_STACKED_BLOCKS_H
#define HI_STACKED_BLOCKS_H

#include <stdio.h>

#include "live.h"
#include "profile.h"

/* As hi_block.h says; stacks that read the same are one. 0 or negative errno. */
int stacked_blocks_write(const struct profile *profile, const struct live *live, FILE *out);

#endif
