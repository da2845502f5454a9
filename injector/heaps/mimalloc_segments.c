/* SPDX-License-Identifier: MIT */
/* mimalloc_segments.c - see mimalloc_segments.h. */
#include "mimalloc_segments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "steps.h"

/* what is larger is reserved for something else, as the shadow memory of sanitizers */
#define MAPPING_BYTES_MAX (1ull << 40)
#define CANDIDATES_MAX (1u << 18) /* addresses where a segment may be: 8 TB of mappings */
#define SLICE_BYTES_MAX 112u

static size_t table_bytes(const struct mimalloc_layout *layout)
{
	const size_t slice_bytes = layout->slice_bytes ? layout->slice_bytes : SLICE_BYTES_MAX;

	return layout->table_at + (MIMALLOC_SLICES_MAX + 1) * slice_bytes;
}

int mimalloc_segments_read(struct mimalloc_segments *segments, remote_addr at,
			   struct mimalloc_head *out_head)
{
	int err = heap_bytes_read(&segments->table, segments->source, at,
				  table_bytes(&segments->layout));

	if (err)
		return err;
	return heap_bytes_has(&segments->table, at, MIMALLOC_HEAD_BYTES) &&
			       mimalloc_head_parse(&segments->main, segments->table.byte, at,
						   &segments->layout, out_head) &&
			       (!out_head->used ||
				mimalloc_table_parse(&segments->table, at, out_head,
						     maps_end(segments->source->maps),
						     &segments->layout))
		       ? 0
		       : -EAGAIN;
}

static int add_segment(struct mimalloc_segments *segments, remote_addr at)
{
	if (segments->count == segments->room) {
		const size_t room = segments->room ? 2 * segments->room : 64;
		remote_addr *grown = realloc(segments->segment, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		segments->segment = grown;
		segments->room = room;
	}
	segments->segment[segments->count++] = at;
	return 0;
}

/* If there is a segment at *at: adds it. Advances *at beyond it. */
static int try_address(struct mimalloc_segments *segments, remote_addr *at)
{
	uint8_t byte[MIMALLOC_HEAD_BYTES];
	struct heap_bytes bytes = {.byte = byte, .room = sizeof(byte)};
	struct mimalloc_head head;
	const remote_addr here = *at;
	int err = heap_bytes_read(&bytes, segments->source, here, sizeof(byte));

	*at += MIMALLOC_SEGMENT_BYTES;
	if (err || !heap_bytes_has(&bytes, here, sizeof(byte)) ||
	    !mimalloc_head_parse(&segments->main, byte, here, &segments->layout, &head) ||
	    !maps_find(segments->source->maps, here + mimalloc_segment_bytes(&head) - 1))
		return err;
	*at = here + (mimalloc_segment_bytes(&head) + MIMALLOC_SEGMENT_BYTES - 1) /
			     MIMALLOC_SEGMENT_BYTES * MIMALLOC_SEGMENT_BYTES;
	err = add_segment(segments, here);
	segments->has_pages |= head.used != 0;
	/* the first one that has pages shows how tables are laid out */
	if (!err && !segments->layout.slice_bytes && head.used)
		err = mimalloc_segments_read(segments, here, &head);
	return err == -EAGAIN ? 0 : err;
}

static int find_segments(struct mimalloc_segments *segments)
{
	const struct maps *maps = segments->source->maps;
	struct steps steps = {CANDIDATES_MAX};
	remote_addr at = 0;
	int err = 0;

	for (size_t i = 0; i < maps->count && !err; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		if (!mapping->writable || mapping->shared || mapping->inode ||
		    mapping->hi - mapping->lo > MAPPING_BYTES_MAX)
			continue;
		if (at < mapping->lo)
			at = (mapping->lo + MIMALLOC_SEGMENT_BYTES - 1) / MIMALLOC_SEGMENT_BYTES *
			     MIMALLOC_SEGMENT_BYTES;
		while (!err && at < mapping->hi && steps_take(&steps))
			err = try_address(segments, &at);
	}
	return err || steps.left ? err : -E2BIG;
}

static int refuse(char *refusal, const char *text)
{
	snprintf(refusal, HEAP_TEXT_MAX, "%s", text);
	return -EPROTO;
}

int mimalloc_segments_find(const struct heap_source *source, const struct elf_image *image,
			   struct mimalloc_segments *out_segments, char out_refusal[HEAP_TEXT_MAX])
{
	int err;

	*out_segments = (struct mimalloc_segments){.source = source};
	err = mimalloc_main_find(source, image, &out_segments->main);
	if (err == -ENOENT)
		return refuse(out_refusal, "its heap was not found");
	if (!err && !out_segments->main.count)
		return refuse(out_refusal, "mimalloc 3 is not known");
	if (!err)
		err = find_segments(out_segments);
	if (err == -E2BIG)
		return refuse(out_refusal, "there is too much memory to look for segments in");
	if (err)
		return err;
	if (!out_segments->count)
		return out_segments->main.was_used
			       ? refuse(out_refusal, "it has no segments as of mimalloc 2.0 to 2.2")
			       : -ENOENT;
	if (!out_segments->layout.slice_bytes && out_segments->has_pages)
		return refuse(out_refusal, "how its segments are laid out is not known");
	return 0;
}

void mimalloc_segments_close(struct mimalloc_segments *segments)
{
	mimalloc_main_close(&segments->main);
	heap_bytes_close(&segments->table);
	free(segments->segment);
	segments->segment = NULL;
	segments->count = 0;
}
