/* SPDX-License-Identifier: MIT */
/*
 * Room cmd/serve/: `heapinject serve`, running sessions by HTTP.
 *
 *   serve.h              start here: the address, the token, what ends it
 *   serve_http.h         the loop; serve_http_*.h use libmicrohttpd, and nothing else does:
 *                        admission: who is let in; checks: what may be asked how; request: from
 * headers to answer; reply: what is sent; stream: those who watch; visitors: connections that have
 * not asked yet jobs.h               a process for each answer, bounded in time and number
 *   serve_answer.h       what such a process does: asks the session, gives up its rights, renders
 *   follow.h             the sessions that are served, and kept_profiles.h: those of each
 *   live_event.h, live_page.h
 *                        what those who watch are sent, and the page that shows it
 *   steer.h              attach and detach
 *   peer_user.h          whose process asks
 *   route.h, query.h, site.h, token.h, call_addresses.h
 *                        the parts of a request: path, what is behind the question mark, Host and
 *                        Origin, secret, addresses to name
 *   listing.h, metrics.h the sessions for people and for Prometheus
 *   page_policy.h        the Content-Security-Policy of the page of reports
 *   no_tls.c             in place of GnuTLS
 *
 * The process that listens parses requests and nothing else. What sessions and profiles say, which
 * other users may have written, is read in processes of jobs.h. Uses cmd/session/, cmd/output/; of
 * the analyzer it uses only hi_analyzer.h.
 */

/* serve.h - serves running sessions until SIGTERM or SIGINT. It attaches to nothing by itself. */
#ifndef HI_SERVE_H
#define HI_SERVE_H

#include "serve_options.h"

/* Returns an exit code of hi_exit.h, and has printed what was wrong. */
int serve_run(const struct serve_options *options);

#endif
