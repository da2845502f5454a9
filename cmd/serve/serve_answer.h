/* SPDX-License-Identifier: MIT */
/*
 * serve_answer.h - makes one answer, in a process that is there for it alone (jobs.h): it asks the
 * session with the rights of the command, and gives them up before it reads the profile.
 */
#ifndef HI_SERVE_ANSWER_H
#define HI_SERVE_ANSWER_H

#include "call_addresses.h"
#include "route.h"
#include "serve_options.h"
#include "serve_outcome.h"

struct serve_question {
	const struct serve_options *options;
	struct serve_route route;
	unsigned seconds;        /* 0 = the profile as it is; else what changes within so long */
	const char *sample_type; /* the option of report; NULL = what the page has */
	bool is_text;            /* the list or an inspection is wanted as text */
	bool is_watched;         /* a look is for those who watch, too */
	int view_fd, base_fd;    /* kept profiles; -1 = that of the session, or none */
	struct call_addresses calls;
};

/* With how many there are: what a path without a pid is answered then. */
#define SERVE_SAYS_SEVERAL                                           \
	"heapinject: %zu sessions are running; begin the path with " \
	"/pid/PID\n"

struct serve_outputs {
	int answer_fd;
	int complaint_fd; /* what is wrong */
	int profile_fd;   /* of a look: the profile as it is; else -1 */
};

/* What the answer to SERVE_LOOK begins with; if it is watched, JSON follows (live_event.h). */
struct serve_look_head {
	/* which session it is: the process that runs it, and how long it has */
	uint64_t injector, elapsed_ns;
};

/* Closes all other descriptors. */
_Noreturn void serve_answer(const struct serve_question *question,
			    const struct serve_outputs *outputs);

#endif
