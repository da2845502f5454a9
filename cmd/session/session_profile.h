/* SPDX-License-Identifier: MIT */
/*
 * session_profile.h - gets the profile of a running session, as it is now: a .heap file in memory,
 * of which the session keeps nothing, and which no number or trigger of its files depends on.
 */
#ifndef HI_SESSION_PROFILE_H
#define HI_SESSION_PROFILE_H

#include "preflight.h"

/*
 * Asks the session of pid. Returns an exit code of hi_exit.h: with HI_EXIT_OK the caller closes
 * *out_fd, which is at its beginning and cannot be written; otherwise an error was printed. Or
 * SESSION_NO_ANSWER, as session_request() does. What is in the memory may be another user's.
 */
must_check int session_profile(pid_t pid, int *out_fd, struct preflight *out_preflight);
/*
 * The same of the sampled blocks that are live, with their stacks: hi_block.h. They may be another
 * user's, too.
 */
must_check int session_blocks(pid_t pid, int *out_fd, struct preflight *out_preflight);

#endif
