/* SPDX-License-Identifier: MIT */
/*
 * suppressions.h - leaks that a program says are none, in the format of LeakSanitizer: heaptrack
 * copies what __lsan_default_suppressions() returns into its recordings.
 *
 *     leak:quiet_library.so
 *     leak:^Cache::*::fill$
 *
 * What is in use by a stack is left out if a function, a source file or the object of any of its
 * frames matches: anywhere, but for ^ at the beginning and $ at the end; * is any text.
 */
#ifndef HI_SUPPRESSIONS_H
#define HI_SUPPRESSIONS_H

#include "profile.h"

#define SUPPRESSIONS_MAX 256u

/* Zero-initialized = none. */
struct suppressions {
	char *pattern[SUPPRESSIONS_MAX];
	size_t count;
	bool with_shown_names; /* a function may also match by its name as it is shown */
};

/* Adds a line of such a file. False: too many, or none of its lines. Out of memory is ignored. */
bool suppressions_add(struct suppressions *suppressions, const char *line);
void suppressions_close(struct suppressions *suppressions);
bool suppressions_matches(const char *pattern, const char *text);
/* By frame: whether it matches. The caller frees it; NULL = out of memory. */
bool *suppressions_frames(const struct suppressions *suppressions, const struct profile *profile);
bool suppressions_has_stack(const bool *matches, const struct profile_stack *stack);
/* Leaves out what is in use, and adds it to meta.suppressed_bytes. 0 or -ENOMEM. */
int suppressions_apply(const struct suppressions *suppressions, struct profile *profile);

#endif
