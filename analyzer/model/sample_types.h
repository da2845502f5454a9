/* SPDX-License-Identifier: MIT */
/*
 * sample_types.h - what the sample types are called in files: the names of go's heap profiles,
 * which every reader of profiles knows.
 */
#ifndef HI_SAMPLE_TYPES_H
#define HI_SAMPLE_TYPES_H

#include <stdbool.h>

#include "estimate.h"

struct sample_type_name {
	const char *name, *unit; /* "inuse_space", "bytes" */
	const char *meaning;     /* a few words */
	bool is_bytes;
};
extern const struct sample_type_name sample_types[SAMPLE_TYPE_COUNT];

#endif
