/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - takes everything from a process but what it needs to turn bytes into other bytes.
 *
 * The analyzer child reads what a target has written, and ELF and DWARF that a target has chosen. So it has no privilege, no way to open a file or to reach
 * another process, bounded memory: only the descriptors that it is given. What a kernel or a container does not offer is left out, but never so much that the
 * data of others would be read as root with files within reach.
 */
#ifndef HI_SANDBOX_H
#define HI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "identity.h"

struct sandbox_state {
	bool is_user;    /* all ids are those that were wanted */
	bool has_filter; /* of system calls */
};

/* Of all descriptors only these stay, moved to 3, 4, ... in this order; negative ones have no number. 0, 1 and 2 lead to /dev/null. */
must_check int sandbox_keep(int *const fds[], size_t count);
/*
 * For good: ids, groups, capabilities, new privileges, limits, system calls. ask_fd: the one socket on which messages may be sent. -EPERM: too little could be
 * had; do not go on.
 */
must_check int sandbox_enter(struct identity user, int ask_fd, struct sandbox_state *out_state);

#endif
