/* SPDX-License-Identifier: MIT */
/* serve_http_admission.c - see serve_http_admission.h. */
#include "serve_http_admission.h"

#include <string.h>
#include <strings.h>

#include "peer_user.h"
#include "serve_http_reply.h"

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Bearer TOKEN; or Basic with any user, for clients that know only http://user:TOKEN@HOST. */
static bool has_token(const struct serve_token *token, struct MHD_Connection *connection)
{
	static const char bearer[] = "Bearer ";
	const char *header = header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION);
	char *user, *password = NULL;
	bool is_it;

	if (header && strncasecmp(header, bearer, strlen(bearer)) == 0)
		return serve_token_is(token, header + strlen(bearer));
	user = MHD_basic_auth_get_username_password(connection, &password);
	is_it = serve_token_is(token, password);
	MHD_free(user);
	MHD_free(password);
	return is_it;
}

/*
 * Without a token every process of the machine could ask; so it has to be one of ours. Root may see
 * everything anyway.
 */
static bool is_one_of_us(const struct serve_setup *setup, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	uid_t uid;

	return info && !peer_user(info->connect_fd, &uid) &&
	       (uid == setup->own_user || uid == setup->caller || uid == 0);
}

/*
 * A page of another site may have a browser ask us, though not read the answer. Browsers say so,
 * and whether the user follows a link, which is fine.
 */
static bool is_asked_by_another_page(struct MHD_Connection *connection)
{
	const char *site = header_of(connection, "Sec-Fetch-Site"),
		   *mode = header_of(connection, "Sec-Fetch-Mode");

	return site && (strcmp(site, "cross-site") == 0 || strcmp(site, "same-site") == 0) &&
	       !(mode && strcmp(mode, "navigate") == 0);
}

bool admission_let_in(const struct serve_setup *setup, struct MHD_Connection *connection,
		      enum MHD_Result *out_result)
{
	const struct serve_site *site = &setup->site;

	if (!serve_site_is_host(site, header_of(connection, MHD_HTTP_HEADER_HOST)))
		*out_result = reply_text(connection, MHD_HTTP_FORBIDDEN,
					 "the request names another host than this one, by address "
					 "or as localhost\n");
	else if (!serve_site_is_origin(site, header_of(connection, MHD_HTTP_HEADER_ORIGIN)) ||
		 is_asked_by_another_page(connection))
		*out_result = reply_text(connection, MHD_HTTP_FORBIDDEN,
					 "the request comes from a page of another site\n");
	else if (!*setup->token.text && !is_one_of_us(setup, connection))
		*out_result = reply_text(connection, MHD_HTTP_FORBIDDEN,
					 "without --token only the user who serves may ask, and "
					 "root\n");
	else if (*setup->token.text && !has_token(&setup->token, connection))
		*out_result =
			reply_text_with(connection, MHD_HTTP_UNAUTHORIZED, "the token is needed\n",
					MHD_HTTP_HEADER_WWW_AUTHENTICATE,
					"Basic realm=\"heapinject\", charset=\"UTF-8\"");
	else
		return true;
	return false;
}
