/* SPDX-License-Identifier: MIT */
/*
 * serve_http.h - the connections: who is let in, what is asked, and the answer. One thread, which
 * never waits; what may take time is done by a job.
 */
#ifndef HI_SERVE_HTTP_H
#define HI_SERVE_HTTP_H

#include "serve_options.h"
#include "site.h"
#include "token.h"

struct serve_http {
	const struct serve_options *options;
	struct serve_site site;
	struct serve_token token;
};

/*
 * Serves at the listening socket, which it takes over, until stop_fd is readable. http: has to
 * stay. Returns 0 or negative errno.
 */
must_check int serve_http_run(const struct serve_http *http, int listener, int stop_fd);

#endif
