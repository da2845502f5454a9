/* SPDX-License-Identifier: MIT */
/* libcodec.c - the library of the program in_library. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

size_t codec_decode(size_t size, bool is_kept);

static __attribute__((noinline, noclone)) void *leak_codec_frame(size_t size)
{
	void *frame = malloc(size);

	if (!frame)
		abort();
	memset(frame, 1, size);
	__asm__ volatile("" : : "r"(frame) : "memory");
	return frame;
}

/* Returns how many bytes it has lost. */
size_t codec_decode(size_t size, bool is_kept)
{
	static void *recent[64];
	static size_t count;
	void *frame = leak_codec_frame(size);

	if (is_kept)
		return size;
	free(recent[count % 64]);
	recent[count++ % 64] = frame;
	return 0;
}
