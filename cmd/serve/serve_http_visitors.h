/* SPDX-License-Identifier: MIT */
/*
 * serve_http_visitors.h - the connections, and which of them have not sent a whole request yet:
 * these are parted with after a while, and at once where there are too many.
 */
#ifndef HI_SERVE_HTTP_VISITORS_H
#define HI_SERVE_HTTP_VISITORS_H

#include <microhttpd.h>
#include <stdint.h>

#define VISITORS_MAX 256u  /* connections at a time */
#define VISITORS_MANY 192u /* from here on the one that has waited longest makes room */

/* For MHD_OPTION_NOTIFY_CONNECTION. */
void visitors_note(void *context, struct MHD_Connection *connection, void **socket_context,
		   enum MHD_ConnectionNotificationCode what);
/* The request of the connection is complete; or it was answered, and another one may come. */
void visitors_have_asked(struct MHD_Connection *connection);
void visitors_are_answered(struct MHD_Connection *connection);
/* Ends the connections that take too long to ask. */
void visitors_part_with_the_slow(uint64_t now_ns);

#endif
