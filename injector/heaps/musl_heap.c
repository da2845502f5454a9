/* SPDX-License-Identifier: MIT */
/*
 * musl_heap.c - reader of musl's malloc (mallocng): walks the slots of all groups.
 *
 * Whether a slot has a block, its group's meta says; how many bytes of it were asked for, the slot
 * itself does. The program changes both one after the other, without a lock: where they do not
 * agree both are read again, and a slot where they still do not is unsure.
 *
 * musl has no call that gives memory back, as it does that at once: nothing is trimmable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "heap_bytes.h"
#include "musl_metas.h"

#define WINDOW_BYTES (1u << 20)
#define STRIDE_APART (64u << 10) /* slots of this size are read one by one: their heads only */
#define TRIES 3u
#define DEPTH_MAX 8u /* of groups within groups; musl has 4 */

/* The upper three bits of a slot's third byte from the end of its head; the others: its index. */
#define INDEX_MASK 31u
#define RESERVED_SHIFT 5
#define RESERVED_IN_TAIL 5u /* the number is in the last four bytes of the slot */
#define RESERVED_GROUP 6u   /* a group is in the slot */
#define RESERVED_MOVED 7u   /* the block begins further up */
#define FAR_BYTES (65536u * MUSL_UNIT)
#define FAR_MAX 65536u

struct walker {
	struct heap_source *source;
	const struct heap_visitor *visitor;
	struct heap_found *found;
	struct musl_metas metas;
	struct heap_bytes window;
	const struct musl_meta **group; /* those in no other group, by address */
	size_t group_count;
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* How slots of a group are read. */
struct view {
	struct walker *walker;
	const struct musl_meta *meta;
	bool is_fresh; /* what was read before does not count */
};

/* Copies bytes of the group. -ENODATA: they are swapped out, or not mapped. */
static int fetch(const struct view *view, remote_addr at, void *into, size_t size)
{
	struct heap_bytes *window = &view->walker->window;
	struct heap_bytes apart = {.byte = into, .room = size};
	int err;

	if (view->is_fresh || musl_stride(view->meta) >= STRIDE_APART) {
		err = heap_bytes_read(&apart, view->walker->source, at, size);
		return err ? err : heap_bytes_has(&apart, at, size) ? 0 : -ENODATA;
	}
	if (!heap_bytes_has(window, at, size)) {
		err = heap_bytes_read(window, view->walker->source, at, WINDOW_BYTES);
		if (err)
			return err;
	}
	if (!heap_bytes_has(window, at, size))
		return -ENODATA;
	memcpy(into, window->byte + (at - window->lo), size);
	return 0;
}

/* ---- slots ----------------------------------------------------------------------------------- */

static int put(struct walker *walker, remote_addr lo, remote_addr hi, enum heap_kind kind)
{
	const struct heap_piece piece = {.address = lo, .bytes = hi - lo, .kind = kind};

	return lo < hi ? walker->visitor->piece(walker->visitor->context, &piece) : 0;
}

static uint32_t offset_at(const uint8_t *byte)
{
	uint16_t offset;

	memcpy(&offset, byte, sizeof(offset));
	return offset;
}

struct slot {
	unsigned index;
	remote_addr start, end; /* its head is before start, that of the next one is at end */
	remote_addr block;
	uint32_t reserved; /* bytes at its end that were not asked for */
	bool has_group;
};

static struct slot slot_of(const struct musl_meta *meta, unsigned index)
{
	const uint64_t stride = musl_stride(meta);
	const remote_addr start = meta->mem + MUSL_GROUP_HEAD_BYTES + index * stride;

