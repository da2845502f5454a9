/* SPDX-License-Identifier: MIT */
/* serve_http.c - see serve_http.h. Start at serve_http_run() and on_request(). */
#include "serve_http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_units.h"
#include "jobs.h"
#include "metrics.h"
#include "page_policy.h"

#define CONNECTIONS_MAX 64u
#define CONNECTION_BYTES (32u << 10) /* of the headers */
#define IDLE_SECONDS 15u
#define REQUEST_SECONDS 30u /* for a whole request, however slowly it trickles */
#define BODY_MAX ((size_t)4 << 20)
#define SECONDS_MAX 3600u
#define LOOK_MS 500
#define TOO_LARGE 413u /* its name in microhttpd.h has changed */
#define SECOND_NS UINT64_C(1000000000)

/* A connection whose request is not complete yet. */
struct visitor {
	int socket;
	uint64_t since_ns; /* 0 = this place is free, or its request is complete */
	bool is_used;
};

static struct {
	const struct serve_http *http;
	struct MHD_Daemon *daemon;
	struct serve_jobs jobs;
	struct visitor visitor[CONNECTIONS_MAX];
	char page_policy[SERVE_POLICY_MAX];
} server;

/* A request, until it is answered. */
struct exchange {
	struct MHD_Connection *connection;
	struct serve_question question;
	bool is_post, is_too_large, is_done;
	char *body;
	size_t body_size;
	/* of its job */
	int answer_fd, complaint_fd, status;
	bool is_late;
};

/* ---- answers --------------------------------------------------------------------------------- */

static const char *type_of(const struct exchange *exchange)
{
	static const char text[] = "text/plain; charset=utf-8", html[] = "text/html; charset=utf-8",
			  binary[] = "application/octet-stream";

	switch (exchange->question.route.page) {
	case SERVE_LIST:
		return exchange->question.is_text ? text : html;
	case SERVE_REPORT:
		return html;
	case SERVE_METRICS:
		return SERVE_METRICS_TYPE;
	case SERVE_PPROF:
	case SERVE_ALLOCS:
		return binary;
	default:
		return text;
	}
}

/* Takes the response over. extra: a header and its value, or NULL. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
			     struct MHD_Response *response, const char *type, const char *extra,
			     const char *value)
{
	const bool is_html = strncmp(type, "text/html", 9) == 0;
	const char *const headers[][2] = {
		{"Content-Type", type},
		{"Content-Security-Policy", is_html ? server.page_policy : SERVE_POLICY_BARE},
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

static enum MHD_Result say_with(struct MHD_Connection *connection, unsigned status,
				const char *text, const char *header, const char *value)
{
	return queue(
		connection, status,
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY),
		"text/plain; charset=utf-8", header, value);
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return say_with(connection, status, text, NULL, NULL);
}

static enum MHD_Result say_file(struct exchange *exchange, unsigned status, int *fd,
				const char *type)
{
	struct stat file;
	struct MHD_Response *response =
		fstat(*fd, &file) ? NULL
				  : MHD_create_response_from_fd64((uint64_t)file.st_size, *fd);

	if (response)
		*fd = -1; /* it closes it */
	return queue(exchange->connection, status, response, type, NULL, NULL);
}

/* ---- who is let in --------------------------------------------------------------------------- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Bearer TOKEN; or Basic with any user, for clients that know only http://user:TOKEN@HOST. */
static bool has_token(struct MHD_Connection *connection)
{
	static const char bearer[] = "Bearer ";
	const char *header = header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION);
	char *user, *password = NULL;
	bool is_it;

	if (!*server.http->token.text)
		return true;
	if (header && strncasecmp(header, bearer, strlen(bearer)) == 0)
		return serve_token_is(&server.http->token, header + strlen(bearer));
	user = MHD_basic_auth_get_username_password(connection, &password);
	is_it = serve_token_is(&server.http->token, password);
	MHD_free(user);
	MHD_free(password);
	return is_it;
}

