/* SPDX-License-Identifier: MIT */
/* serve_http_request.c - see serve_http_request.h. Start at request_take(). */
#include "serve_http_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics.h"
#include "peer_user.h"
#include "serve_http_admission.h"
#include "serve_http_asked.h"
#include "serve_http_checks.h"
#include "serve_http_reply.h"
#include "serve_http_stream.h"
#include "serve_http_visitors.h"

#define NOT_SERVED "no such session is served\n"

/* A request, until it is answered. */
struct exchange {
	const struct request_server *server;
	struct MHD_Connection *connection;
	struct serve_question question;
	bool is_post, is_too_large, is_done;
	struct asked_times kept;
	char *body;
	size_t body_size;
	/* of its job */
	int answer_fd, complaint_fd, status;
	bool is_late;
};

/* ---- answers --------------------------------------------------------------------------------- */

static const char *type_of(const struct exchange *exchange)
{
	if (serve_page_is_inspection(exchange->question.route.page))
		return exchange->question.is_text ? REPLY_TEXT : REPLY_JSON;
	switch (exchange->question.route.page) {
	case SERVE_LIST:
		return exchange->question.is_text ? REPLY_TEXT : REPLY_HTML;
	case SERVE_REPORT:
		return REPLY_HTML;
	case SERVE_METRICS:
		return SERVE_METRICS_TYPE;
	case SERVE_PPROF:
	case SERVE_ALLOCS:
		return REPLY_BINARY;
	default:
		return REPLY_TEXT;
	}
}

/* ---- kept profiles --------------------------------------------------------------------------- */

/* -1: it is not kept. */
static int kept_fd(const struct followed *session, uint64_t time)
{
	const struct kept_profile *profile =
		session ? kept_profiles_find(&session->kept, time) : NULL;

	return profile ? profile->fd : -1;
}

/* False: one that is named is not kept. */
static bool find_kept(struct exchange *exchange)
{
	struct serve_question *question = &exchange->question;
	const struct followed *session = follow_find(exchange->server->follow, question->route.pid);

	if (exchange->kept.view)
		question->view_fd = kept_fd(session, exchange->kept.view);
	if (exchange->kept.base)
		question->base_fd = kept_fd(session, exchange->kept.base);
	return !(exchange->kept.view && question->view_fd < 0) &&
	       !(exchange->kept.base && question->base_fd < 0);
}

/* A path without a pid is not of any session where there are several. */
static bool is_ambiguous(const struct exchange *exchange)
{
	return !exchange->question.route.pid && !exchange->server->setup->options->pid_count &&
	       follow_count(exchange->server->follow) > 1;
}

static enum MHD_Result say_no_session(const struct exchange *exchange)
{
	char several[128];

	if (!is_ambiguous(exchange))
		return reply_text(exchange->connection, MHD_HTTP_NOT_FOUND, NOT_SERVED);
	snprintf(several, sizeof(several), SERVE_SAYS_SEVERAL,
		 follow_count(exchange->server->follow));
	return reply_text(exchange->connection, MHD_HTTP_CONFLICT, several);
}

static enum MHD_Result say_profiles(struct exchange *exchange)
{
	const struct followed *session =
		follow_find(exchange->server->follow, exchange->question.route.pid);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	enum MHD_Result result = MHD_NO;

	if (out) {
		follow_write_profiles(session, out);
		if (!fclose(out))
			result = session ? reply_text(exchange->connection, MHD_HTTP_OK, text)
					 : say_no_session(exchange);
	}
	free(text);
	return result;
}

/* Of a process that has no session the page says so, and may attach. */
static enum MHD_Result say_live(struct exchange *exchange)
{
	const struct request_server *server = exchange->server;

	if (server->setup->options->pid_count &&
	    !follow_find(server->follow, exchange->question.route.pid))
		return reply_text(exchange->connection, MHD_HTTP_NOT_FOUND, NOT_SERVED);
	return reply_live_page(exchange->connection);
}

static enum MHD_Result watch(struct exchange *exchange)
{
	struct followed *session =
		follow_get(exchange->server->follow, exchange->question.route.pid);

	return session ? stream_begin(exchange->connection, session) : say_no_session(exchange);
}

/* ---- from headers to answer ------------------------------------------------------------------ */

/* The headers are there. *out_result: of an answer, if *out_exchange is NULL. */
static enum MHD_Result begin(const struct request_server *server, struct MHD_Connection *connection,
			     const char *path, const char *method, struct exchange **out_exchange)
{
	enum MHD_Result result = MHD_NO;
	struct exchange *exchange;

	if (!admission_let_in(server->setup, connection, &result))
		return result;
	exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return MHD_NO;
	exchange->server = server;
	exchange->connection = connection;
	exchange->answer_fd = exchange->complaint_fd = -1;
	exchange->question = (struct serve_question){.options = server->setup->options,
						     .route = serve_route_find(path),
						     .view_fd = -1,
						     .base_fd = -1};
	exchange->is_post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	result = checks_answer(connection, method, exchange->question.route.page,
			       server->setup->options->attach != NULL);
	if (!result) {
		const char *complaint =
			asked_read(connection, &exchange->question, &exchange->kept);

		result = complaint ? reply_text(connection, MHD_HTTP_BAD_REQUEST, complaint)
				   : MHD_NO;
	}
	if (result) {
		free(exchange);
		return result;
	}
	*out_exchange = exchange;
	return MHD_YES;
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t *size)
{
	if (exchange->body_size + *size > CHECKS_BODY_MAX) {
		/* the rest of it is not awaited for ever */
		if (exchange->is_too_large)
			return MHD_NO;
		exchange->is_too_large = true;
		exchange->body_size = 0;
	}
	if (!exchange->is_too_large) {
		char *body = realloc(exchange->body, exchange->body_size + *size);

		if (!body)
			return MHD_NO;
		exchange->body = body;
		memcpy(body + exchange->body_size, data, *size);
	}
	exchange->body_size += *size;
	*size = 0;
	return MHD_YES;
}

