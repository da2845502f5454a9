/* SPDX-License-Identifier: MIT */
/*
 * musl_heap_fuzz.c - the reader of musl's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct heap_fuzz fuzz = {
		.victim = "heap_victim_musl",
		.preload = NULL,
		.name = "musl",
		.object = "musl",
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
