/* SPDX-License-Identifier: MIT */
/*
 * stream_file.h - a file in memory that a test writes through a FILE and a reader reads from a
 * descriptor.
 */
#ifndef HI_STREAM_FILE_H
#define HI_STREAM_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"

static inline FILE *memory_file(void)
{
	return fdopen(memfd_create("test", MFD_CLOEXEC), "w+");
}

/* Everything written so far, from the start, cut to `size` bytes if that is shorter. */
static inline void open_input_of(FILE *file, size_t size, struct input *out_input)
{
	fflush(file);
	if (lseek(fileno(file), 0, SEEK_END) > (off_t)size && ftruncate(fileno(file), (off_t)size))
		abort();
	lseek(fileno(file), 0, SEEK_SET);
	if (input_open(out_input, fileno(file)))
		abort();
}

/* All of it as a string, to be freed. */
static inline char *text_of(FILE *file, size_t *out_size)
{
	off_t size;
	char *text;

	fflush(file);
	size = lseek(fileno(file), 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	if (!text || pread(fileno(file), text, (size_t)size, 0) != size)
		abort();
	if (out_size)
		*out_size = (size_t)size;
	return text;
}

#endif
