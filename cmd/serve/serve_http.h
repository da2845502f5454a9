/* SPDX-License-Identifier: MIT */
/*
 * serve_http.h - the daemon of libmicrohttpd and its loop. One thread, which never waits; what may
 * take time is done by a job. The parts are in serve_http_*.h.
 */
#ifndef HI_SERVE_HTTP_H
#define HI_SERVE_HTTP_H

#include "serve_setup.h"

/*
 * Serves at the listening socket, which it takes over, until stop_fd is readable. setup: has to
 * stay. Returns 0 or negative errno.
 */
must_check int serve_http_run(const struct serve_setup *setup, int listener, int stop_fd);

#endif
