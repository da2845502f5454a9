/* SPDX-License-Identifier: MIT */
/* peer_user.h - whose process has the other end of a TCP connection within this machine. */
#ifndef HI_SERVE_PEER_USER_H
#define HI_SERVE_PEER_USER_H

#include <sys/types.h>

#include "must_check.h"

/*
 * Asks the kernel for the socket at the other end. -ENOENT: no process has it, or no longer;
 * another negative errno: the kernel does not say. In both cases nobody is known.
 */
must_check int peer_user(int connection, uid_t *out_uid);

#endif
