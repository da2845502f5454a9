/* SPDX-License-Identifier: MIT */
/* heap_bytes.c - see heap_bytes.h. */
#include "heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"

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

struct reading {
	struct heap_bytes *bytes;
	const struct memory *memory;
	remote_addr at; /* so far is known what there is */
};

#define IS_UNKNOWN 1 /* ends the walk: from here on nothing is known */

static int read_run(void *context, const struct page_run *run)
{
	struct reading *reading = context;
	struct heap_bytes *bytes = reading->bytes;
	const remote_addr hi = bytes->lo + bytes->size;
	const remote_addr begin = run->lo > reading->at ? run->lo : reading->at;
	const remote_addr end = run->hi < hi ? run->hi : hi;
	int err;

	if (begin >= end)
		return 0;
	memset(bytes->byte + (reading->at - bytes->lo), 0, begin - reading->at);
	reading->at = begin;
	if (run->is_swapped)
		return IS_UNKNOWN;
	err = memory_read(reading->memory, begin, bytes->byte + (begin - bytes->lo), end - begin);
	if (!err)
		reading->at = end;
	return err == -EFAULT ? IS_UNKNOWN : err;
}

int heap_bytes_read(struct heap_bytes *bytes, const struct heap_source *source, remote_addr lo,
		    size_t size)
{
	struct reading reading = {bytes, source->memory, lo};
	const remote_addr hi = lo + size;
	int err = make_room(bytes, size);

	if (err)
		return err;
	bytes->lo = lo;
	bytes->size = size;
	err = pages_visit(source->pages, lo / HI_PAGE_BYTES * HI_PAGE_BYTES,
			  (hi + HI_PAGE_BYTES - 1) / HI_PAGE_BYTES * HI_PAGE_BYTES, true, read_run,
			  &reading);
	bytes->known_hi = err == IS_UNKNOWN ? reading.at : hi;
	memset(bytes->byte + (reading.at - lo), 0, hi - reading.at);
	return err == IS_UNKNOWN ? 0 : err;
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
