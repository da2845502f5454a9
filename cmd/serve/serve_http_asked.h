/* SPDX-License-Identifier: MIT */
/* serve_http_asked.h - what a request asks for besides its path: its query, and text or a page. */
#ifndef HI_SERVE_HTTP_ASKED_H
#define HI_SERVE_HTTP_ASKED_H

#include <microhttpd.h>
#include <stdint.h>

#include "must_check.h"
#include "serve_answer.h"

/* Times of kept profiles; 0 = none. */
struct asked_times {
	uint64_t view, base;
};

/* Completes a question that has its route. Returns NULL, or what is wrong: a line. */
must_check const char *asked_read(struct MHD_Connection *connection,
				  struct serve_question *question, struct asked_times *out_kept);

#endif
