/* SPDX-License-Identifier: MIT */
/*
 * heap_windows.h - small reads all over the memory of the process, as chains and trees need them: a
 * cache of windows, so that what lies together is read by one call.
 *
 * What a window has may be out of date: who finds that things do not agree drops the windows, and
 * reads again.
 */
#ifndef HI_HEAP_WINDOWS_H
#define HI_HEAP_WINDOWS_H

#include "heap_bytes.h"

struct heap_window;

/* Zero-initialized but for the source. */
struct heap_windows {
	const struct heap_source *source;
	struct heap_window *window; /* owned */
	uint64_t age;               /* windows that are older are not used */
};

/* 0; -ENODATA: it is swapped out, or not mapped; -ENOMEM, or an error of the memory. */
must_check int heap_windows_read(struct heap_windows *windows, remote_addr at, void *into,
				 size_t size);
must_check int heap_windows_word(struct heap_windows *windows, remote_addr at, uint64_t *out_word);
/* All is read again from here on. */
void heap_windows_drop(struct heap_windows *windows);
void heap_windows_close(struct heap_windows *windows);

#endif
