/* SPDX-License-Identifier: MIT */
/* family_follow.h - has what the processes of a family fork become members of it. */
#ifndef HI_FAMILY_FOLLOW_H
#define HI_FAMILY_FOLLOW_H

#include "family_state.h"
#include "must_check.h"

/*
 * What is there already is not followed. Nothing without --follow-fork. 0 or negative errno, which
 * was printed.
 */
must_check int family_follow_begin(struct family *family);
/* One look. */
void family_follow(struct family *family);

#endif