/* Answers a request that is not let in, and returns false. */
static bool let_in(struct MHD_Connection *connection, enum MHD_Result *out_result)
{
	const struct serve_site *site = &server.http->site;

	if (!serve_site_is_host(site, header_of(connection, MHD_HTTP_HEADER_HOST)))
		*out_result = say(connection, MHD_HTTP_FORBIDDEN,
				  "the request names another host than this one, by address or as "
				  "localhost\n");
	else if (!serve_site_is_origin(site, header_of(connection, MHD_HTTP_HEADER_ORIGIN)))
		*out_result = say(connection, MHD_HTTP_FORBIDDEN,
				  "the request comes from a page of another site\n");
	else if (!has_token(connection))
		*out_result = say_with(connection, MHD_HTTP_UNAUTHORIZED, "the token is needed\n",
				       MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				       "Basic realm=\"heapinject\", charset=\"UTF-8\"");
	else
		return true;
	return false;
}

/* ---- a request ------------------------------------------------------------------------------- */

static bool wants_text(struct MHD_Connection *connection)
{
	const char *agent = header_of(connection, MHD_HTTP_HEADER_USER_AGENT),
		   *accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT);

	return (agent && strncasecmp(agent, "curl/", 5) == 0) ||
	       (accept && strncasecmp(accept, "text/plain", 10) == 0);
}

/* False: it is no number that is possible. */
static bool read_seconds(struct MHD_Connection *connection, unsigned *out_seconds)
{
	const char *text =
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "seconds");
	const char *end;
	uint64_t seconds = 0;

	if (text && (hi_parse_digits(text, &seconds, &end) || *end || seconds > SECONDS_MAX))
		return false;
	*out_seconds = (unsigned)seconds;
	return true;
}

static enum MHD_Result check_method(struct MHD_Connection *connection, const char *method,
				    const struct exchange *exchange)
{
	const bool is_symbol = exchange->question.route.page == SERVE_SYMBOL;
	const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH), *end;
	uint64_t size = 0;

	if (!exchange->question.route.page)
		return say(connection, MHD_HTTP_NOT_FOUND, "there is nothing here; / has a list\n");
	if (!(exchange->is_post && is_symbol) && strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return say_with(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "not with this method\n",
				MHD_HTTP_HEADER_ALLOW, is_symbol ? "GET, HEAD, POST" : "GET, HEAD");
	if (length && (hi_parse_digits(length, &size, &end) || *end || size > BODY_MAX ||
		       (size && !exchange->is_post)))
		return say(connection, TOO_LARGE, "the body is too large\n");
	return MHD_NO;
}

