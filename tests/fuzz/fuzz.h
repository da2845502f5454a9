/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what the fuzz targets share. A target is tests/fuzz/NAME_fuzz.c with
 * LLVMFuzzerTestOneInput; its seeds are tests/fuzz/seeds/NAME/.
 *
 * A target hands the bytes to one parser and then checks what the parser promises, so that a wrong
 * answer is a finding as well as a crash. Parsers that read a descriptor or another process's
 * memory get a memory file: no code under test knows that it is being fuzzed. A line ` * libFuzzer:
 * OPTIONS` in a target's opening comment is passed on by tests/fuzz/run.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_CHECK(condition)                                                                 \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			fprintf(stderr, "FUZZ_CHECK failed: %s:%d: %s\n", __FILE__, __LINE__, \
				#condition);                                                  \
			abort();                                                              \
		}                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A memory file with these bytes and nothing else, at its beginning. Always the same descriptor. */
static inline int fuzz_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && !ftruncate(fd, 0));
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* A terminated copy, to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	return text;
}

/* Takes an integer of `width` bytes off the front; what is not there counts as zero. */
static inline uint64_t fuzz_take(const uint8_t **data, size_t *size, size_t width)
{
	uint64_t value = 0;

	if (width > *size)
		width = *size;
	if (width)
		memcpy(&value, *data, width);
	*data += width;
	*size -= width;
	return value;
}

#endif
