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
 * address before a return address. *out_is_signed: they take its return address for a signed one,
 * which the payload then signs, as far as it can.
 */
static bool has_hook_frame(const struct eh_frame *frame, const struct eh_fde *fde, uint64_t at,
			   bool *out_is_signed)
{
	struct cfi_rules rules;

	if (!cfi_find(frame, fde, at - 1, &rules) || !is_hook_frame(&rules) ||
	    rules.may_be_signed_otherwise ||
	    (rules.is_signed && frame->cie[fde->cie].has_second_key))
		return false;
	*out_is_signed = rules.is_signed;
	return true;
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

struct search {
	const struct elf_image *image;
	const struct memory *memory;
	const struct eh_frame *frame;
	struct text text;
	unsigned worst; /* a rank that will do */
	struct return_gadget best;
};

static void note(struct search *search, uint64_t at, const uint8_t *code, bool is_signed)
{
	const unsigned kept = arch_kept_call_register(code);

	if (!search->best.at || arch_kept_rank(kept) < arch_kept_rank(search->best.kept))
		search->best = (struct return_gadget){
			.at = search->image->bias + at, .kept = kept, .is_signed = is_signed};
}

static bool is_good(const struct return_gadget *gadget, unsigned worst)
{
	return gadget->at && arch_kept_rank(gadget->kept) <= worst;
}

static void search_function(struct search *search, const struct eh_fde *fde)
{
	const struct eh_cie *cie = &search->frame->cie[fde->cie];
	const size_t size = fde->hi - fde->lo;
	bool is_signed;

	if (!cie->is_usable || cie->has_personality || cie->is_signal)
		return;
	const uint8_t *code =
		code_at(&search->text, search->image, fde->lo, size + ARCH_GADGET_MAX);

	if (!code)
		return;
	for (size_t at = arch_find_kept_call(code, ARCH_CALL_MAX, size);
	     at < size && !is_good(&search->best, search->worst);
	     at = arch_find_kept_call(code, at + 1, size))
		if (has_hook_frame(search->frame, fde, fde->lo + at, &is_signed) &&
		    is_fit(search->image, search->memory, fde->lo + at, code + at))
			note(search, fde->lo + at, code + at, is_signed);
}

static struct return_gadget find_in_image(const struct elf_image *image,
					  const struct memory *memory, unsigned worst)
{
	struct eh_section section;
	struct eh_frame frame;
	struct search search = {.image = image, .memory = memory, .frame = &frame, .worst = worst};

	if (!image->is_pinned || image->is_vdso || !image->elf ||
	    unwind_table_cost(image) > SECTION_MAX || unwind_table_section(image, &section) ||
	    eh_frame_parse(&section, 0, UINT64_MAX, &frame))
		return search.best;
	for (size_t i = 0; i < frame.fde_count && !is_good(&search.best, worst); i++)
		search_function(&search, &frame.fde[i]);
	eh_frame_close(&frame);
	return search.best;
}

struct return_gadget return_gadget_find(const struct elf_images *images,
					const struct elf_image *allocator,
					const struct memory *memory, bool is_for_any)
{
	const unsigned worst = is_for_any ? 0 : ARCH_KEPT;
	struct return_gadget found = find_in_image(allocator, memory, worst);

	for (size_t i = 0; i < images->count && !is_good(&found, worst); i++) {
		if (&images->image[i] == allocator)
			continue;
		const struct return_gadget other = find_in_image(&images->image[i], memory, worst);

		if (other.at &&
		    (!found.at || arch_kept_rank(other.kept) < arch_kept_rank(found.kept)))
			found = other;
	}
	return found;
}