/* The headers are there. *out_result: of an answer, if *out_exchange is NULL. */
static enum MHD_Result begin(struct MHD_Connection *connection, const char *path,
			     const char *method, struct exchange **out_exchange)
{
	enum MHD_Result result = MHD_NO;
	struct exchange *exchange;

	if (!let_in(connection, &result))
		return result;
	exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return MHD_NO;
	exchange->connection = connection;
	exchange->answer_fd = exchange->complaint_fd = -1;
	exchange->question = (struct serve_question){.options = server.http->options,
						     .route = serve_route_find(path),
						     .is_text = wants_text(connection)};
	exchange->is_post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	result = check_method(connection, method, exchange);
	if (!result && !read_seconds(connection, &exchange->question.seconds))
		result = say(connection, MHD_HTTP_BAD_REQUEST, "seconds= wants a number\n");
	if (result) {
		free(exchange);
		return result;
	}
	if (exchange->question.route.page == SERVE_REPORT && exchange->question.is_text)
		exchange->question.route.page = SERVE_TEXT;
	*out_exchange = exchange;
	return MHD_YES;
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t *size)
{
	if (exchange->body_size + *size > BODY_MAX) {
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

static enum MHD_Result start(struct exchange *exchange)
{
	int err = 0;

	if (exchange->is_too_large)
		return say(exchange->connection, TOO_LARGE, "the body is too large\n");
	if (exchange->question.route.page == SERVE_SYMBOL && !exchange->is_post)
		return say(exchange->connection, MHD_HTTP_OK, "num_symbols: 1\n");
	if (exchange->is_post)
		err = call_addresses_read(exchange->body, exchange->body_size,
					  &exchange->question.calls);
	if (err == -EINVAL)
		return say(exchange->connection, MHD_HTTP_BAD_REQUEST,
			   "addresses are written as 0x4711+0x4712\n");
	if (!err)
		err = serve_jobs_start(&server.jobs, &exchange->question, exchange);
	if (err)
		return say_with(exchange->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				"too much is asked at a time; again in a second\n",
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
	};
	const unsigned outcome =
		WIFEXITED(exchange->status) ? (unsigned)WEXITSTATUS(exchange->status) : UINT32_MAX;

	if (exchange->is_late)
		return say(exchange->connection, MHD_HTTP_GATEWAY_TIMEOUT,
			   "the answer took too long\n");
	if (outcome >= sizeof(statuses) / sizeof(*statuses))
		return say(exchange->connection, MHD_HTTP_BAD_GATEWAY,
			   "the profile could not be read within its bounds\n");
	if (outcome == SERVE_ANSWERED)
		return say_file(exchange, MHD_HTTP_OK, &exchange->answer_fd, type_of(exchange));
	return say_file(exchange, statuses[outcome], &exchange->complaint_fd,
			"text/plain; charset=utf-8");
}

/* Decodes a path or an argument, once. One with a NUL stays as it is, and means nothing. */
static size_t decode(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
				  const char *path, const char *method, const char *version,
				  const char *data, size_t *data_size, void **request)
{
	struct exchange *exchange = *request;
	struct visitor *visitor = visitor_of(connection);

	(void)context;
	(void)version;
	if (!exchange) {
		const enum MHD_Result result = begin(connection, path, method, &exchange);

		*request = exchange;
		return result;
	}
	if (*data_size)
		return take_body(exchange, data, data_size);
	if (visitor)
		visitor->since_ns = 0;
	return exchange->is_done ? finish(exchange) : start(exchange);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode why)
{
	struct exchange *exchange = *request;
	struct visitor *visitor = visitor_of(connection);

	(void)context;
	(void)why;
	if (visitor)
		visitor->since_ns = serve_now_ns();
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

/* ---- connections ----------------------------------------------------------------------------- */

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct visitor *visitor = *socket_context;

	(void)context;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED && visitor) {
		*visitor = (struct visitor){0};
		*socket_context = NULL;
	}
	for (size_t i = 0; i < CONNECTIONS_MAX && what == MHD_CONNECTION_NOTIFY_STARTED; i++) {
		visitor = &server.visitor[i];
		if (visitor->is_used)
			continue;
		*visitor = (struct visitor){info->connect_fd, serve_now_ns(), true};
		*socket_context = visitor;
		return;
	}
}

static void part_with_the_slow(uint64_t now_ns)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct visitor *visitor = &server.visitor[i];

		if (visitor->is_used && visitor->since_ns &&
		    now_ns - visitor->since_ns > REQUEST_SECONDS * SECOND_NS)
			(void)shutdown(visitor->socket, SHUT_RDWR);
	}
}

static void on_job_ended(const struct serve_job *job, int status)
{
	struct exchange *exchange = job->owner;

	exchange->answer_fd = job->answer_fd;
	exchange->complaint_fd = job->complaint_fd;
	exchange->status = status;
	exchange->is_late = job->is_late;
	exchange->is_done = true;
	MHD_resume_connection(exchange->connection);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int timeout_ms(void)
{
	MHD_UNSIGNED_LONG_LONG wanted;

	if (MHD_get_timeout(server.daemon, &wanted) == MHD_YES && wanted < LOOK_MS)
		return (int)wanted;
	return LOOK_MS;
}

static int loop(int children_fd, int stop_fd)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server.daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd ready[] = {{.fd = info ? info->epoll_fd : -1, .events = POLLIN},
				 {.fd = children_fd, .events = POLLIN},
				 {.fd = stop_fd, .events = POLLIN}};
	struct signalfd_siginfo child;

	while (!(ready[2].revents & POLLIN)) {
		if (poll(ready, 3, timeout_ms()) < 0 && errno != EINTR)
			return -errno;
		while (read(children_fd, &child, sizeof(child)) > 0)
			;
		serve_jobs_collect(&server.jobs, serve_now_ns(), on_job_ended);
		part_with_the_slow(serve_now_ns());
		if (MHD_run(server.daemon) != MHD_YES)
			return -EIO;
	}
	return 0;
}

int serve_http_run(const struct serve_http *http, int listener, int stop_fd)
{
	sigset_t child;
	int err = serve_page_policy(server.page_policy), children_fd;

	if (err)
		return err;
	server.http = http;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	children_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children_fd < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	server.daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, NULL,
		MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, NULL, MHD_OPTION_UNESCAPE_CALLBACK, decode, NULL, MHD_OPTION_END);
	err = server.daemon ? loop(children_fd, stop_fd) : -EIO;
	serve_jobs_stop(&server.jobs, on_job_ended);
	if (server.daemon)
		MHD_stop_daemon(server.daemon);
	close(children_fd);
	return err;
}
