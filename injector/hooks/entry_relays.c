/* SPDX-License-Identifier: MIT */
/*
 * entry_relays.c - see entry_relays.h.
 *
 * A relay in the gap lies between the previous function and this one: in bytes that belong to no
 * entry of .eh_frame (or, in an object without that section, to no symbol) and consist only of
 * instructions that do nothing. They are there for alignment, after code whose last instruction
 * returns, jumps or never continues, and no thread executes them.
 */
#include "entry_relays.h"

#include <string.h>

#include "elf_segment.h"
#include "elf_symbols.h"
#include "hi_page.h"
#include "unwind_table.h"

/* bytes before a function that are examined: alignment takes no more */
#define GAP_MAX ENTRY_CODE_MAX
/* distance around a relay's page, so that other mappings have room to grow */
#define FAR_MARGIN (1ull << 20)
/*
 * the same below the main stack and, where there is a choice, above the heap: each grows in one
 * piece
 */
#define GROWTH_MARGIN (1ull << 28)
/* the same above a heap that its allocator cannot do without: all that a jump reaches */
#define HEAP_REACH (1ull << 36)

struct relay_search {
	const struct elf_images *images;
	const struct entry_code *code;
	bool takes_heap;
	struct entries *entries;
};

/* ---- in the gap ------------------------------------------------------------------------------ */

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

static remote_addr find_gap(const struct relay_search *search, const struct elf_image *image,
			    const struct eh_frame *frame, const struct entry *entry)
{
	const size_t size =
		entry->size < ARCH_SHORT_JUMP_BYTES ? 0 : gap_before(image, frame, entry->at);
	const void *code;
	size_t room;

	if (!size ||
	    elf_segment_bytes(image->elf, entry->at - size - image->bias, size, &code) < 0 ||
	    !entry_code_is_as_in_file(search->code, image, entry->at - size, code, size))
		return 0;
	room = find_room(code, size);
	return room && room <= ARCH_SHORT_JUMP_REACH ? entry->at - room : 0;
}

/* ---- in a page of its own ------------------------------------------------------------------- */

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
static bool is_free_place(const struct relay_search *search, remote_addr at, uint64_t above_heap)
{
	const remote_addr page = at / hi_page_bytes() * hi_page_bytes();

	for (size_t i = 0; i < search->code->maps->count; i++) {
		const struct mapping *mapping = &search->code->maps->mapping[i];

		if (!is_clear_of(mapping, page, above_heap) &&
		    (search->code->memory || !is_ours(mapping)))
			return false;
	}
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (search->entries->entry[hook].by == ENTRY_FAR_AWAY &&
		    search->entries->entry[hook].relay + ARCH_JUMP_BYTES - 1 - at <
			    2 * ARCH_JUMP_BYTES - 1)
			return false;
	return page >= FAR_MARGIN && page < ARCH_USER_END - 2 * FAR_MARGIN;
}

/*
 * The first free place to which a jump of this size at the function can lead. above_heap: how much
 * must be free between the heap and the place.
 */
static remote_addr far_place(const struct relay_search *search, const struct entry *entry,
			     size_t jump_size, uint64_t above_heap)
{
	remote_addr lo, hi;

	if (!arch_punned_reach(entry->code, entry->size, jump_size, entry->at, &lo, &hi))
		return 0;
	for (remote_addr at = lo; at + 1 <= hi; at = (at / hi_page_bytes() + 1) * hi_page_bytes()) {
		if (at % hi_page_bytes() <= hi_page_bytes() - ARCH_JUMP_BYTES &&
		    is_free_place(search, at, above_heap))
			return at;
	}
	return 0;
}

/*
 * A place to which a jump at the function can lead without changing more than its first
 * instruction. A longer jump ends in other bytes, and so leads elsewhere.
 */
static remote_addr find_far_place(const struct relay_search *search, struct entry *entry)
{
	const bool takes_heap = search->takes_heap;
	const uint64_t above_heap[] = {takes_heap ? HEAP_REACH : GROWTH_MARGIN,
				       takes_heap ? HEAP_REACH : FAR_MARGIN};
	remote_addr at = 0;

	for (size_t i = 0; i < 2; i++)
		for (size_t size = ARCH_JUMP_BYTES; size <= ARCH_PADDED_JUMP_MAX && !at; size++) {
			at = far_place(search, entry, size, above_heap[i]);
			entry->jump_size = (uint8_t)size;
		}
	return at;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void find_relay(const struct relay_search *search, const struct elf_image *image,
		       const struct eh_frame *frame, struct entry *entry)
{
	entry->relay = find_gap(search, image, frame, entry);
	entry->by = ENTRY_IN_GAP;
	entry->jump_size = ARCH_SHORT_JUMP_BYTES;
	if (entry->relay)
		return;
	entry->by = ENTRY_DIRECT; /* so that is_free_place skips this entry */
	entry->relay = find_far_place(search, entry);
	entry->by = ENTRY_FAR_AWAY;
}

/* Is the entry in this image, with a first instruction shorter than a jump to the gate? */
static bool needs_relay(const struct relay_search *search, const struct elf_image *image,
			const struct entry *entry)
{
	return entry->at && entry->size < ARCH_JUMP_BYTES &&
	       elf_images_find(search->images, entry->at) == image;
}

static int find_in(const struct relay_search *search, const struct elf_image *image)
{
	uint64_t lo = UINT64_MAX, hi = 0;
	struct eh_section section;
	struct eh_frame frame = {0};
	int err = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &search->entries->entry[hook];

		if (!needs_relay(search, image, entry))
			continue;
		lo = entry->at - image->bias < lo ? entry->at - image->bias : lo;
		hi = entry->at - image->bias > hi ? entry->at - image->bias : hi;
	}
	if (lo > hi)
		return 0;
	if (unwind_table_section(image, &section) == 0)
		err = eh_frame_parse(&section, lo - GAP_MAX - 1, hi + 1, &frame);
	for (unsigned hook = 0; hook < HOOKS_MAX && !err; hook++)
		if (needs_relay(search, image, &search->entries->entry[hook])) {
			find_relay(search, image, &frame, &search->entries->entry[hook]);
			if (!search->entries->entry[hook].relay)
				entries_drop(search->entries, hook);
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

int entry_relays_find(const struct elf_images *images, const struct entry_code *code,
		      bool takes_heap, struct entries *entries)
{
	const struct relay_search search = {images, code, takes_heap, entries};
	int err = 0;

	for (size_t i = 0; i < images->count && !err; i++)
		err = find_in(&search, &images->image[i]);
	drop_overlapping(entries);
	return err;
}
