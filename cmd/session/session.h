/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/session/: a session from its user's point of view, from attach or run to detach.
 *
 *   session.h            attach, dump, detach: start here (session_attach.c, session_ask.c,
 *                        session_detach.c, session_status.c, session_request.h,
 *                        session_list.h, session_profile.h)
 *   session_begin.h, session_loop.h, session_end.h
 *                        the parts of an attach; session_state.h is what they share
 *   triggers.h, session_triggers.h
 *                        what makes a session write a profile before its end
 *   limit_watch.h, session_limit.h
 *                        the same by a limit of memory
 *   guard.h              sessions that begin before a process is killed for its memory;
 *                        guard_place.h: where guard itself is
 *   session_detached.h   a session that the command does not wait for
 *   session_signals.h    what SIGINT and the like do to a session
 *   named_signatures.h   functions of pools that are named: where they are, and their types, which
 *                        named_check.h judges
 *   run.h                a session of a program that is started for it; run_child.h: that program;
 *                        run_signals.h: its signals; session_leaks.h: what it leaked
 *   session_list.h       the sessions that are running
 *   heap_looks.h         looks at the allocators' own figures while a session goes on
 *   control_socket.h     how another process sends requests to a session (control_place.h: where
 *                        that is; control_clients.h: those that have not sent one yet;
 *                        control_descriptor.h: memory as an answer);
 *                        session_control.h serves them, status_fields.h and status_print.h are
 *                        its status
 *   progress.h, stats.h, overhead.h
 *                        messages during a session, and the cost of sampling
 *
 * Uses the injector, cmd/output/, cmd/push/ and cmd/choice/; of the analyzer it uses only
 * hi_analyzer.h.
 */

/*
 * session.h - `heapinject attach`, `dump` and `detach` from the user's side: the messages, the
 * files, and a clean detach whatever ends the session.
 */
#ifndef HI_SESSION_H
#define HI_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hi_allocator_names.h"
#include "hi_wire.h"
#include "named_function.h"
#include "processes_found.h"
#include "push_options.h"
#include "triggers.h"

struct run_child;

/* How a session went, for a process that has begun it and waits for it. */
struct session_outcome {
	bool is_over;  /* it had begun, and has ended in good order */
	bool may_come; /* the process has exited, or replaced its program: others may follow it */
	/* while it goes on */
	bool is_attached, is_growing;
	/* inode of the memory file that the process has for the session, and forked children with
	 * it; 0 = it was not attached yet */
	uint64_t memory_file;
	/* of `run`: the program, once it was started, and how both ended, once it has ended */
	pid_t program;
	bool has_exited;
	int program_exit, session_exit;
	uint64_t begun_size; /* of what it has said on standard error until it was attached */
	bool is_ending;      /* a signal from now on ends it before it has written its files */
	uint64_t samples, dropped, live_bytes;
	int64_t slope; /* bytes per second, if it is growing */
	/* of the profile of the end; "" = there is none */
	char heap_path[PATH_MAX], pprof_path[PATH_MAX];
};

struct session_options {
	pid_t pid;
	struct run_child
		*run; /* pid was started for this session (run_child.h); NULL = it was not */
	uint64_t duration_ns; /* 0 = until stopped */
	/* mean bytes between samples; 1 = every allocation; with a budget it is the finest */
	uint64_t interval;
	uint32_t interval_shift; /* with a budget: the session begins with interval << this */
	/* share of the target's CPU time that the payload may use, in millionths; 0 = no limit */
	uint32_t budget_ppm;
	uint64_t live_max; /* number of live samples to have room for; 0 = what fits the interval */
	struct trigger_options triggers; /* of dumps; none = only the profile at the end */
	size_t keep;                     /* how many dumps to keep, the newest; 0 = all */
	const char *prefix; /* of the file names; "-" = the record stream goes to standard output */
	/* the record stream goes into this new file, and there are no others; NULL = it does not */
	const char *stream_path;
	enum hi_loader loader;
	enum hi_hook hook;
	struct hi_prefixes prefixes;  /* of allocators, besides those that are known */
	struct named_functions named; /* of pools and arenas, hooked as well */
	struct push_options push;     /* each profile also goes to a server */
	bool json; /* the answer goes to standard output, as JSON; all else to standard error */
	bool until_sure;    /* the session ends as soon as it is firm that something grows */
	bool fail_if_grows; /* HI_EXIT_ABOVE if something grows, HI_EXIT_UNSURE if that is not known
			     */
	/* run: HI_EXIT_LEAKS if blocks are leaked at the exit, and HI_EXIT_UNSURE as above */
	bool finds_leaks;
	const char *suppressions; /* lines that say what is no leak; NULL = none */
	bool has_mappings;        /* functions that map are hooked, too */
	bool has_probes;          /* each sample also passes a probe, for other tools */
	bool detached;            /* the command returns once the process is attached to */
	/* the process of the family (cmd/family/) that it belongs to, which shows how it goes and
	 * without which it ends; 0 = none */
	pid_t family;
	bool quiet, verbose;
	bool holds_memory; /* of injector and analyzer, so that they go on when there is none left
			    */
	/* may be memory that processes share; NULL = nobody wants to know */
	struct session_outcome *outcome;
};

static inline bool session_names_functions(const struct session_options *options)
{
	return options->named.alloc_count + options->named.free_count != 0;
}

/* One of several processes that are asked the same. */
struct session_one {
	const char *title; /* a line that comes before its answer; NULL = none */
	/* set if nothing of heapinject is in it: that is no failure, and nothing is printed */
	bool has_none;
};

/*
 * They print their own messages and return an exit code of hi_exit.h. one: NULL = it is the only
 * process, and to have no session is a failure.
 */
int session_attach(const struct session_options *options);
/* A request whose answer is shown: "dump", "pause", "resume", "reset", "rate 4096". */
int session_ask(pid_t pid, const char *request, struct session_one *one);
/* The profile as it is now goes to standard output, as a .heap file, and into no other file. */
int session_show(pid_t pid);
int session_detach(pid_t pid, struct session_one *one);
/* pid: 0 = all sessions that the caller may ask */
int session_status(pid_t pid, bool json);
/* Those of them that have a session. */
int session_status_of(const struct processes_found *found, bool json);

#endif
