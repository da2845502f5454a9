/* SPDX-License-Identifier: MIT */
/*
 * kept_profiles.h - the newest profiles of a session, in sealed memory, by the time at which they
 * were taken.
 */
#ifndef HI_SERVE_KEPT_PROFILES_H
#define HI_SERVE_KEPT_PROFILES_H

#include <stddef.h>
#include <stdint.h>

#define KEPT_PROFILES_MAX 32u
#define KEPT_PROFILE_BYTES_MAX (UINT64_C(32) << 20) /* a larger one is not kept */

struct kept_profile {
	uint64_t time; /* Unix time in seconds, also its name: no two have the same */
	uint64_t bytes;
	int fd;
};

struct kept_profiles {                                  /* zeroed: none */
	struct kept_profile profile[KEPT_PROFILES_MAX]; /* the oldest first */
	size_t count;
	uint64_t bytes;
};

/* Takes the descriptor over, in the place of the oldest one if there are as many as there may be.
 */
void kept_profiles_add(struct kept_profiles *kept, uint64_t time, int fd, uint64_t bytes);
/* NULL: it is not there any more, or never was. */
const struct kept_profile *kept_profiles_find(const struct kept_profiles *kept, uint64_t time);
/* There has to be one. */
void kept_profiles_drop_oldest(struct kept_profiles *kept);
void kept_profiles_drop_all(struct kept_profiles *kept);

#endif
