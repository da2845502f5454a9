/* SPDX-License-Identifier: MIT */
/* serve_http_asked.c - see serve_http_asked.h. */
#include "serve_http_asked.h"

#include <string.h>
#include <strings.h>

#include "query.h"

#define OTHERWISE "choose another display, or Diff none (no base= and no seconds=)\n"
#define NOT_AS_LEAKS "what is still there is of one profile, and not of a difference: " OTHERWISE
#define NOT_AS_HEAP "a .heap file has no place for what has become less: " OTHERWISE
#define NOT_OF_OWNERS "owners looks once: without seconds=\n"

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool begins(const char *text, const char *prefix)
{
	return text && strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool wants_text(struct MHD_Connection *connection, enum serve_page page)
{
	const char *accepted = header_of(connection, MHD_HTTP_HEADER_ACCEPT);

	if (serve_page_is_inspection(page) && begins(accepted, "application/json"))
		return false;
	return begins(header_of(connection, MHD_HTTP_HEADER_USER_AGENT), "curl/") ||
	       begins(accepted, "text/plain");
}

struct reading {
	struct query query;
	const char *complaint;
};

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *name,
				     const char *value)
{
	struct reading *reading = context;

	(void)kind;
	if (!reading->complaint)
		reading->complaint = query_take(&reading->query, name, value);
	return MHD_YES;
}

/* A view that a difference does not have. */
static const char *check_difference(enum serve_page page)
{
	return page == SERVE_LEAKS            ? NOT_AS_LEAKS
	       : page == SERVE_HEAP           ? NOT_AS_HEAP
	       : page == SERVE_INSPECT_OWNERS ? NOT_OF_OWNERS
					      : NULL;
}

const char *asked_read(struct MHD_Connection *connection, struct serve_question *question,
		       struct asked_times *out_kept)
{
	enum serve_page *page = &question->route.page;
	struct reading reading = {.query.is_text = wants_text(connection, *page)};
	const struct query *query = &reading.query;

	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &reading);
	if (reading.complaint)
		return reading.complaint;
	if (query->seconds && (query->view || query->base))
		return "seconds= is of the profile as it is, without view= and base=\n";
	question->seconds = query->seconds;
	question->sample_type = query->sample_type;
	question->is_text = query->is_text;
	*out_kept = (struct asked_times){query->view, query->base};
	if (*page == SERVE_REPORT)
		*page = query->display   ? query->display
			: query->is_text ? SERVE_TEXT
					 : SERVE_REPORT;
	/* what the live page shows is asked for by its script */
	if (*page == SERVE_LIVE && query->is_text)
		*page = SERVE_TEXT;
	return query->seconds || query->base ? check_difference(*page) : NULL;
}
