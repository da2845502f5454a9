/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_segments.h - all segments of a mimalloc: where they are, and the table of each.
 */
#ifndef HI_MIMALLOC_SEGMENTS_H
#define HI_MIMALLOC_SEGMENTS_H

#include "mimalloc_table.h"

struct mimalloc_segments {
	const struct heap_source *source;
	struct mimalloc_main main;
	struct mimalloc_layout layout;
	remote_addr *segment; /* by address */
	size_t count, room;
	bool has_pages;          /* one of them does: then the layout is known */
	struct heap_bytes table; /* of the segment that was read last, with its head */
};

/*
 * -ENOENT: never used. -EPROTO: it is not this allocator, or not as it is known: refusal. Or
 * -ENOMEM, or an error of the memory. Close it in either case.
 */
must_check int mimalloc_segments_find(const struct heap_source *source,
				      const struct elf_image *image,
				      struct mimalloc_segments *out_segments,
				      char out_refusal[HEAP_TEXT_MAX]);
/* Reads the head and the table of a segment. -EAGAIN: they make no sense. */
must_check int mimalloc_segments_read(struct mimalloc_segments *segments, remote_addr at,
				      struct mimalloc_head *out_head);
void mimalloc_segments_close(struct mimalloc_segments *segments);

static inline uint64_t mimalloc_segment_bytes(const struct mimalloc_head *head)
{
	return head->slices * MIMALLOC_SLICE_BYTES;
}

#endif
