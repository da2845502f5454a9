/* SPDX-License-Identifier: MIT */
/*
 * glibc_arenas.h - where glibc's malloc has its memory: its arenas, and what they tell of
 * themselves. Layouts of glibc 2.31 to 2.41, 64-bit.
 *
 * The first arena is in the C library's data, without a symbol. It has 127 lists of free memory of
 * two words each, and an empty list refers to itself: no other data looks so. From there the other
 * arenas are found. What is found has to agree: an arena with its lists, its top with the mapping
 * it lies in, a further heap with the arena that it is of.
 */
#ifndef HI_GLIBC_ARENAS_H
#define HI_GLIBC_ARENAS_H

#include "glibc_state.h"
#include "heap_bytes.h"

#define GLIBC_MINOR_MIN 31
#define GLIBC_MINOR_MAX 41

/* A range of chunks, one after the other, from lo to hi. */
struct glibc_region {
	remote_addr lo, hi;
	uint32_t arena;
	remote_addr metadata_lo; /* from there to lo: of the allocator; lo = none */
	remote_addr top; /* the chunk that never was given out, if it is here; 0 = it is not */
};

struct glibc_arenas {
	int minor; /* 36: glibc 2.36 */
	remote_addr *arena;
	uint32_t count;
	struct glibc_region *region; /* by address */
	size_t region_count, region_room;
	uint64_t mapped_count;  /* of blocks that have a mapping of their own; UINT64_MAX: not known
				 */
	struct heap_bytes data; /* in which the first arena is, and malloc's other variables */
};

/*
 * -ENOENT: never used. -EPROTO: what was found does not agree with itself; out_refusal says what.
 * Or -ENOMEM, or an error of the memory. Close it in either case.
 */
must_check int glibc_arenas_find(const struct heap_source *source, const struct elf_image *image,
				 struct glibc_arenas *out_arenas, char out_refusal[HEAP_TEXT_MAX]);
/* The region that has this address, or NULL. */
const struct glibc_region *glibc_arenas_region(const struct glibc_arenas *arenas, remote_addr at);
void glibc_arenas_close(struct glibc_arenas *arenas);

#endif
