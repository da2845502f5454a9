/* SPDX-License-Identifier: MIT */
/*
 * report_load.h - the profile that a report is of: of one file, of several added up, compared with
 * others, or a series of them. What is wrong is printed here.
 */
#ifndef HI_REPORT_LOAD_H
#define HI_REPORT_LOAD_H

#include "profile.h"
#include "report_options.h"
#include "series.h"

/*
 * Loads all files of the options: for --growth into the series, each filtered by itself, with their
 * caveats in the profile; otherwise into the profile, unfiltered. Both are open and empty. Opens
 * the progress bar, which the caller closes. 0 or negative errno.
 */
int report_load(const struct report_options *options, struct series *series,
		struct profile *profile);
/*
 * Whether the profile has the type that the options ask for; if not, says why, of this file (NULL =
 * of all). 0 or -ENODATA.
 */
int report_check_type(const struct report_options *options, const char *file,
		      const struct profile *profile);
/*
 * Replaces the profile with the part that passes the filters. 0, or negative errno: the profile is
 * still open.
 */
int report_filter(const struct report_options *options, struct profile *profile);

#endif
