/* SPDX-License-Identifier: MIT */
/*
 * page_policy.h - the Content-Security-Policy of the page of reports: the script and the style that
 * are part of this program, by their hashes, and nothing else. What an answer's process writes
 * besides, browsers do not run.
 */
#ifndef HI_SERVE_PAGE_POLICY_H
#define HI_SERVE_PAGE_POLICY_H

#include "must_check.h"

#define SERVE_POLICY_MAX 512u
#define SERVE_POLICY_BARE                                                          \
	"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; " \
	"frame-ancestors 'none'"

/* 0 or -ENOMEM. */
must_check int serve_page_policy(char policy[SERVE_POLICY_MAX]);

#endif
