/* SPDX-License-Identifier: MIT */
/* stream_out.c - see stream_out.h. */
#include "stream_out.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* holds most of a million events; the buffer becomes a bit more than twice as large */
#define FULL_BYTES (12u << 20)

int stream_out_open(struct stream_out *out, int fd)
{
	*out = (struct stream_out){.fd = fd, .room = 1u << 20};
	out->buffer = malloc(out->room);
	return out->buffer ? 0 : -ENOMEM;
}

void stream_out_close(struct stream_out *out)
{
	free(out->buffer);
	*out = (struct stream_out){.fd = -1};
}

/*
 * Queued bytes are moved to the front only if that frees at least as many bytes as are moved.
 * Otherwise each record would move the whole queue while the queue is long.
 */
static int make_room(struct stream_out *out, size_t size)
{
	if (out->room - out->end >= size)
		return 0;
	const size_t queued = out->end - out->begin;
	size_t room = out->room;
	while (room / 2 < queued + size)
		room *= 2;
	if (room > out->room) {
		uint8_t *grown = realloc(out->buffer, room);
		if (!grown)
			return -ENOMEM;
		out->buffer = grown;
		out->room = room;
	}
	memmove(out->buffer, out->buffer + out->begin, queued);
	out->begin = 0;
	out->end = queued;
	return 0;
}

int stream_out_record(struct stream_out *out, uint16_t type, void *fixed, size_t fixed_size,
		      const struct stream_part *parts, size_t part_count)
{
	if (out->err)
		return out->err;
	size_t size = fixed_size;
	for (size_t i = 0; i < part_count; i++)
		size += parts[i].size;
	const size_t padded = (size + 7) / 8 * 8;
	int err = make_room(out, padded);
	if (err)
		return err;
	struct hi_stream_record *record = fixed;
	record->size = (uint32_t)padded;
	record->type = type;
	uint8_t *at = out->buffer + out->end;
	memcpy(at, fixed, fixed_size);
	at += fixed_size;
	for (size_t i = 0; i < part_count; i++) {
		if (parts[i].size)
			memcpy(at, parts[i].bytes, parts[i].size);
		at += parts[i].size;
	}
	memset(at, 0, padded - size);
	out->end += padded;
	return 0;
}

int stream_out_flush(struct stream_out *out)
{
	while (!out->err && out->begin < out->end) {
		const ssize_t written =
			write(out->fd, out->buffer + out->begin, out->end - out->begin);
		if (written >= 0)
			out->begin += (size_t)written;
		else if (errno == EAGAIN)
			return 0;
		else if (errno != EINTR)
			out->err = -errno;
	}
	if (out->begin == out->end)
		out->begin = out->end = 0;
	return out->err;
}

int stream_out_drain(struct stream_out *out, int deadline_ms)
{
	for (;;) {
		int err = stream_out_flush(out);
		if (err || out->begin == out->end)
			return err;
		struct pollfd writable = {.fd = out->fd, .events = POLLOUT};
		if (poll(&writable, 1, deadline_ms) == 0)
			return -ETIMEDOUT;
	}
}

bool stream_out_is_full(const struct stream_out *out)
{
	return out->end - out->begin >= FULL_BYTES;
}
