/* SPDX-License-Identifier: MIT */
/* sample_types.c - see sample_types.h. */
#include "sample_types.h"

const struct sample_type_name sample_types[SAMPLE_TYPE_COUNT] = {
	[ALLOC_OBJECTS] = {"alloc_objects", "count", "objects allocated", false},
	[ALLOC_SPACE] = {"alloc_space", "bytes", "bytes allocated", true},
	[INUSE_OBJECTS] = {"inuse_objects", "count", "objects in use", false},
	[INUSE_SPACE] = {"inuse_space", "bytes", "bytes in use", true},
};
