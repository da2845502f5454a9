/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_heap_fuzz.c - the reader of tcmalloc's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

HEAP_FUZZ(.victim = "heap_victim", .preload = "libtcmalloc_minimal.so.4", .name = "tcmalloc",
	  .object = "tcmalloc")
