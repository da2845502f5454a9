/* SPDX-License-Identifier: MIT */
/*
 * musl_heap_fuzz.c - the reader of musl's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

HEAP_FUZZ(.victim = "heap_victim_musl", .preload = NULL, .name = "musl", .object = "musl")
