/* SPDX-License-Identifier: MIT */
/* report_url.h - a profile for a report that a server has. What is wrong is printed here. */
#ifndef HI_REPORT_URL_H
#define HI_REPORT_URL_H

#include "profile.h"
#include "report_options.h"

/*
 * Fetches a profile, reads it as a file would be, and adds what else its server knows. argument: as
 * of remote_argument_is(). profile: open and empty. 0 or negative errno.
 */
int report_url_load(const struct report_options *options, const char *argument,
		    struct profile *profile);

#endif
