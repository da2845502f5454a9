/* SPDX-License-Identifier: MIT */
/*
 * serve_http_stream.h - those who watch a session: each gets every new event (live_event.h), or, if
 * it reads too slowly for that, the newest one when it is done with the last. Who does not take one
 * within a while is parted with. In between a heartbeat finds those who are gone.
 */
#ifndef HI_SERVE_HTTP_STREAM_H
#define HI_SERVE_HTTP_STREAM_H

#include <microhttpd.h>
#include <stdbool.h>

#include "follow.h"

#define STREAMS_MAX 32u

/* The session gets one more who watches it. */
enum MHD_Result stream_begin(struct MHD_Connection *connection, struct followed *session);
/* Goes on with those for whom there is something new. is_over: all of them end. */
void streams_tick(uint64_t now_ns, bool is_over);

#endif
