/* SPDX-License-Identifier: MIT */
/*
 * push_messages.h - what the session and the process that pushes say to each other, over a socket
 * that keeps messages apart, and what the process begins with.
 */
#ifndef HI_PUSH_MESSAGES_H
#define HI_PUSH_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "hi_send.h"
#include "push_request.h"
#include "sandbox.h"

/* From the session. A snapshot has its descriptor, for reading, beside the message. */
enum push_message_kind { PUSH_SNAPSHOT = 1, PUSH_END };
struct push_message {
	uint32_t kind;
	uint64_t unix_ns; /* of a snapshot */
	uint64_t wait_ms; /* of the end: how long it may go on */
};

/* To the session: how far it is, each time that something has changed. */
struct push_state {
	int32_t err; /* of the first one: negative errno, and the process has ended */
	uint32_t sent;
	uint32_t lost_answers; /* after each the server may have a profile that is sent again */
	uint32_t refused;      /* by the server, for good */
	uint32_t partial;      /* taken by the server, but not wholly */
	uint32_t removed;      /* from the spool, as it was full */
	uint32_t failed;       /* not in the spool, as that could not be written */
	uint32_t waiting;
	uint32_t complaint; /* counts changes of the text; 0 = there was none */
	bool is_away;       /* the server does not take profiles at present */
	bool is_over;       /* the last message */
	char text[HI_SEND_TEXT_MAX];
	struct sandbox_state sandbox;
};

struct push_child {
	struct push_target target;
	struct identity user; /* to run as: who owns the spool */
	int socket, spool;    /* descriptors */
};

#endif
