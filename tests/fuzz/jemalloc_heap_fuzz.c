/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_heap_fuzz.c - the reader of jemalloc's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

HEAP_FUZZ(.victim = "heap_victim", .preload = "libjemalloc.so.2", .name = "jemalloc",
	  .object = "jemalloc")
