/* SPDX-License-Identifier: MIT */
/* serve_http_admission.c - see serve_http_admission.h. */
#include "serve_http_admission.h"

#include <string.h>
#include <strings.h>

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

	if (!*token->text)
		return true;
	if (header && strncasecmp(header, bearer, strlen(bearer)) == 0)
		return serve_token_is(token, header + strlen(bearer));
	user = MHD_basic_auth_get_username_password(connection, &password);
	is_it = serve_token_is(token, password);
	MHD_free(user);
	MHD_free(password);
	return is_it;
}

bool admission_let_in(const struct serve_setup *setup, struct MHD_Connection *connection,
		      enum MHD_Result *out_result)
{
	const struct serve_site *site = &setup->site;

	if (!serve_site_is_host(site, header_of(connection, MHD_HTTP_HEADER_HOST)))
		*out_result = reply_text(connection, MHD_HTTP_FORBIDDEN,
					 "the request names another host than this one, by address "
					 "or as localhost\n");
	else if (!serve_site_is_origin(site, header_of(connection, MHD_HTTP_HEADER_ORIGIN)))
		*out_result = reply_text(connection, MHD_HTTP_FORBIDDEN,
					 "the request comes from a page of another site\n");
	else if (!has_token(&setup->token, connection))
		*out_result =
			reply_text_with(connection, MHD_HTTP_UNAUTHORIZED, "the token is needed\n",
					MHD_HTTP_HEADER_WWW_AUTHENTICATE,
					"Basic realm=\"heapinject\", charset=\"UTF-8\"");
	else
		return true;
	return false;
}
