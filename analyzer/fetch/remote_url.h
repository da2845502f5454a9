/* SPDX-License-Identifier: MIT */
/*
 * remote_url.h - URLs of profiles as text: what is one, what is asked for, what else the server has
 * beside it, and what may be shown of it.
 */
#ifndef HI_REMOTE_URL_H
#define HI_REMOTE_URL_H

#include <stdbool.h>
#include <stdint.h>

#define REMOTE_URL_MAX 4096u
#define REMOTE_URL_SECONDS_MAX 86400u

/*
 * True for SCHEME://..., and for HOST:PORT, alone or with a path, as pprof and jeprof take it. A
 * file that exists is for the caller to try first.
 */
bool remote_url_is(const char *text);
/*
 * NULL, or what is wrong with it: another scheme than http and https, a host or port that is none,
 * characters that do not belong into a request. Says nothing of what is in the URL.
 */
const char *remote_url_check(const char *text);
/* Completes a URL that is right (remote_url_check()) with its scheme, without its fragment. */
void remote_url_complete(const char *text, char out_url[REMOTE_URL_MAX]);
/*
 * Takes away, in place, what may be secret: user and password, and the values of parameters other
 * than those of net/http/pprof. False if there is nothing of that.
 */
bool remote_url_hide(char *text);

/* These take complete URLs. Those that write one return false if it would be too long. */

/* True if it has no path, so that the caller tries those where profiles are. */
bool remote_url_is_bare(const char *url);
/* The same server and parameters with this path. */
bool remote_url_with_path(const char *url, const char *path, char out_url[REMOTE_URL_MAX]);
/* The same with seconds=N, in the place of another such parameter. */
bool remote_url_with_seconds(const char *url, uint64_t seconds, char out_url[REMOTE_URL_MAX]);
/* What seconds=N asks the server to take, REMOTE_URL_SECONDS_MAX at most; 0 = nothing. */
uint64_t remote_url_seconds(const char *url);
/*
 * The URL of a page beside this one, such as "symbol", without parameters. False also if this one
 * is not below /pprof/, where such pages are.
 */
bool remote_url_beside(const char *url, const char *page, char out_url[REMOTE_URL_MAX]);
/* True if the server is on this machine, so that no proxy can reach it. */
bool remote_url_is_loopback(const char *url);

#endif
