/* SPDX-License-Identifier: MIT */
/*
 * glibc_heap_fuzz.c - the reader of glibc's heaps: see heap_fuzz.h.
 *
 * libFuzzer: -max_len=192
 */
#include "heap_fuzz.h"

HEAP_FUZZ(.victim = "heap_victim", .preload = NULL, .name = "glibc", .object = "libc.so")
