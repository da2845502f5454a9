/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - takes from a process all rights that it does not need to turn bytes into other bytes.
 *
 * The analyzer child reads data that a target has written, and ELF and DWARF that a target has
 * chosen. So it has no privilege, no way to open a file or to reach another process, and bounded
 * memory. It has only the descriptors that it is given. Measures that a kernel or a container does
 * not support are left out. But if so much is missing that the child would read the data of other
 * users as root with files within reach, sandbox_enter fails.
 */
#ifndef HI_SANDBOX_H
#define HI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "identity.h"

struct sandbox_state {
	bool is_user;      /* all user ids are those of the wanted user */
	bool has_filter;   /* the system call filter is active */
	bool has_landlock; /* no other files than those that it was given are within reach */
};

/*
 * Closes all descriptors except these, which are moved to 3, 4, ... in this order; negative ones
 * get no number. 0, 1 and 2 then lead to /dev/null.
 */
must_check int sandbox_keep(int *const fds[], size_t count);
/*
 * Changes, irrevocably: ids, groups, capabilities, no_new_privs, limits, system call filter.
 * ask_fd: the only socket on which messages may be sent. -EPERM: too few of the measures were
 * possible; the process must not continue.
 */
must_check int sandbox_enter(struct identity user, int ask_fd, struct sandbox_state *out_state);
/*
 * The same for a process that speaks to servers: it keeps the calls that this takes, may read the
 * files and directories of `readable`, whose last is NULL (landlock.h), and create and remove files
 * in the directory `writable`, which is open. -EPERM: also where it would be root, or have the
 * rights of another user than the wanted one, and the kernel has no Landlock.
 */
must_check int sandbox_enter_network(struct identity user, const char *const *readable,
				     int writable, struct sandbox_state *out_state);

#endif
