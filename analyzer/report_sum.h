/* SPDX-License-Identifier: MIT */
/*
 * report_sum.h - the profile of several files: added up, and compared with those of the base. What
 * is wrong is printed here.
 */
#ifndef HI_REPORT_SUM_H
#define HI_REPORT_SUM_H

#include "profile.h"
#include "report_options.h"
#include "series.h"

/*
 * Adds all files of the options to the profile, which is open and empty. Snapshots of one session
 * have each what the one before has, so only the last one of each session is added, unless the
 * options ask for a sum (--sum). meta.sources says what was done. series: NULL, or empty: gets each
 * file of the new side, filtered, as the set of the options does. 0 or negative errno; -EINVAL: the
 * files cannot be compared, which was printed with the remedy.
 */
int report_sum(const struct report_options *options, struct series *series,
	       struct profile *profile);

#endif
