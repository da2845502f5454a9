/* SPDX-License-Identifier: MIT */
/*
 * pprof.h - the profile as gzipped profile.proto, the format of pprof and of all tools that read
 * it.
 *
 * Values are estimates of what the target allocated, rounded: no reader of this format rescales.
 * Four sample types in the order of go's own heap profiles, with in-use bytes as the default
 * unless the profile has another one; after them resident and swapped bytes, where known.
 */
#ifndef HI_PPROF_H
#define HI_PPROF_H

#include <stdio.h>

#include "profile.h"
#include "protobuf.h"

/*
 * Writes a profile, after symbols_resolve(). 0 or -ENOMEM. The caller checks the stream for errors.
 */
int pprof_write(const struct profile *profile, FILE *out);
/* Builds the message that pprof_write() compresses. 0 or -ENOMEM; the caller closes it anyway. */
int pprof_message(const struct profile *profile, struct protobuf *out_message);
/* Writes any message of the format as a file. 0 or -ENOMEM, likewise. */
int pprof_compress(const struct protobuf *message, FILE *out);
/*
 * Prints a message in words, as pprof -raw does. The message must be one of pprof_message(), as
 * nothing is checked. 0 or -ENOMEM.
 */
int pprof_dump(const struct protobuf *message, FILE *out);
/* Prints the comments of such a message, one a line. Likewise. */
int pprof_dump_comments(const struct protobuf *message, FILE *out);

#endif