	return (struct slot){
		.index = index, .start = start, .end = start + stride - MUSL_HEAD_BYTES};
}

/* Is this the head of the block at `block`? It ends there, and is of eight bytes. */
static bool is_head(const struct view *view, const struct slot *slot, remote_addr block,
		    const uint8_t head[8])
{
	const uint64_t units = (block - view->meta->mem - MUSL_GROUP_HEAD_BYTES) / MUSL_UNIT;
	uint32_t far;

	if ((head[5] & INDEX_MASK) != slot->index || head[5] >> RESERVED_SHIFT == RESERVED_MOVED)
		return false;
	if (!head[4])
		return offset_at(head + 6) == units;
	memcpy(&far, head, sizeof(far));
	return !offset_at(head + 6) && far == units && far > UINT16_MAX;
}

/* Where the slot's block begins, and its head. -EAGAIN: this makes no sense. */
static int find_block(const struct view *view, struct slot *slot, uint8_t head[8])
{
	remote_addr block = slot->start;
	int err = fetch(view, block - 8, head, 8);

	if (err)
		return err;
	if (head[5] >> RESERVED_SHIFT != RESERVED_MOVED) {
		slot->block = block;
		return is_head(view, slot, block, head) ? 0 : -EAGAIN;
	}
	/* the lower 16 bits of how far: more is possible for a block with a mapping of its own */
	block += offset_at(head + 6) * MUSL_UNIT;
	for (unsigned i = 0; i < FAR_MAX && block < slot->end; i++, block += FAR_BYTES) {
		err = fetch(view, block - 8, head, 8);
		if (err)
			return err;
		slot->block = block;
		if (is_head(view, slot, block, head))
			return 0;
		if (view->meta->size_class != MUSL_CLASS_MAPPED)
			break;
	}
	return -EAGAIN;
}

/* How many bytes of the slot were asked for. */
static int find_size(const struct view *view, struct slot *slot, uint8_t reserved)
{
	uint8_t end[6]; /* up to the byte at slot->end, which is zero as long as nothing overran */
	int err;

	slot->reserved = reserved;
	err = fetch(view, slot->end - 5, end, sizeof(end));
	if (err)
		return err;
	if (reserved == RESERVED_IN_TAIL) {
		memcpy(&slot->reserved, end + 1, sizeof(slot->reserved));
		if (slot->reserved < RESERVED_IN_TAIL || end[0])
			return -EAGAIN;
	} else if (end[5 - reserved]) {
		return -EAGAIN;
	}
	return slot->reserved <= slot->end - slot->block && !end[5] ? 0 : -EAGAIN;
}

static int read_slot(const struct view *view, struct slot *slot)
{
	uint8_t head[8];
	const int err = find_block(view, slot, head);
	const uint8_t reserved = head[5] >> RESERVED_SHIFT;

	if (err)
		return err;
	if (reserved != RESERVED_GROUP)
		return find_size(view, slot, reserved);
	slot->has_group = true;
	return slot->block == slot->start ? 0 : -EAGAIN;
}

/* The group in a slot. */
static int read_inner(const struct view *view, const struct slot *slot, struct musl_meta *out_inner)
{
	struct walker *walker = view->walker;
	const struct musl_meta *known;
	remote_addr at;
	int err = fetch(view, slot->start, &at, sizeof(at));

	if (err)
		return err;
	known = view->is_fresh ? NULL : musl_metas_at(&walker->metas, at);
	if (known)
		*out_inner = *known;
	else
		err = musl_meta_read(walker->source, &walker->metas, at, out_inner);
	if (err)
		return err == -ENODATA ? -EAGAIN : err;
	return out_inner->mem == slot->start && !out_inner->mapped_bytes &&
			       musl_group_bytes(out_inner) <=
				       slot->end + MUSL_HEAD_BYTES - slot->start
		       ? 0
		       : -EAGAIN;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int put_block(struct walker *walker, const struct slot *slot)
{
	const uint64_t before = slot->block - slot->start;
	struct heap_piece piece = {
		.address = slot->block,
		.bytes = slot->end - slot->reserved - slot->block,
		.head_bytes = (uint32_t)(before + MUSL_HEAD_BYTES),
		.tail_bytes = slot->reserved,
		.kind = HEAP_USED,
	};
	int err = 0;

	if (before > UINT32_MAX - MUSL_HEAD_BYTES) {
		piece.head_bytes = MUSL_UNIT;
		err = put(walker, slot->start - MUSL_HEAD_BYTES, slot->block - MUSL_UNIT,
			  HEAP_METADATA);
	}
	return err ? err : walker->visitor->piece(walker->visitor->context, &piece);
}

static int put_free(struct walker *walker, const struct slot *slot)
{
	const struct heap_piece piece = {
		.address = slot->start,
		.bytes = slot->end - slot->start,
		.head_bytes = MUSL_HEAD_BYTES,
		.kind = HEAP_FREE,
	};

	return walker->visitor->piece(walker->visitor->context, &piece);
}

static bool is_free(const struct musl_meta *meta, unsigned index)
{
	return (meta->available | meta->freed) >> index & 1;
}

static bool is_same_group(const struct musl_meta *a, const struct musl_meta *b)
{
	return a->mem == b->mem && a->last == b->last && a->size_class == b->size_class &&
	       a->mapped_bytes == b->mapped_bytes;
}

static int walk_group(struct walker *walker, const struct musl_meta *meta, remote_addr lo,
		      remote_addr hi, unsigned depth);

/* One try. -EAGAIN: what was read does not agree. Nothing was put then. */
static int try_slot(const struct view *view, struct slot *slot, unsigned depth)
{
	struct musl_meta inner;
	int err;

	if (is_free(view->meta, slot->index))
		return put_free(view->walker, slot);
	err = read_slot(view, slot);
	if (err == -ENODATA)
		return -EAGAIN;
	if (err)
		return err;
	if (!slot->has_group)
		return put_block(view->walker, slot);
	err = depth == DEPTH_MAX ? -EAGAIN : read_inner(view, slot, &inner);
	if (err)
		return err == -ENODATA ? -EAGAIN : err;
	err = walk_group(view->walker, &inner, slot->start - MUSL_HEAD_BYTES, slot->end, depth + 1);
	return err;
}

static int walk_slot(struct walker *walker, const struct musl_meta *meta, unsigned index,
		     unsigned depth)
{
	struct musl_meta again = *meta;
	struct view view = {.walker = walker, .meta = &again};
	struct slot slot = slot_of(meta, index);
	int err = try_slot(&view, &slot, depth);

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++) {
		walker->found->reread++;
		view.is_fresh = true;
		slot = slot_of(meta, index);
		err = musl_meta_read(walker->source, &walker->metas, meta->at, &again);
		if (err == -ENODATA || (!err && !is_same_group(meta, &again)))
			err = -EAGAIN;
		else if (!err)
			err = try_slot(&view, &slot, depth);
	}
	return err == -EAGAIN ? put(walker, slot.start - MUSL_HEAD_BYTES, slot.end, HEAP_UNSURE)
			      : err;
}

/* All of [lo, hi), where the group and nothing else is. */
static int walk_group(struct walker *walker, const struct musl_meta *meta, remote_addr lo,
		      remote_addr hi, unsigned depth)
{
	const remote_addr first = meta->mem + MUSL_GROUP_HEAD_BYTES - MUSL_HEAD_BYTES;
	const remote_addr end = meta->mem + musl_group_bytes(meta) - MUSL_HEAD_BYTES;
	int err = put(walker, lo, first, HEAP_METADATA);

	if (clock_now_ns() >= walker->source->deadline_ns)
		return -ETIMEDOUT;
	for (unsigned i = 0; i <= meta->last && !err; i++)
		err = walk_slot(walker, meta, i, depth);
	return err ? err : put(walker, end, hi, HEAP_FREE);
}

/* Is it the group that the meta says it is? 0, or -EAGAIN. */
static int check_group(struct walker *walker, const struct musl_meta *meta, bool is_fresh)
{
	const struct view view = {walker, meta, is_fresh};
	remote_addr back;
	const int err = fetch(&view, meta->mem, &back, sizeof(back));

	if (err)
		return err == -ENODATA ? -EAGAIN : err;
	return back == meta->at ? 0 : -EAGAIN;
}

/* As far as memory goes on from `at`, and to the next address that belongs to something else. */
static remote_addr room_end(const struct walker *walker, remote_addr at, size_t next)
{
	const struct maps *maps = walker->source->maps;
	const struct mapping *mapping = maps_find(maps, at);
	remote_addr end = UINT64_MAX; /* it may be younger than the list of mappings */

	if (mapping) {
		end = mapping->hi;
		while (++mapping < maps->mapping + maps->count && mapping->lo == end)
			end = mapping->hi;
	}
	if (next < walker->group_count && walker->group[next]->mem < end)
		end = walker->group[next]->mem;
	for (size_t i = 0; i < walker->metas.area_count; i++) {
		const remote_addr area = walker->metas.area[i];

		if (area + MUSL_AREA_BYTES > at && area < end)
			end = area > at ? area : at;
	}
	return end;
}

/* A group that is in no other one. *at: where the one before it ended. */
static int walk_outer(struct walker *walker, size_t number, remote_addr *at)
{
	const struct musl_meta *meta = walker->group[number];
	struct musl_meta again = *meta;
	int err = check_group(walker, &again, false);

	for (unsigned i = 0; err == -EAGAIN && i < TRIES; i++) {
		walker->found->reread++;
		err = musl_meta_read(walker->source, &walker->metas, meta->at, &again);
		if (err == -ENODATA || (!err && again.mem != meta->mem))
			return 0; /* it is gone */
		if (!err)
			err = check_group(walker, &again, true);
	}
	if (err && err != -EAGAIN)
		return err;
	const uint64_t bytes = again.mapped_bytes ? again.mapped_bytes : musl_group_bytes(&again);
	const remote_addr end = room_end(walker, again.mem, number + 1);
	const remote_addr hi = bytes > end - again.mem ? end : again.mem + bytes;

	if (hi - again.mem < bytes)
		err = -EAGAIN;
	if (again.mem < *at || (err && !maps_find(walker->source->maps, again.mem)))
		return 0;
	*at = hi;
	if (err)
		return put(walker, again.mem, hi, HEAP_UNSURE);
	/* groups in its slots become free slots of it; what is of the dynamic linker stays */
	err = again.mapped_bytes ? heap_visit_whole(walker->visitor, again.mem, hi) : 0;
	return err ? err : walk_group(walker, &again, again.mem, hi, 0);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b)
{
	const remote_addr left = (*(const struct musl_meta *const *)a)->mem;
	const remote_addr right = (*(const struct musl_meta *const *)b)->mem;

	return left < right ? -1 : left > right;
}

/* Those with a mapping of their own, and those in memory that the dynamic linker has left over. */
static int sort_outer(struct walker *walker)
{
	const struct musl_metas *metas = &walker->metas;

	walker->group = malloc((metas->count + 1) * sizeof(*walker->group));
	if (!walker->group)
		return -ENOMEM;
	for (size_t i = 0; i < metas->count; i++)
		if (metas->meta[i].mapped_bytes || !metas->meta[i].is_freeable)
			walker->group[walker->group_count++] = &metas->meta[i];
	qsort(walker->group, walker->group_count, sizeof(*walker->group), compare_groups);
	return 0;
}

static int walk_all(struct walker *walker)
{
	remote_addr at = 0;
	int err = sort_outer(walker);

	for (size_t i = 0; i < walker->metas.area_count && !err; i++)
		err = put(walker, walker->metas.area[i], walker->metas.area[i] + MUSL_AREA_BYTES,
			  HEAP_METADATA);
	for (size_t i = 0; i < walker->group_count && !err; i++)
		err = walk_outer(walker, i, &at);
	return err;
}

int musl_heap_walk(struct heap_source *source, const struct elf_image *image,
		   const struct heap_visitor *visitor, struct heap_found *out_found)
{
	struct walker walker = {.source = source, .visitor = visitor, .found = out_found};
	int err = musl_metas_find(source, image, &walker.metas, out_found->refusal);

	strcpy(out_found->name, "musl (mallocng)");
	out_found->arenas = 1;
	if (err == -EPROTO)
		strcpy(out_found->name, "musl");
	if (!err)
		err = walk_all(&walker);
	musl_metas_close(&walker.metas);
	heap_bytes_close(&walker.window);
	free(walker.group);
	return err == -EPROTO ? 0 : err;
}
