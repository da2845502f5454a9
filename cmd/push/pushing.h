/* SPDX-License-Identifier: MIT */
/* pushing.h - what the two threads of the process that pushes have in common. */
#ifndef HI_PUSHING_H
#define HI_PUSHING_H

#include <pthread.h>

#include "backoff.h"
#include "push_messages.h"

struct pushing {
	struct push_child *child;
	struct spool spool;
	char url[PUSH_URL_MAX];
	struct push_headers headers;
	/* of the first thread */
	struct backoff backoff;
	uint64_t next_ns;  /* no attempt before that */
	uint64_t asked_ns; /* nor before that, by the server's wish */
	bool has_hurried;  /* at the end of the session */
	/* the lock protects all below */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct push_state state;
	bool has_new;    /* something came into the spool */
	bool is_ending;  /* the session is over */
	uint64_t end_ns; /* when to stop */
};

/* Both want the lock. pushing_tell() never waits: what the session misses is in the next message.
 */
void pushing_tell(struct pushing *pushing);
void pushing_complain(struct pushing *pushing, const char *text);

#endif