static void on_job_ended(const struct serve_job *job, int status)
{
	struct exchange *exchange = job->owner;
	struct followed *session =
		follow_find(exchange->server->follow, exchange->question.route.pid);

	exchange->answer_fd = job->answer_fd;
	exchange->complaint_fd = job->complaint_fd;
	exchange->status = status;
	exchange->is_late = job->is_late;
	exchange->is_done = true;
	if (checks_is_steering(exchange->question.route.page) && session)
		follow_look_now(session);
	MHD_resume_connection(exchange->connection);
}

static enum MHD_Result start(struct exchange *exchange)
{
	int err = 0;

	if (exchange->is_too_large)
		return reply_text(exchange->connection, REPLY_TOO_LARGE, "the body is too large\n");
	if (exchange->question.route.page == SERVE_SYMBOL && !exchange->is_post)
		return reply_text(exchange->connection, MHD_HTTP_OK, "num_symbols: 1\n");
	if (exchange->question.route.page == SERVE_PROFILES)
		return say_profiles(exchange);
	if (exchange->question.route.page == SERVE_LIVE)
		return say_live(exchange);
	if (exchange->question.route.page == SERVE_EVENTS)
		return watch(exchange);
	if (checks_is_steering(exchange->question.route.page) &&
	    !follow_get(exchange->server->follow, exchange->question.route.pid))
		return reply_text(exchange->connection, MHD_HTTP_NOT_FOUND, NOT_SERVED);
	if ((exchange->kept.view || exchange->kept.base) && is_ambiguous(exchange))
		return say_no_session(exchange);
	if (!find_kept(exchange))
		return reply_text(exchange->connection, MHD_HTTP_NOT_FOUND,
				  "this profile is not kept, or no longer: see /profiles\n");
	if (exchange->question.route.page == SERVE_SYMBOL)
		err = call_addresses_read(exchange->body, exchange->body_size,
					  &exchange->question.calls);
	if (err == -EINVAL)
		return reply_text(exchange->connection, MHD_HTTP_BAD_REQUEST,
				  "addresses are written as 0x4711+0x4712\n");
	if (!err)
		err = serve_jobs_start(exchange->server->jobs, &exchange->question, on_job_ended,
				       exchange);
	if (err)
		return reply_text_with(exchange->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				       err == -EBUSY
					       ? "this process is being looked at already; again "
						 "when that has ended\n"
					       : "too much is asked at a time; again in a second\n",
				       MHD_HTTP_HEADER_RETRY_AFTER, "1");
	MHD_suspend_connection(exchange->connection);
	return MHD_YES;
}

static enum MHD_Result finish(struct exchange *exchange)
{
	static const unsigned statuses[] = {
		[SERVE_ANSWERED] = MHD_HTTP_OK,
		[SERVE_FAILED] = MHD_HTTP_BAD_GATEWAY,
		[SERVE_NO_SESSION] = MHD_HTTP_NOT_FOUND,
		[SERVE_SEVERAL_SESSIONS] = MHD_HTTP_CONFLICT,
		[SERVE_REFUSED] = MHD_HTTP_CONFLICT,
	};
	const unsigned outcome =
		WIFEXITED(exchange->status) ? (unsigned)WEXITSTATUS(exchange->status) : UINT32_MAX;

	if (exchange->is_late)
		return reply_text(exchange->connection, MHD_HTTP_GATEWAY_TIMEOUT,
				  "the answer took too long\n");
	if (outcome >= sizeof(statuses) / sizeof(*statuses))
		return reply_text(exchange->connection, MHD_HTTP_BAD_GATEWAY,
				  "the answer could not be made within its bounds\n");
	if (outcome == SERVE_ANSWERED)
		return reply_file(exchange->connection, MHD_HTTP_OK, &exchange->answer_fd,
				  type_of(exchange));
	return reply_file(exchange->connection, statuses[outcome], &exchange->complaint_fd,
			  REPLY_TEXT);
}

/* Decodes a path or an argument, once. One with a NUL stays as it is, and means nothing. */
size_t request_decode(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

bool request_is_wanted(const void *owner)
{
	const struct exchange *exchange = owner;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return !info || !peer_is_gone(info->connect_fd);
}

enum MHD_Result request_take(void *context, struct MHD_Connection *connection, const char *path,
			     const char *method, const char *version, const char *data,
			     size_t *data_size, void **request)
{
	struct exchange *exchange = *request;

	(void)version;
	if (!exchange) {
		const enum MHD_Result result = begin(context, connection, path, method, &exchange);

		*request = exchange;
		return result;
	}
	if (*data_size)
		return take_body(exchange, data, data_size);
	visitors_have_asked(connection);
	return exchange->is_done ? finish(exchange) : start(exchange);
}

void request_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode why)
{
	struct exchange *exchange = *request;

	(void)context;
	(void)why;
	visitors_are_answered(connection);
	if (!exchange)
		return;
	if (exchange->answer_fd >= 0)
		close(exchange->answer_fd);
	if (exchange->complaint_fd >= 0)
		close(exchange->complaint_fd);
	free(exchange->question.calls.address);
	free(exchange->body);
	free(exchange);
	*request = NULL;
}
