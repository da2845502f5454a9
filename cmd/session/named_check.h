/* SPDX-License-Identifier: MIT */
/*
 * named_check.h - whether a function of a pool can be what the user has named it, by the types of
 * its parameters. Arithmetic over a signature; who reads that is named_signatures.h.
 */
#ifndef HI_NAMED_CHECK_H
#define HI_NAMED_CHECK_H

#include "hi_signature.h"
#include "named_function.h"

#define NAMED_CHECK_TEXT_MAX 640u

enum named_check {
	NAMED_CHECK_GOOD,
	NAMED_CHECK_WRONG,   /* out_why says why, without a newline */
	NAMED_CHECK_UNKNOWN, /* not all of the types are known */
};

/* If it is good, it also sets what the types say: size_is_int, count_is_int, size_is_known. */
enum named_check named_check(struct named_function *function, const struct hi_signature *signature,
			     char out_why[NAMED_CHECK_TEXT_MAX]);

#endif
