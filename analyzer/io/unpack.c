/* SPDX-License-Identifier: MIT */
/*
 * unpack.c - one loop for both decompressors: fill the buffer of packed bytes, let the decompressor
 * take from it. Start at unpack_read().
 */
#include "unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PACKED_SIZE (64u << 10)

static const uint8_t gzip_magic[] = {0x1f, 0x8b, 8}, zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};

struct unpack {
	int fd;
	ZSTD_DStream *zstd; /* NULL: it is gzip */
	z_stream gzip;
	uint8_t *packed;
	size_t capacity, begin, end;
	uint64_t taken, made; /* bytes packed and unpacked so far */
	bool at_end;          /* of the packed file */
	bool is_between;      /* every stream that was begun is complete */
	const char *complaint;
};

static bool begins_with(const uint8_t *bytes, size_t size, const uint8_t *magic, size_t magic_size)
{
	return size >= magic_size && memcmp(bytes, magic, magic_size) == 0;
}

bool unpack_recognize(const uint8_t *bytes, size_t size)
{
	return begins_with(bytes, size, gzip_magic, sizeof(gzip_magic)) ||
	       begins_with(bytes, size, zstd_magic, sizeof(zstd_magic));
}

static int open_decompressor(struct unpack *unpack)
{
	const int gzip_window = 15 + 16; /* zlib: +16 asks for a gzip header and trailer */

	if (begins_with(unpack->packed, unpack->end, gzip_magic, sizeof(gzip_magic)))
		return inflateInit2(&unpack->gzip, gzip_window) == Z_OK ? 0 : -ENOMEM;
	unpack->zstd = ZSTD_createDStream();
	return unpack->zstd ? 0 : -ENOMEM;
}

int unpack_open(int fd, const uint8_t *first, size_t size, struct unpack **out_unpack)
{
	struct unpack *unpack = calloc(1, sizeof(*unpack));

	if (!unpack)
		return -ENOMEM;
	unpack->fd = fd;
	unpack->capacity = size > PACKED_SIZE ? size : PACKED_SIZE;
	unpack->packed = malloc(unpack->capacity);
	if (unpack->packed) {
		memcpy(unpack->packed, first, size);
		unpack->end = size;
	}
	if (!unpack->packed || open_decompressor(unpack)) {
		free(unpack->packed);
		free(unpack);
		return -ENOMEM;
	}
	*out_unpack = unpack;
	return 0;
}

static int fill(struct unpack *unpack)
{
	ssize_t got;

	do
		got = read(unpack->fd, unpack->packed, unpack->capacity);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	unpack->begin = 0;
	unpack->end = (size_t)got;
	unpack->at_end = got == 0;
	return 0;
}

/*
 * A decompressor's step: takes from the packed bytes, makes up to `size`. False if they are
 * damaged.
 */
static bool step_gzip(struct unpack *unpack, uint8_t *to, size_t size, size_t *out_made)
{
	const size_t packed = unpack->end - unpack->begin;
	z_stream *gzip = &unpack->gzip;
	int state;

	if (unpack->is_between && (packed == 0 || unpack->packed[unpack->begin] != gzip_magic[0])) {
		unpack->begin = unpack->end; /* padding, as tape drives leave it */
		*out_made = 0;
		return true;
	}
	if (unpack->is_between && inflateReset(gzip) != Z_OK)
		return false;
	gzip->next_in = unpack->packed + unpack->begin;
	gzip->avail_in = (uInt)packed;
	gzip->next_out = to;
	gzip->avail_out = (uInt)size;
	state = inflate(gzip, Z_NO_FLUSH);
	unpack->begin = unpack->end - gzip->avail_in;
	unpack->is_between = state == Z_STREAM_END;
	*out_made = size - gzip->avail_out;
	return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR;
}

static bool step_zstd(struct unpack *unpack, uint8_t *to, size_t size, size_t *out_made)
{
	ZSTD_inBuffer in = {.src = unpack->packed + unpack->begin,
			    .size = unpack->end - unpack->begin};
	ZSTD_outBuffer out = {.dst = to, .size = size};
	const size_t state = ZSTD_decompressStream(unpack->zstd, &out, &in);

	unpack->begin += in.pos;
	*out_made = out.pos;
	if (ZSTD_isError(state))
		return false;
	if (in.pos || out.pos) /* a call with nothing to do announces the next frame */
		unpack->is_between = state == 0;
	return true;
}

static ssize_t complain(struct unpack *unpack, const char *complaint)
{
	unpack->complaint = complaint;
	return -EBADMSG;
}

static bool is_bomb(const struct unpack *unpack)
{
	return unpack->made > UNPACK_MAX ||
	       (unpack->made > UNPACK_FREE &&
		unpack->made - UNPACK_FREE > unpack->taken * UNPACK_RATIO_MAX);
}

ssize_t unpack_read(struct unpack *unpack, uint8_t *to, size_t size)
{
	const size_t most = size < (1u << 30) ? size : 1u << 30; /* zlib counts in 32 bits */
	size_t made = 0;

	while (!made) {
		const size_t before = unpack->begin;
		int err = 0;

		if (unpack->complaint)
			return -EBADMSG;
		if (!(unpack->zstd ? step_zstd : step_gzip)(unpack, to, most, &made)) {
			complain(unpack, "the compressed data is damaged");
			return made ? (ssize_t)made : -EBADMSG; /* first what was good */
		}
		unpack->taken += unpack->begin - before;
		unpack->made += made;
		if (is_bomb(unpack))
			return complain(unpack, "it unpacks to more than any profile would");
		if (made || unpack->begin < unpack->end)
			continue;
		if (unpack->at_end)
			return unpack->is_between
				       ? 0
				       : complain(unpack, "the compressed data is cut off");
		err = fill(unpack);
		if (err)
			return err;
	}
	return (ssize_t)made;
}

const char *unpack_complaint(const struct unpack *unpack)
{
	return unpack->complaint;
}

void unpack_close(struct unpack *unpack)
{
	if (!unpack)
		return;
	if (unpack->zstd)
		ZSTD_freeDStream(unpack->zstd);
	else
		inflateEnd(&unpack->gzip);
	free(unpack->packed);
	free(unpack);
}
