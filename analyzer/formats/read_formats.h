/* SPDX-License-Identifier: MIT */
/*
 * read_formats.h - the other tools' formats that reader.c has in its table beside our own. Contract of each pair: struct reader's recognize() and read().
 *
 * What each figure means there, and by which rule it is scaled, docs/formats.md says.
 */
#ifndef HI_READ_FORMATS_H
#define HI_READ_FORMATS_H

#include "input.h"
#include "profile.h"

/* jemalloc's own heap profile, "heap_v2/524288", with its threads. */
bool read_jemalloc_recognize(const uint8_t *bytes, size_t size);
int read_jemalloc(struct input *input, struct profile *profile);
/* A heap profile or one of jemalloc's behind a list of names, as jeprof --raw writes it: "--- symbol". */
bool read_symbolized_recognize(const uint8_t *bytes, size_t size);
int read_symbolized(struct input *input, struct profile *profile);
/* A recording of heaptrack's, after its interpreter: "v 10400 3". */
bool read_heaptrack_recognize(const uint8_t *bytes, size_t size);
int read_heaptrack(struct input *input, struct profile *profile);
/* github.com/google/pprof's profile.proto. */
bool read_pprof_recognize(const uint8_t *bytes, size_t size);
int read_pprof(struct input *input, struct profile *profile);
/* "main;serve;malloc 4096", or with two numbers, before and after. Nothing marks the format, so it is recognized last. */
bool read_collapsed_recognize(const uint8_t *bytes, size_t size);
int read_collapsed(struct input *input, struct profile *profile);

#endif
