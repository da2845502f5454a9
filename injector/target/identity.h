/* SPDX-License-Identifier: MIT */
/*
 * identity.h - for whom we act. Root's rights are for the target alone: files are written for who called us, and read for who may see what is in them.
 *
 * Under sudo the caller is the user who typed it. Nobody is ever given more than they have: an identity other than our own is only taken by root.
 */
#ifndef HI_IDENTITY_H
#define HI_IDENTITY_H

#include <stdbool.h>

#include "memory.h"

struct identity {
	uid_t uid;
	gid_t gid;
};

/* Who called: SUDO_UID and SUDO_GID, or the real user of a set-user-id program, where we are root; else ourselves. */
struct identity identity_of_caller(void);
/* Who may see what belongs to a process of that owner: the caller or, if that is root, the owner. */
struct identity identity_for_data_of(struct identity owner);
/* The same, but nobody (65534) instead of root: to run as. */
struct identity identity_to_run_as(struct identity identity);

/*
 * From begin to end this thread opens and creates files with the rights of `wanted` only, which matters if we are root. Rights over other processes stay. Where
 * that cannot be had, begin returns negative errno, and nothing has changed.
 */
#define IDENTITY_GROUPS_MAX 1024
struct identity_window {
	bool is_open;
	struct identity own;
	int group_count;
	gid_t group[IDENTITY_GROUPS_MAX];
};
must_check int identity_begin(struct identity wanted, struct identity_window *window);
void identity_end(const struct identity_window *window);

#endif
