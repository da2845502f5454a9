/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_layout.h - where tcmalloc of gperftools (2.7 to 2.16) has what: its size classes, its
 * central lists, and the map from pages to spans.
 *
 * All of it is found by its contents in the data of the object: most of these variables are hidden,
 * and have no names in a stripped file. Central lists are headers of rings that point to
 * themselves, one after the other with their numbers; the map is the one that leads from the first
 * page of their spans to these. Memory is spans of whole pages: one block, or objects of one size
 * class, or free.
 */
#ifndef HI_TCMALLOC_LAYOUT_H
#define HI_TCMALLOC_LAYOUT_H

#include "heap_slabs.h"
#include "image_data.h"

#define TCMALLOC_CLASSES_MAX 128u
#define TCMALLOC_SLOTS_MAX 64u
#define TCMALLOC_ADDRESS_BITS 48u /* of its map; it refuses memory above */

/* struct Span, as far as it is known */
struct tcmalloc_descriptor {
	uint64_t page, pages;
	remote_addr next, previous;
	remote_addr objects; /* the first free object of a span of objects */
	uint16_t used;       /* objects that are not in that list */
	uint8_t size_class;  /* 0: one block */
	uint8_t flags;
};
#define TCMALLOC_DESCRIPTOR_BYTES 48u
#define TCMALLOC_LOCATION 3u /* of flags: */
enum { TCMALLOC_IN_USE, TCMALLOC_FREE, TCMALLOC_RETURNED };

struct tcmalloc_layout {
	unsigned page_shift;
	unsigned class_count;
	uint32_t size[TCMALLOC_CLASSES_MAX];  /* of objects, by class */
	uint64_t pages[TCMALLOC_CLASSES_MAX]; /* of a span */
	remote_addr central;                  /* its lists, by class */
	uint64_t *root;                       /* owned: of the map */
	unsigned root_bits, leaf_bits;
};

/* Offsets in a central list, and from one to the next. */
#define TCMALLOC_CENTRAL_BYTES 1216u
#define TCMALLOC_CENTRAL_SLOTS 128u
#define TCMALLOC_CENTRAL_SLOTS_USED 1152u
#define TCMALLOC_SLOT_BYTES 16u

/*
 * 0; -ENOENT: it was never used; -EPROTO: refusal (HEAP_TEXT_MAX bytes) says why it is not
 * understood. Other errors are -ENOMEM or those of the memory. Close layout in any case.
 */
must_check int tcmalloc_layout_find(struct heap_windows *windows, const struct elf_image *image,
				    const struct image_data *data, struct tcmalloc_layout *layout,
				    char *refusal);
void tcmalloc_layout_close(struct tcmalloc_layout *layout);

/* As heap_windows_read. */
must_check int tcmalloc_descriptor_read(struct heap_windows *windows, remote_addr at,
					struct tcmalloc_descriptor *out_descriptor);

#endif
