/* SPDX-License-Identifier: MIT */
/*
 * refusal.h - why an attach did not come about, for whoever asked for it: what failed, and what to do.
 */
#ifndef HI_REFUSAL_H
#define HI_REFUSAL_H

#include "attachment.h"
#include "preflight.h"

/* Says what the error of attachment_open or attach means, in one line on standard error. What to exit with: HI_EXIT_REFUSED, HI_EXIT_FAILED. */
int refusal_explain(const struct preflight *preflight, const struct attachment *attachment, enum hi_loader loader, int err);

#endif
