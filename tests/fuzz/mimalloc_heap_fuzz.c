/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_heap_fuzz.c - the reader of mimalloc's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

HEAP_FUZZ(.victim = "heap_victim", .preload = "libmimalloc.so.2", .name = "mimalloc",
	  .object = "mimalloc")
