/* SPDX-License-Identifier: MIT */
/*
 * entries_find.c - see entries_find.h.
 *
 * A relay in the gap lies between the previous function and this one: in bytes that belong to no
 * entry of .eh_frame (or, in an object without that section, to no symbol) and consist only of
 * instructions that do nothing. They are there for alignment, after code whose last instruction
 * returns, jumps or never continues, and no thread executes them.
 */
#include "entries_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls_out.h"
#include "elf_segment.h"
#include "elf_symbols.h"
#include "unwind_table.h"

/* bytes before a function that are examined: alignment takes no more */
#define GAP_MAX 64u
/* distance around a relay's page, so that other mappings have room to grow */
#define FAR_MARGIN (1ull << 20)
/*
 * the same below the main stack and, where there is a choice, above the heap: each grows in one
 * piece
 */
#define GROWTH_MARGIN (1ull << 28)
/* the same above a heap that its allocator cannot do without: all that a jump reaches */
#define HEAP_REACH (1ull << 36)

struct finder {
	const struct elf_images *images;
	const struct maps *maps;
	const struct memory *memory;
	const struct allocators *allocators;
	struct entries entries;
};

/* ---- code ------------------------------------------------------------------------------------ */

static bool is_code_as_in_file(const struct finder *finder, const struct elf_image *image,
			       remote_addr at, const uint8_t *file, size_t size)
{
	const struct mapping *mapping = maps_find(finder->maps, at);
	uint8_t now[GAP_MAX];

	return size <= sizeof(now) && mapping && at + size <= mapping->hi && mapping->executable &&
	       !mapping->shared && mapping->inode == image->inode &&
	       mapping->device == image->device &&
	       (!finder->memory ||
		(memory_read(finder->memory, at, now, size) == 0 && memcmp(now, file, size) == 0));
}

/* Is the whole page as in the file? One that was written to is no longer the file's (code_swap.h).
 */
static bool is_page_as_in_file(const struct finder *finder, const struct elf_image *image,
			       remote_addr at)
{
	const remote_addr page = at / HI_PAGE_BYTES * HI_PAGE_BYTES;
	uint8_t now[HI_PAGE_BYTES];
	const void *file;
	const size_t known = elf_segment_page(image->elf, page - image->bias, &file);

	return known && (!finder->memory || (memory_read(finder->memory, page, now, known) == 0 &&
					     memcmp(now, file, known) == 0));
}

/* ---- relays ---------------------------------------------------------------------------------- */

/* The previous function, as addresses in the file. */
struct previous {
	uint64_t at; /* of the function */
	uint64_t start, end;
};

static struct previous previous_by_frame(const struct eh_frame *frame, uint64_t at)
{
	struct previous previous = {.at = at};

	for (size_t i = 0; i < frame->fde_count && frame->fde[i].lo < at; i++)
		if (frame->fde[i].hi > previous.end) {
			previous.start = frame->fde[i].lo;
			previous.end = frame->fde[i].hi;
		}
	return previous;
}

static void note_previous(void *context, const struct elf_function *function)
{
	struct previous *previous = context;
	const remote_addr end = function->address + function->size;

	if (function->address >= previous->at)
		return;
	if (function->address >= previous->start) {
		previous->start = function->address;
		/* where code of unknown size ends is not known */
		previous->end = function->size ? previous->end : previous->at + 1;
	}
	previous->end = end > previous->end ? end : previous->end;
}

/* The same by the symbols of an object without .eh_frame (musl). */
static struct previous previous_by_symbols(const struct elf_image *image, remote_addr at)
{
	struct previous previous = {.at = at};
	size_t room = ELF_SYMBOLS_BYTES_MAX;

	elf_symbols_visit(image, &room, note_previous, &previous);
	return (struct previous){at - image->bias, previous.start - image->bias,
				 previous.end - image->bias};
}

/* May a thread come from its last instruction to what follows? Calls there never return. */
static bool falls_through(const struct elf_image *image, const struct previous *previous)
{
	const size_t size = (size_t)(previous->end - previous->start);
	struct arch_instruction instruction = {.flow = ARCH_FLOW_NEXT};
	const void *code;

	if (elf_segment_bytes(image->elf, previous->start, size, &code) < 0)
		return true;
	for (size_t at = 0; at < size; at += instruction.size)
		if (!arch_decode((const uint8_t *)code + at, size - at, previous->start + at,
				 &instruction))
			return true;
	return instruction.flow == ARCH_FLOW_NEXT || instruction.flow == ARCH_FLOW_BRANCH;
}

