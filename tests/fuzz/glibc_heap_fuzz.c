/* SPDX-License-Identifier: MIT */
/*
 * glibc_heap_fuzz.c - the reader of glibc's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct heap_fuzz fuzz = {
		.victim = "heap_victim",
		.preload = NULL,
		.name = "glibc",
		.object = "libc.so",
	};

	(void)argc;
	(void)argv;
	heap_fuzz_begin(&fuzz);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	heap_fuzz_walk(data, size);
	return 0;
}
