/* SPDX-License-Identifier: MIT */
/*
 * residency.h - how it is said that a profile does not know which of its bytes are resident: in
 * files, which are read back, and to the user.
 */
#ifndef HI_RESIDENCY_H
#define HI_RESIDENCY_H

#include "profile.h"

/* A sentence without an end; NULL: it is known, or nobody has looked. */
const char *residency_text(enum profile_residency residency);
/* What the text of residency_text() stands for; UNKNOWN: it is another one. */
enum profile_residency residency_of(const char *text);

#endif
