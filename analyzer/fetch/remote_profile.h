/* SPDX-License-Identifier: MIT */
/*
 * remote_profile.h - fetches a profile, and what its server knows beyond it: names for addresses,
 * and the command line. The pages are those of Go's net/http/pprof and of gperftools.
 */
#ifndef HI_REMOTE_PROFILE_H
#define HI_REMOTE_PROFILE_H

#include "http.h"
#include "profile.h"
#include "remote_url.h"

#define REMOTE_PROFILE_PATHS "/debug/pprof/heap (Go) or /pprof/heap (gperftools)"

/* Zero-initialized: what is usual. */
struct remote_options {
	uint64_t timeout_ns; /* for the profile; 0 = a minute, beyond what the server is to take */
	uint64_t seconds;    /* that the server is to take; 0 = as the URL says */
};
struct remote_profile {
	int fd; /* of the answer, at its beginning; the caller closes it */
	char url[REMOTE_URL_MAX];
};

/*
 * Fetches what the argument names (remote_argument.h). 0, or negative errno and a complaint, which
 * says nothing that is secret in the URL.
 */
int remote_profile_fetch(const char *argument, const struct remote_options *options,
			 struct remote_profile *out, char complaint[HTTP_COMPLAINT_MAX]);
/*
 * Names the frames that have no name, and adds the command line if there is none, as far as the
 * server knows them, for a minute at most. *complaint: why frames stayed without names; untouched
 * if none did for the server's fault. 0 or -ENOMEM.
 */
int remote_profile_complete(const struct remote_profile *remote, struct profile *profile,
			    char complaint[HTTP_COMPLAINT_MAX]);

#endif
