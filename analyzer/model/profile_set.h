/* SPDX-License-Identifier: MIT */
/*
 * profile_set.h - some profiles side by side, each with the name of its file: what a page shows one
 * by one, and compares. Zero-initialized = empty.
 */
#ifndef HI_PROFILE_SET_H
#define HI_PROFILE_SET_H

#include "profile.h"

#define PROFILE_SET_MAX 20u

struct profile_set {
	struct profile profile[PROFILE_SET_MAX];
	char *file[PROFILE_SET_MAX]; /* what each is called */
	size_t count;
	size_t seen, total; /* how many were offered, and how many will be; set `total` before */
};

/*
 * Offers the next profile. If there are more than PROFILE_SET_MAX, only that many are copied,
 * evenly chosen, the last one among them. 0 or -ENOMEM.
 */
int profile_set_add(struct profile_set *set, const struct profile *profile, const char *name);
void profile_set_close(struct profile_set *set);

#endif
