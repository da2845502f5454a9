/* SPDX-License-Identifier: MIT */
/* refusal.h - tells the user why an attach failed, and what to do. */
#ifndef HI_REFUSAL_H
#define HI_REFUSAL_H

#include "attachment.h"
#include "preflight.h"

/*
 * Explains an error of attachment_open or attach in one line on standard error. Returns the exit
 * code: HI_EXIT_REFUSED or HI_EXIT_FAILED.
 */
int refusal_explain(const struct preflight *preflight, const struct attachment *attachment,
		    enum hi_loader loader, int err);

#endif
