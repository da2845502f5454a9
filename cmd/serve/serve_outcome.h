/* SPDX-License-Identifier: MIT */
/* serve_outcome.h - what has become of an answer: the exit code of the process that made it. */
#ifndef HI_SERVE_OUTCOME_H
#define HI_SERVE_OUTCOME_H

enum serve_outcome {
	SERVE_ANSWERED,
	SERVE_FAILED,
	SERVE_NO_SESSION,       /* of that pid, or any; or no such process */
	SERVE_SEVERAL_SESSIONS, /* and none is named */
	SERVE_REFUSED,          /* attach, detach or an inspection did not succeed */
};

#endif
