/* SPDX-License-Identifier: MIT */
/*
 * serve_http_admission.h - who is let in: by Host, Origin, and token or, without
 * one, the user whose process asks.
 */
#ifndef HI_SERVE_HTTP_ADMISSION_H
#define HI_SERVE_HTTP_ADMISSION_H

#include <microhttpd.h>
#include <stdbool.h>

#include "serve_setup.h"

/* False: the request was answered, *out_result is the result of that. */
bool admission_let_in(const struct serve_setup *setup, struct MHD_Connection *connection,
		      enum MHD_Result *out_result);

#endif
