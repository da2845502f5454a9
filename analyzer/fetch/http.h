/* SPDX-License-Identifier: MIT */
/*
 * Room fetch/: profiles and names that a server has. Start at remote_profile.h, which fetches by
 * http.h; remote_url.h says what is asked for. Uses symbols/, model/, term/, io/, text/. Only
 * `heapinject report` fetches, with the rights of its user; what comes is hostile. Nothing is
 * stored. curl.h has libcurl. send.c is hi_send.h, by which sessions push profiles.
 */

/*
 * http.h - one request by HTTP, with libcurl, which is loaded for the first one. It uses http and
 * https alone, follows few redirects, and has an end: in time, and in bytes.
 */
#ifndef HI_HTTP_H
#define HI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_COMPLAINT_MAX 512u

struct http_request {
	const char *url;
	const char *post;     /* body, for POST; NULL = GET */
	uint64_t timeout_ns;  /* for all of it */
	uint64_t expected_ns; /* that the server takes by itself, for the progress bar; 0 = none */
	size_t size_max;      /* bytes of the answer */
	bool is_direct;       /* by no proxy that the environment names */
};

/*
 * Writes the body of the answer into fd. 0 if the status is 2xx. -ENOENT: it is 404. -EREMOTEIO: it
 * is another one. Otherwise another negative errno. *complaint says what is wrong, safe to print.
 */
int http_fetch(const struct http_request *request, int fd, char complaint[HTTP_COMPLAINT_MAX]);

#endif
