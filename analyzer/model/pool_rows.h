/* SPDX-License-Identifier: MIT */
/*
 * pool_rows.h - the blocks of pools of a profile as its rows: what the views show with --pools.
 */
#ifndef HI_POOL_ROWS_H
#define HI_POOL_ROWS_H

#include "profile.h"

/* The label of the function that gave the block; its text is the name that the user gave. */
#define POOL_LABEL "pool_function"

/* The types that a .pb.gz has of them, and the type of blocks that each is shown as. */
#define POOL_TYPES 4u
extern const struct pool_type {
	const char *name, *unit;
	unsigned as; /* enum sample_type */
} pool_types[POOL_TYPES];

/* Whether most calls of the row's function made no sense, so that its figures would be none. */
bool pool_rows_is_senseless(const struct profile *profile, const struct profile_row *row);
/*
 * Makes the blocks of pools the rows of the profile, in place of those of allocators, and drops
 * what is known of these only. 0 or -ENOMEM.
 */
int pool_rows_show(struct profile *profile);

#endif
