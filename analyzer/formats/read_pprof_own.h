/* SPDX-License-Identifier: MIT */
/*
 * read_pprof_own.h - what pprof.c has written: the comments that say where a profile comes from, and estimates, which it has made of samples and which can be
 * turned into these again. So a .pb.gz of ours tells intervals as its .heap does.
 */
#ifndef HI_READ_PPROF_OWN_H
#define HI_READ_PPROF_OWN_H

#include "profile.h"

/* A comment of the file: what it says, if it is one of ours, goes into meta. What cannot be had for want of memory is left out. */
void pprof_own_comment(const char *text, struct profile_meta *meta);
/* With which to key the rows: the rate at which all samples were drawn, if that is known, else 1. */
uint64_t pprof_own_interval(const struct profile_meta *meta);
/* Rows with an interval above 1 hold estimates, and so do their parts: now they hold samples. row_size: by row, bytes of each of its blocks; 0 = unknown. */
void pprof_own_take_back(struct profile *profile, const uint64_t *row_size);

#endif
