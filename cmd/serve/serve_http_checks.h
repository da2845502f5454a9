/* SPDX-License-Identifier: MIT */
/* serve_http_checks.h - whether a request may ask for its page in this way, before its body comes.
 */
#ifndef HI_SERVE_HTTP_CHECKS_H
#define HI_SERVE_HTTP_CHECKS_H

#include <microhttpd.h>
#include <stdbool.h>

#include "route.h"

#define CHECKS_BODY_MAX ((size_t)4 << 20)

/* MHD_NO: it may. Otherwise it was answered, and this is the result of that. */
enum MHD_Result checks_answer(struct MHD_Connection *connection, const char *method,
			      enum serve_page page, bool may_steer);
/* The page attaches or detaches. */
bool checks_is_steering(enum serve_page page);

#endif