/* How many bytes lie between the previous function and this one; 0: too many, or code. */
static size_t gap_before(const struct elf_image *image, const struct eh_frame *frame,
			 remote_addr at)
{
	const struct previous previous = frame->fde_count
						 ? previous_by_frame(frame, at - image->bias)
						 : previous_by_symbols(image, at);

	return previous.start < previous.end && previous.end <= previous.at &&
			       previous.at - previous.end <= GAP_MAX &&
			       !falls_through(image, &previous)
		       ? (size_t)(previous.at - previous.end)
		       : 0;
}

/*
 * How many bytes before the end of this padding one of its instructions begins, with room for a
 * relay; 0: nowhere, or it is not all padding.
 */
static size_t find_room(const uint8_t *code, size_t size)
{
	size_t found = 0;

	for (size_t at = 0; at < size;) {
		struct arch_instruction instruction;

		if (size - at >= ARCH_JUMP_BYTES)
			found = size - at;
		if (!arch_decode(code + at, size - at, 0, &instruction) || !instruction.is_padding)
			return 0;
		at += instruction.size;
	}
	return found;
}

static remote_addr find_gap(const struct finder *finder, const struct elf_image *image,
			    const struct eh_frame *frame, const struct entry *entry)
{
	const size_t size =
		entry->size < ARCH_SHORT_JUMP_BYTES ? 0 : gap_before(image, frame, entry->at);
	const void *code;
	size_t room;

	if (!size ||
	    elf_segment_bytes(image->elf, entry->at - size - image->bias, size, &code) < 0 ||
	    !is_code_as_in_file(finder, image, entry->at - size, code, size))
		return 0;
	room = find_room(code, size);
	return room && room <= ARCH_SHORT_JUMP_REACH ? entry->at - room : 0;
}

static bool is_ours(const struct mapping *mapping)
{
	return strcmp(mapping->path, "/memfd:" HI_MEMFD_NAME) == 0;
}

/* Does the mapping leave the page alone, and room around it? */
static bool is_clear_of(const struct mapping *mapping, remote_addr page, uint64_t above_heap)
{
	const bool is_heap = strcmp(mapping->path, "[heap]") == 0,
		   is_stack = strcmp(mapping->path, "[stack]") == 0;
	const uint64_t above = is_heap ? above_heap : FAR_MARGIN,
		       below = is_stack ? GROWTH_MARGIN : 2 * FAR_MARGIN;

	return mapping->lo >= page + below || mapping->hi + above <= page;
}

/* Is the place in a page where nothing is mapped? Several relays may share the page. */
static bool is_free_place(const struct finder *finder, remote_addr at, uint64_t above_heap)
{
	const remote_addr page = at / HI_PAGE_BYTES * HI_PAGE_BYTES;

	for (size_t i = 0; i < finder->maps->count; i++) {
		const struct mapping *mapping = &finder->maps->mapping[i];

		if (!is_clear_of(mapping, page, above_heap) &&
		    (finder->memory || !is_ours(mapping)))
			return false;
	}
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (finder->entries.entry[hook].by == ENTRY_FAR_AWAY &&
		    finder->entries.entry[hook].relay + ARCH_JUMP_BYTES - 1 - at <
			    2 * ARCH_JUMP_BYTES - 1)
			return false;
	return page >= FAR_MARGIN && page < ARCH_USER_END - 2 * FAR_MARGIN;
}

/*
 * The first free place to which a jump of this size at the function can lead. above_heap: how much
 * must be free between the heap and the place.
 */
static remote_addr far_place(const struct finder *finder, const struct entry *entry,
			     size_t jump_size, uint64_t above_heap)
{
	remote_addr lo, hi;

	if (!arch_punned_reach(entry->code, entry->size, jump_size, entry->at, &lo, &hi))
		return 0;
	for (remote_addr at = lo; at + 1 <= hi; at = (at / HI_PAGE_BYTES + 1) * HI_PAGE_BYTES) {
		if (at % HI_PAGE_BYTES <= HI_PAGE_BYTES - ARCH_JUMP_BYTES &&
		    is_free_place(finder, at, above_heap))
			return at;
	}
	return 0;
}

