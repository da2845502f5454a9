/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/family/: sessions of several processes at a time, one for each, and what they have seen
 * together.
 *
 *   family.h        all of them, from the first attach to the last detach: start here
 *   member.h        one process, and the process of its session
 *   children.h      processes that they fork meanwhile
 *   family_print.h  what they come to: a table, and one report of all; answer_fields.h: what
 *                   that needs of each answer
 *
 * A session knows of no other. The process that starts them and waits for them has nothing of a
 * target open. Uses cmd/session/ and cmd/choice/; of the analyzer it uses only hi_analyzer.h.
 */

/* family.h - `attach --all` and `--follow-fork`: sessions of several processes. */
#ifndef HI_FAMILY_H
#define HI_FAMILY_H

#include <stdbool.h>

#include "processes_found.h"
#include "session.h"

struct family_options {
	const struct session_options *session; /* of each; its pid is not used */
	const struct processes_found *found;
	bool follows_fork;
	size_t children_max; /* that have sessions at a time */
};

/*
 * Attaches to all, waits for the ends of the sessions, and prints what they come to. SIGINT,
 * SIGTERM, SIGHUP and SIGQUIT end all of them. Returns an exit code of hi_exit.h.
 */
int family_run(const struct family_options *options);

#endif
