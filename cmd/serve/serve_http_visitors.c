/* SPDX-License-Identifier: MIT */
/* serve_http_visitors.c - see serve_http_visitors.h. */
#include "serve_http_visitors.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "jobs.h"

#define REQUEST_NS UINT64_C(30000000000) /* for a whole request, however slowly it trickles */

static struct visitor {
	int socket;
	uint64_t since_ns; /* 0 = its request is complete, or it was parted with */
	bool is_used;
} visitors[VISITORS_MAX];

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* So many connections that ask nothing leave room for those that do. */
static void make_room(void)
{
	struct visitor *longest = NULL;
	size_t used = 0;

	for (size_t i = 0; i < VISITORS_MAX; i++) {
		struct visitor *visitor = &visitors[i];

		used += visitor->is_used;
		if (visitor->is_used && visitor->since_ns &&
		    (!longest || visitor->since_ns < longest->since_ns))
			longest = visitor;
	}
	if (used < VISITORS_MANY || !longest)
		return;
	(void)shutdown(longest->socket, SHUT_RDWR);
	longest->since_ns = 0; /* its place is free once the connection is closed */
}

void visitors_note(void *context, struct MHD_Connection *connection, void **socket_context,
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
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		make_room();
	for (size_t i = 0; i < VISITORS_MAX && what == MHD_CONNECTION_NOTIFY_STARTED; i++) {
		visitor = &visitors[i];
		if (visitor->is_used)
			continue;
		*visitor = (struct visitor){info->connect_fd, serve_now_ns(), true};
		*socket_context = visitor;
		return;
	}
}

void visitors_have_asked(struct MHD_Connection *connection)
{
	struct visitor *visitor = visitor_of(connection);

	if (visitor)
		visitor->since_ns = 0;
}

void visitors_are_answered(struct MHD_Connection *connection)
{
	struct visitor *visitor = visitor_of(connection);

	if (visitor)
		visitor->since_ns = serve_now_ns();
}

void visitors_part_with_the_slow(uint64_t now_ns)
{
	for (size_t i = 0; i < VISITORS_MAX; i++) {
		const struct visitor *visitor = &visitors[i];

		if (visitor->is_used && visitor->since_ns &&
		    now_ns - visitor->since_ns > REQUEST_NS)
			(void)shutdown(visitor->socket, SHUT_RDWR);
	}
}
