/* SPDX-License-Identifier: MIT */
/* steer.h - attach and detach for the live page. */
#ifndef HI_SERVE_STEER_H
#define HI_SERVE_STEER_H

#include <stdbool.h>

#include "serve_options.h"

/*
 * Detaches from the process, or attaches to it: in a process of its own, with the rights of the
 * command, which may begin a session that outlives it. What is said goes to answer_fd, and, if it
 * does not succeed, to complaint_fd. Returns whether it does.
 */
bool steer(const struct serve_options *options, pid_t pid, bool is_detach, int answer_fd,
	   int complaint_fd);

#endif
