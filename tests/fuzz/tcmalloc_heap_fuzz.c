/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_heap_fuzz.c - the reader of tcmalloc's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct heap_fuzz fuzz = {
		.victim = "heap_victim",
		.preload = "libtcmalloc_minimal.so.4",
		.name = "tcmalloc",
		.object = "tcmalloc",
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
