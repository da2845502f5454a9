/* SPDX-License-Identifier: MIT */
/*
 * sample_types.h - the sample types: what they are called in files, what they are of, and which of
 * them a profile has. Those that every profile has are called as in go's heap profiles, which every
 * reader knows; the others as tcmalloc calls them.
 */
#ifndef HI_SAMPLE_TYPES_H
#define HI_SAMPLE_TYPES_H

#include <stdbool.h>

#include "profile.h"

enum sample_type {
	ALLOC_OBJECTS,
	ALLOC_SPACE,
	INUSE_OBJECTS,
	INUSE_SPACE,
	SAMPLE_TYPES_ALWAYS, /* a profile may have those from here on, all or none */
	/* of the bytes in use, those whose pages are in memory, or swapped out */
	RESIDENT_SPACE = SAMPLE_TYPES_ALWAYS,
	SWAPPED_SPACE,
	SAMPLE_TYPE_COUNT
};
_Static_assert(SAMPLE_TYPE_COUNT == PROFILE_VALUES, "one value for each type");

struct sample_type_name {
	const char *name, *unit; /* "inuse_space", "bytes" */
	const char *meaning;     /* a few words */
	bool is_bytes;
};
extern const struct sample_type_name sample_types[SAMPLE_TYPE_COUNT];

/* Bytes, and not objects. */
static inline bool sample_type_is_space(enum sample_type type)
{
	return type != ALLOC_OBJECTS && type != INUSE_OBJECTS;
}
/* Of blocks that are in use, and not of all that were allocated. */
static inline bool sample_type_is_inuse(enum sample_type type)
{
	return type >= INUSE_OBJECTS;
}
/* How many types the profile has: the first ones. */
static inline int sample_type_count(const struct profile *profile)
{
	return profile->meta.residency == PROFILE_RESIDENCY_KNOWN ? SAMPLE_TYPE_COUNT
								  : SAMPLE_TYPES_ALWAYS;
}

/* The type that is shown where the user has chosen none: that of the file, or bytes in use. */
static inline enum sample_type sample_type_shown_first(const struct profile *profile)
{
	const uint32_t asked = profile->meta.default_type;

	return asked && asked <= (uint32_t)sample_type_count(profile)
		       ? (enum sample_type)(asked - 1)
		       : INUSE_SPACE;
}

/* What was sampled of this type, not scaled up. */
uint64_t sample_type_of_row(const struct profile_row *row, enum sample_type type);
uint64_t sample_type_of_part(const struct part *part, enum sample_type type);

#endif
