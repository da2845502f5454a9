/* SPDX-License-Identifier: MIT */
/* serve_http_request.h - a request, from its headers to its answer. */
#ifndef HI_SERVE_HTTP_REQUEST_H
#define HI_SERVE_HTTP_REQUEST_H

#include <microhttpd.h>

#include "follow.h"
#include "serve_setup.h"

struct request_server {
	const struct serve_setup *setup;
	struct serve_jobs *jobs;
	struct follow *follow;
};

/* For MHD_start_daemon(); context: a struct request_server. */
enum MHD_Result request_take(void *context, struct MHD_Connection *connection, const char *path,
			     const char *method, const char *version, const char *data,
			     size_t *data_size, void **request);
/* For MHD_OPTION_NOTIFY_COMPLETED. */
void request_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode why);
/* For MHD_OPTION_UNESCAPE_CALLBACK. */
size_t request_decode(void *context, struct MHD_Connection *connection, char *text);
/* The owner of a job: false = who asked has gone. MHD does not look while a request waits. */
bool request_is_wanted(const void *owner);
#endif
