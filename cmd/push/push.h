/* SPDX-License-Identifier: MIT */
/*
 * Room push/: profiles to a server of profiles. push.h is the session's side, and where to start;
 * push_child.h is the process that speaks to the server, as the session has rights that no code
 * that reads a network may have. push_options.h is what the user asks for, push_request.h and
 * push_otlp.h the protocols, pprof_time.h the time by which servers know a profile, gzip.h how both
 * are packed, spool.h what waits on the disk, backoff.h for how long. Uses cmd/output/ for the
 * sandbox, and of the analyzer only hi_send.h and hi_otlp.h.
 */

/*
 * push.h - hands a session's profiles to the process that pushes them. No function here waits for
 * the server, but for push_finish(), when the target is detached.
 */
#ifndef HI_PUSH_H
#define HI_PUSH_H

#include <stdbool.h>

#include "push_child.h"

struct push {
	pid_t pid; /* 0 = nothing is pushed */
	int socket;
	bool is_over;            /* the process ends, or has ended */
	bool has_said_end;       /* and that was said */
	bool was_away;           /* as was said last */
	uint32_t said;           /* the complaint that was said last */
	uint32_t handed, lost;   /* profiles; lost: the process was not there to take them */
	struct push_state state; /* the newest */
	const struct push_options *options;
	struct identity user;      /* whom the process runs as: who owns the spool */
	char spool_path[PATH_MAX]; /* for messages */
};

struct push_origin {
	const char *service; /* the program's name */
	const char *host;
	pid_t pid;
	const char *prefix; /* of the session's files: the spool is in their directory */
};

/*
 * Starts the process; to be called before the target is opened. Prints why if it cannot, and
 * returns an exit code of hi_exit.h. options: must live as long as the push; without a URL nothing
 * happens, then and in all that follows.
 */
must_check int push_start(struct push *push, const struct push_options *options,
			  const struct push_origin *origin);
/* The clock of snapshots. */
uint64_t push_now_unix_ns(void);
/* -v */
void push_describe(const struct push *push);
/* fd: of a .pb.gz, open for reading; it is closed. unix_ns: when its figures were taken. */
void push_hand_over(struct push *push, int fd, uint64_t unix_ns);
/*
 * Looks for news. True: *text is a line for the user, who has not heard it; call it again for the
 * next one.
 */
#define PUSH_LINE_MAX (PATH_MAX + 512)
bool push_look(struct push *push, char text[PUSH_LINE_MAX]);
/*
 * Waits until all is sent, as long as the options say, prints what came of it unless quiet, and
 * ends the process. waits: false = nothing was pushed that matters.
 */
void push_finish(struct push *push, bool waits, bool quiet);

#endif
