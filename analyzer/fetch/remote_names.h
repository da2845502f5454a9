/* SPDX-License-Identifier: MIT */
/*
 * remote_names.h - asks a server for the names of addresses in its program, by the page "symbol"
 * that jeprof, google-pprof and go tool pprof ask, too: a POST of 0xA+0xB is answered by lines of
 * an address and its names (joined_names.h).
 */
#ifndef HI_REMOTE_NAMES_H
#define HI_REMOTE_NAMES_H

#include "http.h"
#include "profile.h"

/*
 * page: the URL of that page; is_direct: as of struct http_request. deadline_ns: of the monotonic
 * clock, for all requests. 0 or -ENOMEM. Or another negative errno and a complaint: frames that had
 * no name may have none.
 */
int remote_names_add(const char *page, bool is_direct, uint64_t deadline_ns,
		     struct profile *profile, char complaint[HTTP_COMPLAINT_MAX]);

#endif
