/* SPDX-License-Identifier: MIT */
/*
 * viewer.h - the screen of one session: what viewer.c does at keys and as time passes,
 * viewer_requests.c has other processes do, and viewer_draw.c draws.
 */
#ifndef HI_TOP_VIEWER_H
#define HI_TOP_VIEWER_H

#include "events.h"
#include "glance.h"
#include "order.h"
#include "page.h"
#include "processes.h"

enum viewer_phase {
	VIEWER_JOINS,  /* the first look is on its way */
	VIEWER_OFFERS, /* there is no session: begin one? */
	VIEWER_BEGINS, /* attaching */
	VIEWER_LIVE,
	VIEWER_OVER, /* the session has ended, or cannot be looked at */
};

enum viewer_question { ASKS_NOTHING, ASKS_PAUSE, ASKS_DETACH, ASKS_LEAVE };
enum viewer_request { REQUEST_NONE, REQUEST_DUMP, REQUEST_PAUSE, REQUEST_DETACH, REQUEST_BEGIN };

#define VIEWER_MESSAGE_MAX 1024

struct viewer {
	pid_t pid;
	int (*attach)(pid_t pid); /* begins a session, as `attach --detached` */
	enum viewer_phase phase;
	bool is_begun; /* top began the session, and it goes on */
	struct glance glance;
	struct job glance_job, request_job;
	enum viewer_request request;           /* that request_job does */
	uint64_t began_ns, looked_ns, next_ns; /* the look: its begin, its end, the next one */
	struct process memory;
	struct order order;
	size_t *index; /* of the rows that are shown */
	size_t shown, chosen, first;
	bool shows_source, is_typing;
	enum viewer_question question;
	char message[VIEWER_MESSAGE_MAX]; /* lines */
	struct page page;
	char *receipt; /* of the detach; NULL = there was none */
};

/*
 * Watches the process until the user leaves. True: back to where they came from; false: the end of
 * the program. The caller closes it in either case.
 */
bool viewer_run(struct viewer *viewer, struct events *events);
void viewer_close(struct viewer *viewer);
/* Draws all of it. now_ns: of the clock of the times above. */
void viewer_draw(struct viewer *viewer, uint64_t now_ns);
/* Says something at the bottom, in one or more lines. */
void viewer_say(struct viewer *viewer, const char *text);
/* A process takes a look at the session. now_ns: of the clock of the times above. */
void viewer_begin_look(struct viewer *viewer, uint64_t now_ns);
/* It has ended. True: there are other rows. */
bool viewer_end_look(struct viewer *viewer, uint64_t now_ns);
/* The same for what a user asks of the session. */
void viewer_begin_request(struct viewer *viewer, enum viewer_request request);
void viewer_end_request(struct viewer *viewer, uint64_t now_ns);
/* How many rows of the table fit; at least one. */
size_t viewer_height(const struct viewer *viewer);

#endif
