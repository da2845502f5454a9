/* SPDX-License-Identifier: MIT */
/* heap_axis/libbump.c - a malloc of no known family: nothing is ever given out twice. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ROOM ((size_t)256 << 20)
#define ALIGNMENT 16u
#define HEAD ALIGNMENT /* has the size */

static unsigned char room[ROOM] __attribute__((aligned(ALIGNMENT)));
static size_t taken;

void *malloc(size_t size)
{
	const size_t bytes = HEAD + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	const size_t at = __atomic_fetch_add(&taken, bytes, __ATOMIC_RELAXED);

	if (size > ROOM || at + bytes > ROOM) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(room + at, &size, sizeof(size));
	return room + at + HEAD;
}

void free(void *at)
{
	(void)at;
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return malloc(bytes); /* never used before, so it is zero */
}

void *realloc(void *from, size_t size)
{
	size_t old = 0;
	void *to = malloc(size);

	if (from)
		memcpy(&old, (unsigned char *)from - HEAD, sizeof(old));
	if (to && from)
		memcpy(to, from, old < size ? old : size);
	return to;
}
