/* SPDX-License-Identifier: MIT */
/* sample_types.c - see sample_types.h. */
#include "sample_types.h"

const struct sample_type_name sample_types[SAMPLE_TYPE_COUNT] = {
	[ALLOC_OBJECTS] = {"alloc_objects", "count", "objects allocated", false},
	[ALLOC_SPACE] = {"alloc_space", "bytes", "bytes allocated", true},
	[INUSE_OBJECTS] = {"inuse_objects", "count", "objects in use", false},
	[INUSE_SPACE] = {"inuse_space", "bytes", "bytes in use", true},
	[RESIDENT_SPACE] = {"resident_space", "bytes", "bytes in use and in memory", true},
	[SWAPPED_SPACE] = {"swapped_space", "bytes", "bytes in use and swapped out", true},
};

uint64_t sample_type_of_row(const struct profile_row *row, enum sample_type type)
{
	const uint64_t sampled[SAMPLE_TYPE_COUNT] = {
		[ALLOC_OBJECTS] = row->alloc_count,     [ALLOC_SPACE] = row->alloc_bytes,
		[INUSE_OBJECTS] = row->inuse_count,     [INUSE_SPACE] = row->inuse_bytes,
		[RESIDENT_SPACE] = row->resident_bytes, [SWAPPED_SPACE] = row->swapped_bytes};

	return sampled[type];
}

uint64_t sample_type_of_part(const struct part *part, enum sample_type type)
{
	const uint64_t sampled[SAMPLE_TYPE_COUNT] = {
		[ALLOC_OBJECTS] = part->alloc_count,     [ALLOC_SPACE] = part->alloc_bytes,
		[INUSE_OBJECTS] = part->inuse_count,     [INUSE_SPACE] = part->inuse_bytes,
		[RESIDENT_SPACE] = part->resident_bytes, [SWAPPED_SPACE] = part->swapped_bytes};

	return sampled[type];
}
