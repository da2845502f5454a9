/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/family/: sessions of several processes at a time, one for each, and what they have seen
 * together.
 *
 *   family.h         all of them, from the first attach to the last detach: start here
 *   member.h         one process, and the process of its session
 *   family_follow.h  has what they fork become members: children.h by the lists of /proc,
 *                    descendants.h those that have another parent
 *   family_signals.h, family_say.h
 *                    signals and messages meanwhile
 *   family_state.h, family_options.h
 *                    what these files share
 *   family_print.h   what they come to: a table, and one report of all; answer_fields.h: what
 *                    that needs of each answer
 *
 * A session knows of no other. The process that starts them and waits for them has nothing of a
 * target open. Uses cmd/session/, cmd/choice/ and of the injector what reads /proc and knows an
 * arena by its mappings; of the analyzer it uses only hi_analyzer.h.
 */

/* family.h - `attach --all` and `--follow-fork`, `run --follow-fork`: sessions of several
 * processes. */
#ifndef HI_FAMILY_H
#define HI_FAMILY_H

#include "family_options.h"

/*
 * Attaches to all, waits for the ends of the sessions, and prints what they come to. SIGINT,
 * SIGTERM, SIGHUP and SIGQUIT end all of them. Returns an exit code of hi_exit.h; if a program was
 * started for it, that is as of run_program().
 */
int family_run(const struct family_options *options);

#endif
