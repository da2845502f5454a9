/* SPDX-License-Identifier: MIT */
/* serve_http_reply.h - what is sent: a text or a file, with the headers that all answers have. */
#ifndef HI_SERVE_HTTP_REPLY_H
#define HI_SERVE_HTTP_REPLY_H

#include <microhttpd.h>

#include "must_check.h"

#define REPLY_TEXT "text/plain; charset=utf-8"
#define REPLY_HTML "text/html; charset=utf-8"
#define REPLY_EVENTS "text/event-stream"
#define REPLY_JSON "application/json"
#define REPLY_BINARY "application/octet-stream"
#define REPLY_TOO_LARGE 413u /* its name in microhttpd.h has changed */

/* Once, before any answer. 0 or -ENOMEM. */
must_check int reply_open(void);
/* A response of any kind, which is taken over; NULL: MHD_NO. */
enum MHD_Result reply_response(struct MHD_Connection *connection, unsigned status,
			       struct MHD_Response *response, const char *type);
/* The text is copied. */
enum MHD_Result reply_text(struct MHD_Connection *connection, unsigned status, const char *text);
/* With one more header. */
enum MHD_Result reply_text_with(struct MHD_Connection *connection, unsigned status,
				const char *text, const char *header, const char *value);
/* The live page. */
enum MHD_Result reply_live_page(struct MHD_Connection *connection);
/* All of a file in memory. *fd is taken over, and is then -1. */
enum MHD_Result reply_file(struct MHD_Connection *connection, unsigned status, int *fd,
			   const char *type);

#endif
