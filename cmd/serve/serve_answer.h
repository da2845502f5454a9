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

struct serve_question {
	const struct serve_options *options;
	struct serve_route route;
	unsigned seconds; /* 0 = the profile as it is; else what changes within so long */
	bool is_text;     /* the list is wanted as text */
	struct call_addresses calls;
};

/* The exit codes of the process. */
enum serve_outcome {
	SERVE_ANSWERED,
	SERVE_FAILED,
	SERVE_NO_SESSION,       /* of that pid, or any */
	SERVE_SEVERAL_SESSIONS, /* and none is named */
};

/*
 * Writes the answer to answer_fd, or what is wrong to complaint_fd. All other descriptors are
 * closed.
 */
_Noreturn void serve_answer(const struct serve_question *question, int answer_fd, int complaint_fd);

#endif
