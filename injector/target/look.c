/* SPDX-License-Identifier: MIT */
/* look.c - see look.h. */
#include "look.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"

/* the kernel takes so many at a time */
#define RANGES_AT_ONCE IOV_MAX

static void forget_spans(struct look *look)
{
	free(look->span);
	free(look->again);
	look->span = NULL;
	look->again = NULL;
	look->span_count = look->again_size = 0;
}

void look_begin(struct look *look)
{
	forget_spans(look);
	look->count = look->size = 0;
	look->is_complete = true;
}

void look_close(struct look *look)
{
	forget_spans(look);
	free(look->range);
	free(look->bytes);
	*look = (struct look){0};
}

static bool make_room(struct look *look, size_t size)
{
	if (look->count == look->room) {
		const size_t room = look->room ? look->room * 2 : 64;
		struct look_range *grown = reallocarray(look->range, room, sizeof(*grown));

		if (!grown)
			return false;
		look->range = grown;
		look->room = room;
	}
	while (look->bytes_room - look->size < size) {
		const size_t room = look->bytes_room ? look->bytes_room * 2 : 4096;
		uint8_t *bytes = realloc(look->bytes, room);

		if (!bytes)
			return false;
		look->bytes = bytes;
		look->bytes_room = room;
	}
	return true;
}

static void remember(struct look *look, remote_addr from, const void *bytes, size_t size)
{
	forget_spans(look);
	if (!make_room(look, size)) {
		look->is_complete = false;
		return;
	}
	look->range[look->count++] =
		(struct look_range){.at = from, .size = size, .offset = look->size};
	memcpy(look->bytes + look->size, bytes, size);
	look->size += size;
}

/* The witness is the first range. */
static void remember_witness(struct look *look, const struct memory *memory)
{
	uint8_t witness[WITNESS_BYTES];

	if (memory->witness && !memory_read(memory, memory->witness, witness, sizeof(witness)))
		remember(look, memory->witness, witness, sizeof(witness));
	else
		look->is_complete = false;
}

int look_read(struct look *look, const struct memory *memory, remote_addr from, void *into,
	      size_t size)
{
	const int err = memory_read(memory, from, into, size);

	if (!look)
		return err;
	if (look->is_complete && !look->count)
		remember_witness(look, memory);
	if (err)
		look->is_complete = false;
	else if (look->is_complete)
		remember(look, from, into, size);
	return err;
}

void look_spoil(struct look *look)
{
	look->is_complete = false;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct look_range *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* The ranges must be sorted. */
static void join(struct look *look)
{
	remote_addr end = 0;

	for (size_t i = 0; i < look->count; i++) {
		struct look_range *range = &look->range[i];
		const remote_addr range_end = range->at + range->size;
		struct iovec *span = look->span_count ? &look->span[look->span_count - 1] : NULL;

		if (!span || range->at / HI_PAGE_BYTES > (end - 1) / HI_PAGE_BYTES) {
			span = &look->span[look->span_count++];
			*span = (struct iovec){(void *)(uintptr_t)range->at, 0};
			end = range->at;
		}
		const remote_addr begin = (remote_addr)(uintptr_t)span->iov_base;

		range->span_offset = look->again_size - span->iov_len + (range->at - begin);
		if (range_end > end) {
			look->again_size += range_end - begin - span->iov_len;
			span->iov_len = range_end - begin;
			end = range_end;
		}
	}
}

static bool make_spans(struct look *look)
{
	if (look->span)
		return true;
	qsort(look->range, look->count, sizeof(*look->range), compare_ranges);
	look->span = reallocarray(NULL, look->count, sizeof(*look->span));
	if (!look->span)
		return false;
	join(look);
	look->again = malloc(look->again_size);
	if (!look->again)
		forget_spans(look);
	return look->again;
}

static bool are_same(const struct look *look)
{
	for (size_t i = 0; i < look->count; i++) {
		const struct look_range *range = &look->range[i];

		if (memcmp(look->bytes + range->offset, look->again + range->span_offset,
			   range->size) != 0)
			return false;
	}
	return true;
}

int look_again(struct look *look, const struct memory *memory)
{
	size_t done = 0;

	if (!look->is_complete || !look->count || !make_spans(look))
		return -EAGAIN;
	for (size_t i = 0; i < look->span_count; i += RANGES_AT_ONCE) {
		const size_t left = look->span_count - i,
			     count = left < RANGES_AT_ONCE ? left : RANGES_AT_ONCE;
		const struct iovec local = {look->again + done, look->again_size - done};
		const ssize_t got =
			process_vm_readv(memory->tid, &local, 1, look->span + i, count, 0);

		for (size_t j = i; j < i + count; j++)
			done += look->span[j].iov_len;
		if (got < 0 && errno != EFAULT)
			return -errno;
		if (got < 0 || look->again + done != (uint8_t *)local.iov_base + got)
			return -EAGAIN;
	}
	return are_same(look) ? 0 : -EAGAIN;
}
