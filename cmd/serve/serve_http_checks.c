/* SPDX-License-Identifier: MIT */
/* serve_http_checks.c - see serve_http_checks.h. */
#include "serve_http_checks.h"

#include <string.h>

#include "hi_units.h"
#include "serve_http_reply.h"

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

bool checks_is_steering(enum serve_page page)
{
	return page == SERVE_ATTACH || page == SERVE_DETACH;
}

/* What methods the page has. */
static const char *methods_of(enum serve_page page)
{
	return checks_is_steering(page)         ? "POST"
	       : page == SERVE_SYMBOL           ? "GET, HEAD, POST"
	       : serve_page_is_inspection(page) ? "GET"
						: "GET, HEAD";
}

static bool is_method(enum serve_page page, const char *method)
{
	const char *methods = methods_of(page), *at = strstr(methods, method);
	const size_t size = strlen(method);

	return at && (at == methods || at[-1] == ' ') && (!at[size] || at[size] == ',');
}

static enum MHD_Result check_method(struct MHD_Connection *connection, const char *method,
				    enum serve_page page)
{
	const bool is_post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH), *end;
	uint64_t size = 0;

	if (!page)
		return reply_text(connection, MHD_HTTP_NOT_FOUND,
				  "there is nothing here; / has a list\n");
	if (!is_method(page, method))
		return reply_text_with(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				       "not with this method\n", MHD_HTTP_HEADER_ALLOW,
				       methods_of(page));
	if (length && (hi_parse_digits(length, &size, &end) || *end || size > CHECKS_BODY_MAX ||
		       (size && !is_post)))
		return reply_text(connection, REPLY_TOO_LARGE, "the body is too large\n");
	return MHD_NO;
}

/* A page that attaches and detaches is one of ours, and says so. */
static enum MHD_Result check_steering(struct MHD_Connection *connection, enum serve_page page,
				      bool may_steer)
{
	if (!checks_is_steering(page))
		return MHD_NO;
	if (!may_steer)
		return reply_text(connection, MHD_HTTP_FORBIDDEN,
				  "serve was started without --allow-attach\n");
	if (!header_of(connection, MHD_HTTP_HEADER_ORIGIN))
		return reply_text(connection, MHD_HTTP_FORBIDDEN,
				  "the request has no Origin, which pages send\n");
	return MHD_NO;
}

/* It costs CPU, so a link on a page of another site does not begin it, either. */
static enum MHD_Result check_inspection(struct MHD_Connection *connection, enum serve_page page)
{
	const char *site = header_of(connection, "Sec-Fetch-Site");

	if (!serve_page_is_inspection(page) || !site || strcmp(site, "same-origin") == 0 ||
	    strcmp(site, "none") == 0)
		return MHD_NO;
	return reply_text(connection, MHD_HTTP_FORBIDDEN,
			  "the request comes from a page of another site\n");
}

enum MHD_Result checks_answer(struct MHD_Connection *connection, const char *method,
			      enum serve_page page, bool may_steer)
{
	enum MHD_Result result = check_method(connection, method, page);

	if (!result)
		result = check_steering(connection, page, may_steer);
	return result ? result : check_inspection(connection, page);
}
