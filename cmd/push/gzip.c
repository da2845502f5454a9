/* SPDX-License-Identifier: MIT */
/* gzip.c - see gzip.h. */
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define UNPACKED_MAX ((size_t)512 << 20)
#define GZIP_WINDOW (15 + 16)

/* Makes room for at least one byte more. */
static int grow(uint8_t **bytes, size_t *capacity)
{
	const size_t larger = *capacity ? 2 * *capacity : (size_t)1 << 16;
	uint8_t *const moved = larger > UNPACKED_MAX ? NULL : realloc(*bytes, larger);

	if (!moved)
		return larger > UNPACKED_MAX ? -EFBIG : -ENOMEM;
	*bytes = moved;
	*capacity = larger;
	return 0;
}

int gzip_unpack(const void *packed, size_t size, uint8_t **out_bytes, size_t *out_size)
{
	z_stream stream = {.next_in = (uint8_t *)packed, .avail_in = (uInt)size};
	uint8_t *bytes = NULL;
	size_t capacity = 0;
	int state = inflateInit2(&stream, GZIP_WINDOW), err = state == Z_OK ? 0 : -ENOMEM;

	while (!err && state == Z_OK) {
		err = stream.total_out < capacity ? 0 : grow(&bytes, &capacity);
		if (err)
			break;
		stream.next_out = bytes + stream.total_out;
		stream.avail_out = (uInt)(capacity - stream.total_out);
		state = inflate(&stream, Z_NO_FLUSH);
	}
	if (!err && (state != Z_STREAM_END || stream.avail_in))
		err = -EBADMSG;
	const size_t done = stream.total_out;
	inflateEnd(&stream);
	if (err) {
		free(bytes);
		return err;
	}
	*out_bytes = bytes;
	*out_size = done;
	return 0;
}

int gzip_pack(const uint8_t *bytes, size_t size, uint8_t **out_bytes, size_t *out_size)
{
	z_stream stream = {.next_in = (uint8_t *)bytes, .avail_in = (uInt)size};

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	const size_t capacity = deflateBound(&stream, size);
	uint8_t *const packed = malloc(capacity);
	stream.next_out = packed;
	stream.avail_out = (uInt)capacity;
	const int state = packed ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
	*out_size = stream.total_out;
	deflateEnd(&stream);
	if (state != Z_STREAM_END) {
		free(packed);
		return -ENOMEM;
	}
	*out_bytes = packed;
	return 0;
}
