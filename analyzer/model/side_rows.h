/* SPDX-License-Identifier: MIT */
/* side_rows.h - rows that a profile has beside those of blocks: of mappings, of pools. */
#ifndef HI_SIDE_ROWS_H
#define HI_SIDE_ROWS_H

#include "profile.h"

/*
 * Makes these the rows of the profile, in place of those of blocks, and drops what is known of
 * blocks only. Frees row, which must not be the profile's any more. 0 or -ENOMEM.
 */
int side_rows_show(struct profile *profile, struct profile_row *row, size_t count);

#endif
