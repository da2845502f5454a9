/* SPDX-License-Identifier: MIT */
/* look.c - see look.h. */
#include "look.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* the kernel takes so many at a time */
#define RANGES_AT_ONCE IOV_MAX

void look_begin(struct look *look)
{
	look->count = look->size = 0;
	look->is_complete = true;
}

void look_close(struct look *look)
{
	free(look->range);
	free(look->bytes);
	free(look->again);
	*look = (struct look){0};
}

static bool make_room(struct look *look, size_t size)
{
	if (look->count == look->room) {
		const size_t room = look->room ? look->room * 2 : 64;
		struct iovec *grown = reallocarray(look->range, room, sizeof(*grown));

		if (!grown)
			return false;
		look->range = grown;
		look->room = room;
	}
	while (look->bytes_room - look->size < size) {
		const size_t room = look->bytes_room ? look->bytes_room * 2 : 4096;
		uint8_t *bytes = realloc(look->bytes, room), *again;

		if (!bytes)
			return false;
		look->bytes = bytes;
		again = realloc(look->again, room);
		if (!again)
			return false;
		look->again = again;
		look->bytes_room = room;
	}
	return true;
}

static void remember(struct look *look, remote_addr from, const void *bytes, size_t size)
{
	if (!make_room(look, size)) {
		look->is_complete = false;
		return;
	}
	look->range[look->count++] = (struct iovec){(void *)(uintptr_t)from, size};
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

int look_again(const struct look *look, const struct memory *memory)
{
	size_t done = 0;

	if (!look->is_complete || !look->count)
		return -EAGAIN;
	for (size_t i = 0; i < look->count; i += RANGES_AT_ONCE) {
		const size_t left = look->count - i,
			     count = left < RANGES_AT_ONCE ? left : RANGES_AT_ONCE;
		const struct iovec local = {look->again + done, look->size - done};
		const ssize_t got =
			process_vm_readv(memory->tid, &local, 1, look->range + i, count, 0);

		for (size_t j = i; j < i + count; j++)
			done += look->range[j].iov_len;
		if (got < 0 && errno != EFAULT)
			return -errno;
		if (got < 0 || look->again + done != (uint8_t *)local.iov_base + got)
			return -EAGAIN;
	}
	return memcmp(look->bytes, look->again, look->size) ? -EAGAIN : 0;
}
