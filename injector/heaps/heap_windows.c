/* SPDX-License-Identifier: MIT */
/* heap_windows.c - see heap_windows.h. */
#include "heap_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES (16u << 10)
#define WINDOWS 2048u

struct heap_window {
	struct heap_bytes bytes;
	uint64_t age;
};

static int open_window(struct heap_windows *windows, remote_addr lo, struct heap_window **out)
{
	if (!windows->window) {
		windows->window = calloc(WINDOWS, sizeof(*windows->window));
		windows->age = 1;
	}
	if (!windows->window)
		return -ENOMEM;
	/* different parts of the memory often have the same low bits */
	const uint64_t number = lo / WINDOW_BYTES;
	struct heap_window *window = &windows->window[(number ^ number / WINDOWS) % WINDOWS];
	int err = 0;

	if (window->age != windows->age || window->bytes.lo != lo)
		err = heap_bytes_read(&window->bytes, windows->source, lo, WINDOW_BYTES);
	window->age = err ? 0 : windows->age;
	*out = window;
	return err;
}

int heap_windows_read(struct heap_windows *windows, remote_addr at, void *into, size_t size)
{
	uint8_t *to = into;

	while (size) {
		const remote_addr lo = at / WINDOW_BYTES * WINDOW_BYTES;
		const size_t room = (size_t)(lo + WINDOW_BYTES - at);
		const size_t part = size < room ? size : room;
		struct heap_window *window;
		const int err = open_window(windows, lo, &window);

		if (err)
			return err;
		if (!heap_bytes_has(&window->bytes, at, part))
			return -ENODATA;
		memcpy(to, window->bytes.byte + (at - lo), part);
		to += part;
		at += part;
		size -= part;
	}
	return 0;
}

int heap_windows_word(struct heap_windows *windows, remote_addr at, uint64_t *out_word)
{
	return heap_windows_read(windows, at, out_word, sizeof(*out_word));
}

void heap_windows_drop(struct heap_windows *windows)
{
	windows->age++;
}

void heap_windows_close(struct heap_windows *windows)
{
	for (size_t i = 0; windows->window && i < WINDOWS; i++)
		heap_bytes_close(&windows->window[i].bytes);
	free(windows->window);
	windows->window = NULL;
}
