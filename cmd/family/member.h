/* SPDX-License-Identifier: MIT */
/*
 * member.h - one process of a family, and its session, which is a process of its own: it writes the
 * answer for programs and its messages into files in memory.
 *
 * The session is in a process group of its own, so that a key at the terminal does not reach it
 * besides the signal that it is sent for that. That of a program which is started for the family
 * (`run --follow-fork`) is as of `run`: the program is its child, both are in the process group of
 * the command, and the program has the command's standard output and error.
 */
#ifndef HI_MEMBER_H
#define HI_MEMBER_H

#include <stdbool.h>

#include "children.h"
#include "processes_found.h"
#include "session.h"

enum member_state {
	MEMBER_WAITS, /* for its turn */
	MEMBER_RUNS,
	MEMBER_ENDED,
	/* it ended, or became another program, before its session began, or `why` */
	MEMBER_GONE,
};

struct member {
	struct process_found process; /* a program that is started: pid 0 = not yet */
	bool is_program;              /* it is started for the family */
	bool is_again;                /* it executed another program before it was attached to */
	struct program_mark mark;     /* of its program, where children are followed */
	pid_t parent;                 /* that has forked it meanwhile; 0 = it was given */
	const char *why;              /* it was not attached to; NULL = nobody has said */
	enum member_state state;
	pid_t session;
	int exit_code;         /* once it has ended */
	int killed_by;         /* the signal that has ended it; 0 = none */
	int answer_fd, log_fd; /* -1 = none */
	off_t shown;           /* how much of the log was looked at */
	bool has_begun;        /* it has attached, and that was noticed */
	bool is_over;          /* so was its end */
	bool has_left;         /* something in the process, as its receipt says */
	struct session_outcome *outcome;
};

#define FAMILY_WARNINGS 32u
#define MEMBER_LINE_MAX 1024u

/* Zero-initialized = none. */
struct members {
	struct member *member;
	size_t count, room;
	/* of children that were forked meanwhile, besides those that became members */
	bool are_followed, is_incomplete; /* incomplete: a look has failed */
	size_t ended, executed, closed, beyond;
	char warning[FAMILY_WARNINGS][MEMBER_LINE_MAX]; /* that one of them has had; "" = none */
};

void member_init(struct member *member, const struct process_found *process);
/* Starts the session. 0 or negative errno. A process that is no longer there is MEMBER_GONE. */
must_check int member_start(struct member *member, const struct session_options *options);
/* The same of a program that is started for it, after run_note_inherited(); argv: as of execvp. */
must_check int member_start_program(struct member *member, const struct session_options *options,
				    char **argv);
/* Takes note of the program's process once it was started. */
void member_meet_program(struct member *member);
/*
 * Takes note of the end of its session, if status is that. If the process executed a program
 * between the look at it and the attach, it waits for its turn once more, unless it has another
 * name since or is a child: what was meant is no longer there then.
 */
void member_end(struct member *member, int status);
/* The next line of its log that is whole, without its newline: false if there is none. */
bool member_next_line(struct member *member, char line[MEMBER_LINE_MAX]);
/* The answer for programs, which the caller frees; NULL = there is none. */
char *member_answer(const struct member *member);
/* Adds one, as the last. 0 or -ENOMEM. */
must_check int members_add(struct members *members, const struct process_found *process);
void members_close(struct members *members);

#endif
