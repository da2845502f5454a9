/* SPDX-License-Identifier: MIT */
/* report_limit.h - report --fail-above: is what is shown above the limit? */
#ifndef HI_REPORT_LIMIT_H
#define HI_REPORT_LIMIT_H

#include "profile.h"
#include "report_options.h"

/*
 * Prints the answer unless all is well. Returns an exit code of hi_exit.h: HI_EXIT_OK without a
 * limit or below it, HI_EXIT_ABOVE, HI_EXIT_UNSURE if caveats withhold the answer, HI_EXIT_FAILED.
 */
int report_check_limit(const struct report_options *options, const struct profile *profile);

#endif
