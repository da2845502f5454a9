/* SPDX-License-Identifier: MIT */
/*
 * read_pprof_own.h - reads back what pprof.c has written: the comments that say where a profile
 * comes from, and the estimates, which are turned back into the samples that they were made of. So
 * a .pb.gz of heapinject has intervals as its .heap has.
 */
#ifndef HI_READ_PPROF_OWN_H
#define HI_READ_PPROF_OWN_H

#include "profile.h"

/*
 * Reads a comment of the file into meta, if heapinject wrote it. What there is no memory for is
 * left out.
 */
void pprof_own_comment(const char *text, struct profile_meta *meta);
/*
 * Of a file by heapinject: takes the inodes of modules, which are known now, from a comment that
 * has them.
 */
void pprof_own_inodes(const char *text, struct profile *profile);
/*
 * The interval for the keys of the rows: the interval at which all samples were drawn, if that is
 * known, else 1.
 */
uint64_t pprof_own_interval(const struct profile_meta *meta);
/*
 * Turns the estimates in rows with an interval above 1, and in their parts, back into samples.
 * row_size: by row, bytes of each of its blocks; 0 = unknown.
 */
void pprof_own_take_back(struct profile *profile, const uint64_t *row_size);

#endif
