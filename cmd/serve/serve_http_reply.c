/* SPDX-License-Identifier: MIT */
/* serve_http_reply.c - see serve_http_reply.h. */
#include "serve_http_reply.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "page_policy.h"

static char page_policy[SERVE_POLICY_MAX];

int reply_open(void)
{
	return serve_page_policy(page_policy);
}

/* Takes the response over. extra: a header and its value, or NULL. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
			     struct MHD_Response *response, const char *type, const char *extra,
			     const char *value)
{
	const bool is_html = strcmp(type, REPLY_HTML) == 0;
	const char *const headers[][2] = {
		{"Content-Type", type},
		{"Content-Security-Policy", is_html ? page_policy : SERVE_POLICY_BARE},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
		{extra, value},
	};
	enum MHD_Result result = response ? MHD_YES : MHD_NO;

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers) && result; i++)
		if (headers[i][0])
			result = MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (result)
		result = MHD_queue_response(connection, status, response);
	if (response)
		MHD_destroy_response(response);
	return result;
}

enum MHD_Result reply_text_with(struct MHD_Connection *connection, unsigned status,
				const char *text, const char *header, const char *value)
{
	return queue(
		connection, status,
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY),
		REPLY_TEXT, header, value);
}

enum MHD_Result reply_text(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return reply_text_with(connection, status, text, NULL, NULL);
}

enum MHD_Result reply_file(struct MHD_Connection *connection, unsigned status, int *fd,
			   const char *type)
{
	struct stat file;
	struct MHD_Response *response =
		fstat(*fd, &file) ? NULL
				  : MHD_create_response_from_fd64((uint64_t)file.st_size, *fd);

	if (response)
		*fd = -1; /* it closes it */
	return queue(connection, status, response, type, NULL, NULL);
}
