/* SPDX-License-Identifier: MIT */
/* serve_http_reply.c - see serve_http_reply.h. */
#include "serve_http_reply.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "live_page.h"
#include "page_policy.h"

/* What a kind of answer is, and what browsers may do with it. */
struct kind {
	const char *type, *policy;
};

static struct serve_policies policies;
static char *live_page;
static size_t live_page_size;

int reply_open(void)
{
	FILE *out = open_memstream(&live_page, &live_page_size);

	if (!out)
		return -ENOMEM;
	live_page_write(out);
	return fclose(out) ? -ENOMEM : serve_policies_make(&policies);
}

/* Takes the response over. extra: a header and its value, or NULL. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
			     struct MHD_Response *response, const struct kind *kind,
			     const char *extra, const char *value)
{
	const char *const headers[][2] = {
		{"Content-Type", kind->type},
		{"Content-Security-Policy", kind->policy},
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

static struct kind kind_of(const char *type)
{
	const bool is_html = strcmp(type, REPLY_HTML) == 0;

	return (struct kind){type, is_html ? policies.report : SERVE_POLICY_BARE};
}

enum MHD_Result reply_response(struct MHD_Connection *connection, unsigned status,
			       struct MHD_Response *response, const char *type)
{
	const struct kind kind = kind_of(type);

	return queue(connection, status, response, &kind, NULL, NULL);
}

enum MHD_Result reply_live_page(struct MHD_Connection *connection)
{
	const struct kind kind = {REPLY_HTML, policies.live};

	return queue(
		connection, MHD_HTTP_OK,
		MHD_create_response_from_buffer(live_page_size, live_page, MHD_RESPMEM_PERSISTENT),
		&kind, NULL, NULL);
}

enum MHD_Result reply_text_with(struct MHD_Connection *connection, unsigned status,
				const char *text, const char *header, const char *value)
{
	const struct kind kind = kind_of(REPLY_TEXT);

	return queue(
		connection, status,
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY),
		&kind, header, value);
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
	return reply_response(connection, status, response, type);
}
