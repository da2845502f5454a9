/* SPDX-License-Identifier: MIT */
/*
 * pprof.h - the profile as gzipped profile.proto, the format of pprof and of all tools that read
 * it.
 *
 * Values are estimates of what the target allocated, rounded: no reader of this format rescales.
 * Four sample types in the order of go's own heap profiles, with in-use bytes as the default.
 */
#ifndef HI_PPROF_H
#define HI_PPROF_H

#include <stdio.h>

#include "profile.h"

/*
 * Writes a profile, after symbols_resolve(). 0 or -ENOMEM. The caller checks the stream for errors.
 */
int pprof_write(const struct profile *profile, FILE *out);

#endif
