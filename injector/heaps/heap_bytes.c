/* SPDX-License-Identifier: MIT */
/* heap_bytes.c - see heap_bytes.h. */
#include "heap_bytes.h"

#include <errno.h>
#include <stdlib.h>

static int make_room(struct heap_bytes *bytes, size_t size)
{
	if (size <= bytes->room)
		return 0;
	uint8_t *grown = realloc(bytes->byte, size);

	if (!grown)
		return -ENOMEM;
	bytes->byte = grown;
	bytes->room = size;
	return 0;
}

int heap_bytes_read(struct heap_bytes *bytes, const struct heap_source *source, remote_addr lo,
		    size_t size)
{
	int err = make_room(bytes, size);

	if (err)
		return err;
	struct pages_range range = {.lo = lo, .byte = bytes->byte, .size = size};
	err = pages_read(source->pages, source->memory, &range);
	bytes->lo = lo;
	bytes->size = size;
	bytes->known_hi = range.known_hi;
	return err;
}

void heap_bytes_close(struct heap_bytes *bytes)
{
	free(bytes->byte);
	*bytes = (struct heap_bytes){0};
}

int heap_word(const struct heap_source *source, remote_addr at, uint64_t *out_word)
{
	uint8_t byte[sizeof(*out_word)];
	struct heap_bytes bytes = {.byte = byte, .room = sizeof(byte)};
	const int err = heap_bytes_read(&bytes, source, at, sizeof(byte));

	if (err)
		return err;
	if (!heap_bytes_has(&bytes, at, sizeof(byte)))
		return -ENODATA;
	*out_word = heap_bytes_word(&bytes, at);
	return 0;
}
