/* SPDX-License-Identifier: MIT */
/*
 * identity.h - the user for whom the injector acts. Root's rights serve only to access the target:
 * output files are written as the user who called the injector, and input files are read as the
 * user who may see the target's data.
 *
 * Under sudo the caller is the user who typed the command. No user gains rights: only root takes an
 * identity other than its own.
 */
#ifndef HI_IDENTITY_H
#define HI_IDENTITY_H

#include <stdbool.h>

#include "memory.h"

struct identity {
	uid_t uid;
	gid_t gid;
};

/*
 * The calling user. If the injector runs as root: SUDO_UID and SUDO_GID, or the real user of a
 * set-user-id program. Otherwise the injector's own user.
 */
struct identity identity_of_caller(void);
/*
 * The user who may see the data of a process of that owner: the caller or, if the caller is root,
 * the owner.
 */
struct identity identity_for_data_of(struct identity owner);
/* The identity to run as: the same, with nobody (65534) in place of root. */
struct identity identity_to_run_as(struct identity identity);

/*
 * Between begin and end the calling thread opens and creates files with only the rights of
 * `wanted`; this matters if the injector is root. Its rights over other processes stay. If the
 * rights cannot be changed, begin returns a negative errno and has changed nothing.
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
