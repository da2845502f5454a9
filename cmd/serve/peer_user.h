/* SPDX-License-Identifier: MIT */
/* peer_user.h - who has the other end of a TCP connection. */
#ifndef HI_SERVE_PEER_USER_H
#define HI_SERVE_PEER_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "must_check.h"

/*
 * Asks the kernel for the socket at the other end. -ENOENT: no process has it, or no longer;
 * another negative errno: the kernel does not say. In both cases nobody is known.
 */
must_check int peer_user(int connection, uid_t *out_uid);

/*
 * Has the other end been closed? One that only sends no more (shutdown(2), `nc -N`) still waits for
 * an answer. Of another machine both look the same, and it is not gone before it says so.
 */
bool peer_is_gone(int connection);

#endif
