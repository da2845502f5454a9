/* SPDX-License-Identifier: MIT */
/*
 * page_policy.h - the Content-Security-Policy of each kind of answer: of a page the script and the
 * style that are part of this program, by their hashes, and nothing else. What an answer's process
 * writes besides, browsers do not run. The live page alone asks for more, of us, and has an answer
 * in a frame.
 */
#ifndef HI_SERVE_PAGE_POLICY_H
#define HI_SERVE_PAGE_POLICY_H

#include "must_check.h"

#define SERVE_POLICY_MAX 512u
#define SERVE_POLICY_OTHERS \
	"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
#define SERVE_POLICY_BARE SERVE_POLICY_OTHERS "frame-ancestors 'self'"

struct serve_policies {
	char report[SERVE_POLICY_MAX];
	char live[SERVE_POLICY_MAX];
};

/* 0 or -ENOMEM. */
must_check int serve_policies_make(struct serve_policies *out_policies);

#endif
