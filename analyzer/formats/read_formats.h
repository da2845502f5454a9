/* SPDX-License-Identifier: MIT */
/*
 * read_formats.h - the readers of other tools' formats, which reader.c has in its table. The
 * contract of each pair is that of recognize() and read() in struct reader.
 *
 * docs/formats.md says what each figure means in each format, and by which rule it is scaled.
 */
#ifndef HI_READ_FORMATS_H
#define HI_READ_FORMATS_H

#include "input.h"
#include "profile.h"

/* jemalloc's own heap profile, "heap_v2/524288", with its threads. */
bool read_jemalloc_recognize(const uint8_t *bytes, size_t size);
int read_jemalloc(struct input *input, struct profile *profile);
/*
 * A list of names ("--- symbol"), and then a heap profile or jemalloc's heap profile, as jeprof
 * --raw writes them.
 */
bool read_symbolized_recognize(const uint8_t *bytes, size_t size);
int read_symbolized(struct input *input, struct profile *profile);
/* A recording of heaptrack that its interpreter has processed: "v 10400 3". */
bool read_heaptrack_recognize(const uint8_t *bytes, size_t size);
int read_heaptrack(struct input *input, struct profile *profile);
/* github.com/google/pprof's profile.proto. */
bool read_pprof_recognize(const uint8_t *bytes, size_t size);
int read_pprof(struct input *input, struct profile *profile);
/* A heap profile of Google's agent for Java: "--- heapz 1 ---". */
bool read_java_recognize(const uint8_t *bytes, size_t size);
int read_java(struct input *input, struct profile *profile);
/* What is no heap profile, and is refused by its name: CPU, contention, JFR and others. */
bool refused_recognize(const uint8_t *bytes, size_t size);
int refused_read(struct input *input, struct profile *profile);
/*
 * "main;serve;malloc 4096", or with two numbers, before and after. Nothing marks the format, so it
 * is recognized last.
 */
bool read_collapsed_recognize(const uint8_t *bytes, size_t size);
int read_collapsed(struct input *input, struct profile *profile);

#endif
