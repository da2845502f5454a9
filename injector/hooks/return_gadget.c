/* SPDX-License-Identifier: MIT */
/* return_gadget.c - see return_gadget.h. Enter at return_gadget_find, the last function. */
#include "return_gadget.h"

#include <string.h>

#include "arch.h"
#include "cfi.h"
#include "elf_segment.h"
#include "unwind_table.h"

/* of code that are read at first: most libraries have a gadget there */
#define TEXT_BYTES (64u << 10)
/* of unwind information, at most, that are searched: libc's is a tenth of that */
#define SECTION_MAX (4u << 20)

static bool is_saved_at(const struct cfi_saved *saved, int64_t offset)
{
	return saved->where == CFI_AT_CFA && saved->offset == offset;
}

static bool is_hook_frame(const struct cfi_rules *rules)
{
	bool is = !rules->cfa_is_expression && rules->cfa_register == ARCH_DWARF_BP &&
		  rules->cfa_offset == ARCH_HOOK_CFA;

	is &= is_saved_at(&rules->pc, ARCH_HOOK_PC) && is_saved_at(&rules->bp, ARCH_HOOK_BP);
	for (unsigned i = 0; i < ARCH_KEPT; i++)
		is &= is_saved_at(&rules->kept[i], arch_hook_kept(i));
	return is;
}

/*
 * Do the unwind rows of the instruction before `at` describe such a frame? Unwinders look up the
 * address before a return address.
 */
static bool has_hook_frame(const struct eh_frame *frame, const struct eh_fde *fde, uint64_t at)
{
	const struct cfi_rules *rules;
	struct cfi_rules initial;
	struct cfi cfi;
	uint64_t pc;
	bool is = false;

	if (!cfi_initial(&frame->section, &frame->cie[fde->cie], &initial))
		return false;
	cfi_start(&cfi, frame, fde, &initial);
	while (cfi_next(&cfi, &pc, &rules) && pc < at) {
		if (!rules)
			return false;
		is = is_hook_frame(rules);
	}
	return is;
}

/*
 * Is the code in memory the same as in the file, and is `at` not a place to which a call returns?
 */
static bool is_fit(const struct elf_image *image, const struct memory *memory, uint64_t at,
		   const uint8_t *code)
{
	uint8_t now[ARCH_CALL_MAX + ARCH_GADGET_MAX];

	return !arch_ends_in_call(code - ARCH_CALL_MAX) &&
	       !memory_read(memory, image->bias + at - ARCH_CALL_MAX, now, sizeof(now)) &&
	       !memcmp(now, code - ARCH_CALL_MAX, sizeof(now));
}

/*
 * The first bytes of a segment. The size doubles each time that more are wanted: libelf remembers
 * each piece that it was asked for, and searches all of them.
 */
struct text {
	uint64_t lo, size;
	const uint8_t *bytes;
};

/* NULL: the file does not have all of it. Functions are examined in ascending order of address. */
static const uint8_t *code_at(struct text *text, const struct elf_image *image, uint64_t at,
			      uint64_t size)
{
	if (at < text->lo || at - text->lo > text->size || text->size - (at - text->lo) < size) {
		const uint64_t room = elf_segment_room(image->elf, at);
		const bool is_further =
			text->size && at >= text->lo &&
			elf_segment_room(image->elf, text->lo) == room + (at - text->lo);
		const uint64_t lo = is_further ? text->lo : at;
		uint64_t wanted = is_further ? 2 * text->size : TEXT_BYTES;
		const void *bytes;

		if (size > room)
			return NULL;
		if (wanted < at - lo + size)
			wanted = at - lo + size;
		if (wanted > at - lo + room)
			wanted = at - lo + room;
		if (elf_segment_bytes(image->elf, lo, wanted, &bytes))
			return NULL;
		*text = (struct text){.lo = lo, .size = wanted, .bytes = bytes};
	}
	return text->bytes + (at - text->lo);
}

/* 0: none in this function. */
static uint64_t find_in_function(const struct elf_image *image, const struct memory *memory,
				 const struct eh_frame *frame, const struct eh_fde *fde,
				 struct text *text)
{
	const size_t size = fde->hi - fde->lo;

	if (!frame->cie[fde->cie].is_usable || frame->cie[fde->cie].has_personality ||
	    frame->cie[fde->cie].is_signal)
		return 0;
	const uint8_t *code = code_at(text, image, fde->lo, size + ARCH_GADGET_MAX);

	if (!code)
		return 0;

	for (size_t at = arch_find_kept_call(code, ARCH_CALL_MAX, size); at < size;
	     at = arch_find_kept_call(code, at + 1, size))
		if (has_hook_frame(frame, fde, fde->lo + at) &&
		    is_fit(image, memory, fde->lo + at, code + at))
			return fde->lo + at;
	return 0;
}

static remote_addr find_in_image(const struct elf_image *image, const struct memory *memory)
{
	struct eh_section section;
	struct eh_frame frame;
	struct text text = {0};
	uint64_t at = 0;

	if (!image->is_pinned || image->is_vdso || !image->elf ||
	    unwind_table_cost(image) > SECTION_MAX || unwind_table_section(image, &section) ||
	    eh_frame_parse(&section, 0, UINT64_MAX, &frame))
		return 0;
	for (size_t i = 0; i < frame.fde_count && !at; i++)
		at = find_in_function(image, memory, &frame, &frame.fde[i], &text);
	eh_frame_close(&frame);
	return at ? image->bias + at : 0;
}

remote_addr return_gadget_find(const struct elf_images *images, const struct elf_image *allocator,
			       const struct memory *memory)
{
	remote_addr found = find_in_image(allocator, memory);

	for (size_t i = 0; i < images->count && !found; i++)
		if (&images->image[i] != allocator)
			found = find_in_image(&images->image[i], memory);
	return found;
}
