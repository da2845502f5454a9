/* SPDX-License-Identifier: MIT */
/* refused.h - why a process cannot be looked at. */
#ifndef HI_REFUSED_H
#define HI_REFUSED_H

#include <sys/types.h>

/*
 * Prints why: whatever forbids to attach forbids to read. err: a negative errno of opening or
 * reading it. Returns an exit code.
 */
int refused_print(pid_t pid, int err);
/* The same for a process that was to be stopped; err, why: of frozen_take(). */
int refused_freeze(pid_t pid, int err, const char *why);

#endif
