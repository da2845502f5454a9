/* SPDX-License-Identifier: MIT */
/* serve_http_stream.c - see serve_http_stream.h. Start at read_on(). */
#include "serve_http_stream.h"

#include <string.h>
#include <sys/socket.h>

#include "serve_http_reply.h"

#define BEAT_NS UINT64_C(10000000000)
#define TAKE_NS UINT64_C(10000000000) /* for an event; a browser takes it in a millisecond */
#define BLOCK_BYTES 16384u

static const char beginning[] = "retry: 2000\n\n", beat[] = ":\n\n";

static struct stream {
	struct MHD_Connection *connection; /* NULL = this place is free */
	struct followed *session;
	struct live_event *event; /* on its way; NULL = `text` is, or nothing */
	const char *text;
	size_t at, size;   /* what was sent of it, and all */
	uint64_t seen;     /* number of the last event */
	uint64_t began_ns; /* sending; 0 = nothing is on its way */
	uint64_t beat_ns;  /* when something has to be sent */
	bool is_suspended, is_over;
} streams[STREAMS_MAX];

static bool has_news(const struct stream *stream)
{
	return stream->session->event && stream->seen != stream->session->event_number;
}

/* Chooses what to send next. False: there is nothing now. */
static bool choose(struct stream *stream, uint64_t now_ns)
{
	if (has_news(stream)) {
		stream->event = live_event_hold(stream->session->event);
		stream->seen = stream->session->event_number;
		stream->text = stream->event->text;
		stream->size = stream->event->size;
	} else if (now_ns >= stream->beat_ns) {
		stream->text = beat;
		stream->size = strlen(beat);
	} else {
		return false;
	}
	stream->at = 0;
	stream->began_ns = now_ns;
	stream->beat_ns = now_ns + BEAT_NS;
	return true;
}

static void end_sending(struct stream *stream)
{
	live_event_let_go(stream->event);
	stream->event = NULL;
	stream->began_ns = 0;
}

static ssize_t read_on(void *context, uint64_t position, char *to, size_t most)
{
	struct stream *stream = context;
	const uint64_t now_ns = serve_now_ns();

	(void)position;
	if (stream->is_over)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!stream->began_ns && !choose(stream, now_ns)) {
		stream->is_suspended = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	const size_t left = stream->size - stream->at, size = left < most ? left : most;
	memcpy(to, stream->text + stream->at, size);
	stream->at += size;
	if (stream->at == stream->size)
		end_sending(stream);
	return (ssize_t)size;
}

static void close_stream(void *context)
{
	struct stream *stream = context;

	end_sending(stream);
	stream->session->watchers--;
	*stream = (struct stream){0};
}

static struct stream *free_stream(void)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		if (!streams[i].connection)
			return &streams[i];
	return NULL;
}

enum MHD_Result stream_begin(struct MHD_Connection *connection, struct followed *session)
{
	const uint64_t now_ns = serve_now_ns();
	struct stream *stream = free_stream();
	struct MHD_Response *response;

	if (!stream)
		return reply_text_with(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				       "as many watch as there may be; again in a while\n",
				       MHD_HTTP_HEADER_RETRY_AFTER, "10");
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_on, stream,
						     close_stream);
	if (!response)
		return MHD_NO;
	*stream = (struct stream){.connection = connection,
				  .session = session,
				  .text = beginning,
				  .size = strlen(beginning),
				  .began_ns = now_ns,
				  .beat_ns = now_ns + BEAT_NS};
	session->watchers++;
	follow_want_news(session, now_ns);
	return reply_response(connection, MHD_HTTP_OK, response, REPLY_EVENTS);
}

static void part_with(const struct stream *stream)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(stream->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		(void)shutdown(info->connect_fd, SHUT_RDWR);
}

void streams_tick(uint64_t now_ns, bool is_over)
{
	for (size_t i = 0; i < STREAMS_MAX; i++) {
		struct stream *stream = &streams[i];

		if (!stream->connection)
			continue;
		stream->is_over |= is_over;
		if (stream->is_suspended &&
		    (is_over || has_news(stream) || now_ns >= stream->beat_ns)) {
			stream->is_suspended = false;
			MHD_resume_connection(stream->connection);
		}
		if (stream->began_ns && now_ns - stream->began_ns > TAKE_NS)
			part_with(stream);
	}
}