/*
 * A place to which a jump at the function can lead without changing more than its first
 * instruction. A longer jump ends in other bytes, and so leads elsewhere.
 */
static remote_addr find_far_place(const struct finder *finder, struct entry *entry)
{
	const bool takes_heap = finder->allocators->takes_heap;
	const uint64_t above_heap[] = {takes_heap ? HEAP_REACH : GROWTH_MARGIN,
				       takes_heap ? HEAP_REACH : FAR_MARGIN};
	remote_addr at = 0;

	for (size_t i = 0; i < 2; i++)
		for (size_t size = ARCH_JUMP_BYTES; size <= ARCH_PADDED_JUMP_MAX && !at; size++) {
			at = far_place(finder, entry, size, above_heap[i]);
			entry->jump_size = (uint8_t)size;
		}
	return at;
}

static void find_relay(struct finder *finder, const struct elf_image *image,
		       const struct eh_frame *frame, struct entry *entry)
{
	entry->relay = find_gap(finder, image, frame, entry);
	entry->by = ENTRY_IN_GAP;
	entry->jump_size = ARCH_SHORT_JUMP_BYTES;
	if (entry->relay)
		return;
	entry->by = ENTRY_DIRECT; /* so that is_free_place skips this entry */
	entry->relay = find_far_place(finder, entry);
	entry->by = ENTRY_FAR_AWAY;
}

/* Is the entry in this image, with a first instruction shorter than a jump to the gate? */
static bool needs_relay(const struct finder *finder, const struct elf_image *image,
			const struct entry *entry)
{
	return entry->at && entry->size < ARCH_JUMP_BYTES &&
	       elf_images_find(finder->images, entry->at) == image;
}

static int find_relays_in(struct finder *finder, const struct elf_image *image)
{
	uint64_t lo = UINT64_MAX, hi = 0;
	struct eh_section section;
	struct eh_frame frame = {0};
	int err = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &finder->entries.entry[hook];

		if (!needs_relay(finder, image, entry))
			continue;
		lo = entry->at - image->bias < lo ? entry->at - image->bias : lo;
		hi = entry->at - image->bias > hi ? entry->at - image->bias : hi;
	}
	if (lo > hi)
		return 0;
	if (unwind_table_section(image, &section) == 0)
		err = eh_frame_parse(&section, lo - GAP_MAX - 1, hi + 1, &frame);
	for (unsigned hook = 0; hook < HOOKS_MAX && !err; hook++)
		if (needs_relay(finder, image, &finder->entries.entry[hook])) {
			find_relay(finder, image, &frame, &finder->entries.entry[hook]);
			if (!finder->entries.entry[hook].relay)
				entries_drop(&finder->entries, hook);
		}
	eh_frame_close(&frame);
	return err;
}

/* Is one of these bytes changed for any function? */
static bool is_changed(const struct entries *entries, remote_addr at, size_t size)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &entries->entry[hook];

		if (!entry->at)
			continue;
		if (entry->at < at + size && at < entry->at + entry->size)
			return true;
		if (entry->by == ENTRY_IN_GAP && entry->relay < at + size &&
		    at < entry->relay + ARCH_JUMP_BYTES)
			return true;
	}
	return false;
}

/*
 * A jump that is longer than the instruction that it replaces ends in bytes of what follows: of the
 * next function, if this one is so short, or of the padding before that. Where these change, too,
 * it would lead anywhere.
 */
static void drop_overlapping(struct entries *entries)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &entries->entry[hook];

		if (entry->at && entry->by == ENTRY_FAR_AWAY &&
		    is_changed(entries, entry->at + entry->size, entry->jump_size - entry->size))
			entries_drop(entries, hook);
	}
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Is the function at this address hooked, perhaps under another name? */
static bool is_hooked(const struct entries *entries, remote_addr at)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (entries->entry[hook].at == at)
			return true;
	return false;
}

/* Looks whether the function's first instruction can be replaced. Fills in the entry's code. */
static enum entry_obstacle obstacle_at(const struct finder *finder, struct entry *entry)
{
	const remote_addr at = entry->at;
	const struct elf_image *image = elf_images_find(finder->images, at);
	const void *code;

	if (!image || !image->is_pinned)
		return ENTRY_MAY_UNLOAD;
	if (image->memory_copy ||
	    elf_segment_bytes(image->elf, at - image->bias, ARCH_ENTRY_MAX, &code) < 0)
		return ENTRY_NO_FILE;
	if (maps_find(finder->maps, at) && maps_find(finder->maps, at)->writable)
		return ENTRY_WRITABLE;
	if (!is_code_as_in_file(finder, image, at, code, ARCH_ENTRY_MAX) ||
	    !is_page_as_in_file(finder, image, at) ||
	    !is_page_as_in_file(finder, image, at + ARCH_ENTRY_MAX - 1))
		return ENTRY_CHANGED;
	memcpy(entry->code, code, sizeof(entry->code));
	const size_t size = arch_entry_size(entry->code, at);

	entry->size = (uint8_t)(size < ARCH_JUMP_BYTES ? size : ARCH_JUMP_BYTES);
	entry->jump_size = ARCH_JUMP_BYTES;
	return size ? ENTRY_NO_OBSTACLE : ENTRY_UNMOVABLE;
}

static void look_at_entry(struct finder *finder, unsigned hook)
{
	struct entry entry = {.at = hook_original(finder->allocators, hook)};

	if (!entry.at)
		return;
	finder->entries.obstacle[hook] = obstacle_at(finder, &entry);
	if (!finder->entries.obstacle[hook] && !is_hooked(&finder->entries, entry.at))
		finder->entries.entry[hook] = entry;
}

/*
 * Is the function the same as an earlier one, or does it only jump to another? Then it is covered
 * by that one's entry.
 */
static void look_at_alias(struct finder *finder, unsigned hook)
{
	const remote_addr original = hook_original(finder->allocators, hook);
	struct entries *entries = &finder->entries;
	const remote_addr target = entries->entry[hook].at
					   ? arch_entry_target(entries->entry[hook].code, original)
					   : 0;

	for (unsigned other = 0; original && other < HOOKS_MAX; other++) {
		const remote_addr at = entries->entry[other].at;

		if (other == hook || !at || (at != original && at != target))
			continue;
		entries->covered_by[hook] = other;
		entries->entry[hook].at = 0;
		return;
	}
	/* it may be the same as an earlier one that only jumps */
	for (unsigned other = 0; original && !entries->entry[hook].at && other < hook; other++)
		if (hook_original(finder->allocators, other) == original &&
		    entries->covered_by[other] != ENTRY_NOT_COVERED)
			entries->covered_by[hook] = entries->covered_by[other];
}

/* Is it a function of an unknown allocator, in this image? */
static bool is_unknown_in(const struct finder *finder, const struct elf_image *image, unsigned hook)
{
	const remote_addr at = finder->entries.entry[hook].at;

	return at && hook_allocator(finder->allocators, hook)->family == ALLOCATOR_UNKNOWN &&
	       elf_images_find(finder->images, at) == image;
}

/* Drops functions of unknown allocators that may be compiled together with their callers. */
static int drop_closed(struct finder *finder, const struct elf_image *image)
{
	struct eh_section section;
	struct eh_frame frame = {0};
	bool is_parsed = false;
	int err = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX && !err; hook++) {
		if (!is_unknown_in(finder, image, hook))
			continue;
		if (!is_parsed && unwind_table_section(image, &section) == 0)
			err = eh_frame_parse(&section, 0, UINT64_MAX, &frame);
		is_parsed = true;
		if (err || calls_out(image, &frame, finder->entries.entry[hook].at))
			continue;
		finder->entries.entry[hook].at = 0;
		finder->entries.obstacle[hook] = ENTRY_REGISTERS;
	}
	eh_frame_close(&frame);
	return err;
}

int entries_find(const struct elf_images *images, const struct maps *maps,
		 const struct memory *memory, const struct allocators *allocators,
		 struct entries *out_entries)
{
	struct finder *finder = calloc(1, sizeof(*finder));
	int err = 0;

	if (!finder)
		return -ENOMEM;
	*finder = (struct finder){
		.images = images, .maps = maps, .memory = memory, .allocators = allocators};
	entries_clear(&finder->entries);
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		look_at_entry(finder, hook);
	for (size_t i = 0; i < images->count && !err; i++)
		err = drop_closed(finder, &images->image[i]);
	for (size_t i = 0; i < images->count && !err; i++)
		err = find_relays_in(finder, &images->image[i]);
	drop_overlapping(&finder->entries);
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		look_at_alias(finder, hook);
	if (!err)
		*out_entries = finder->entries;
	free(finder);
	return err;
}
