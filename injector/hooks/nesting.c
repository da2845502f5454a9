/* SPDX-License-Identifier: MIT */
/* nesting.c - see nesting.h. Enter at nesting_find. */
#include "nesting.h"

#include <string.h>

#include "elf_segment.h"
#include "hook_table.h"
#include "slots.h"
#include "unwind_table.h"

#define FUNCTION_BYTES_MAX (16u << 10) /* bytes of one function that are examined */
#define UNKNOWN_BYTES_MAX 512u         /* of a function of unknown size */
#define STUB_INSTRUCTIONS 3u           /* most instructions of a stub that calls through a slot */
#define HELPERS_MAX 64u                /* functions that one function calls or jumps to */

struct finder {
	const struct elf_images *images;
	const struct allocators *allocators;
	const struct elf_image *image; /* of the functions that are examined */
	struct eh_frame frame;
	struct entries *entries;
	bool wants_frees; /* looks for ways to functions that free, not to those that allocate */
};

struct code {
	remote_addr at;
	const uint8_t *bytes;
	size_t size;
	bool is_all; /* of a function whose size is known: nothing but that function */
};

struct reached {
	bool by_call, by_jump; /* directly, by the function itself */
	/*
	 * the same through a slot, which may lead to a hook whichever functions are hooked at their
	 * entry
	 */
	bool by_slot_jump;
	bool by_helper;
	remote_addr helper[HELPERS_MAX];
	unsigned helpers;
};

/* ---- code ------------------------------------------------------------------------------------ */

static bool read_code(const struct finder *finder, remote_addr at, uint64_t size,
		      struct code *out_code)
{
	const uint64_t room = elf_segment_room(finder->image->elf, at - finder->image->bias);
	const void *bytes;

	size = size < room ? size : room;
	size = size < FUNCTION_BYTES_MAX ? size : FUNCTION_BYTES_MAX;
	if (!size ||
	    elf_segment_bytes(finder->image->elf, at - finder->image->bias, size, &bytes) < 0)
		return false;
	*out_code = (struct code){.at = at, .bytes = bytes, .size = size};
	return true;
}

static const struct eh_fde *find_fde(const struct finder *finder, remote_addr at)
{
	return eh_frame_find(&finder->frame, at - finder->image->bias);
}

/* The code of a function, or of the one that it jumps to at once. */
static bool find_code(const struct finder *finder, unsigned hook, struct code *out_code)
{
	remote_addr at = hook_original(finder->allocators, hook), address, target;
	const struct eh_fde *fde;
	uint64_t size = 0;
	bool is_known = true;

	if (!read_code(finder, at, ARCH_ENTRY_MAX, out_code) || out_code->size < ARCH_ENTRY_MAX)
		return false;
	target = arch_entry_target(out_code->bytes, at);
	at = target ? target : at;
	fde = find_fde(finder, at);
	if (fde)
		size = fde->hi - (at - finder->image->bias);
	else if (target ||
		 elf_image_symbol(finder->image, hook_table[hook_function(hook)].symbol, &address,
				  &size) ||
		 address != at || !size) {
		size = UNKNOWN_BYTES_MAX;
		is_known = false;
	}
	if (!read_code(finder, at, size, out_code))
		return false;
	out_code->is_all = is_known;
	return true;
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* The slot through which a stub in the procedure linkage table jumps; 0: none. */
static remote_addr slot_of_stub(const struct finder *finder, remote_addr at)
{
	struct arch_instruction instruction;
	struct code code;

	for (unsigned i = 0; i < STUB_INSTRUCTIONS && read_code(finder, at, ARCH_STUB_MAX, &code);
	     i++, at += instruction.size) {
		if (!arch_decode(code.bytes, code.size, at, &instruction) ||
		    instruction.flow == ARCH_FLOW_CALL)
			return 0;
		if (instruction.flow != ARCH_FLOW_NEXT)
			return instruction.slot;
	}
	return 0;
}

/* Mappings, and pools, are none: the payload finds out what is nested in those. */
static bool is_of_allocator(const struct finder *finder, unsigned hook)
{
	const struct hook *of = &hook_table[hook_function(hook)];

	return hook_original(finder->allocators, hook) && !of->is_mapping && !of->is_named;
}

static bool is_allocating(const struct finder *finder, unsigned hook)
{
	return is_of_allocator(finder, hook) && hook_table[hook_function(hook)].gate != GATE_FREE;
}

static bool is_wanted(const struct finder *finder, unsigned hook)
{
	return is_of_allocator(finder, hook) &&
	       (hook_table[hook_function(hook)].gate == GATE_FREE) == finder->wants_frees;
}

static bool is_hooked_at_entry(const struct finder *finder, remote_addr address)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (hook_original(finder->allocators, hook) == address && is_wanted(finder, hook) &&
		    entries_have(finder->entries, hook))
			return true;
	return false;
}

/*
 * Does the slot lead to a function that is hooked? Slots of the standard names lead to the first
 * allocator, and may be hooked themselves.
 */
static bool is_slot_of_allocating(const struct finder *finder, remote_addr slot)
{
	const char *symbol = slots_symbol_at(finder->image, slot);
	const enum hi_function function = symbol ? hook_function_of(symbol) : HI_FN_NONE;
	remote_addr address;

	return (function != HI_FN_NONE && is_wanted(finder, function)) ||
	       (symbol && !elf_images_resolve(finder->images, symbol, &address, NULL) &&
		is_hooked_at_entry(finder, address));
}

static void note_way(const struct finder *finder, const struct code *code,
		     const struct arch_instruction *instruction, struct reached *reached)
{
	const bool is_call = instruction->flow == ARCH_FLOW_CALL;
	const remote_addr target = instruction->target, own_slot = instruction->slot;
	const bool is_entry = target && is_hooked_at_entry(finder, target);
	const remote_addr slot = is_entry                         ? 0
				 : own_slot                       ? own_slot
				 : target - code->at < code->size ? 0
								  : slot_of_stub(finder, target);

	if (is_entry || (slot && is_slot_of_allocating(finder, slot))) {
		reached->by_call |= is_call;
		reached->by_jump |= !is_call && is_entry;
		reached->by_slot_jump |= !is_call && slot;
	} else if (target && !slot && target - code->at >= code->size &&
		   reached->helpers < HELPERS_MAX) {
		reached->helper[reached->helpers++] = target;
	}
}

/*
 * Bytes that cannot be decoded are skipped one by one. A function that begins with a jump through a
 * word may be another name of one that is hooked.
 */
static void look_through(const struct finder *finder, const struct code *code,
			 struct reached *reached)
{
	struct arch_instruction instruction;

	for (size_t offset = 0; offset < code->size; offset += instruction.size) {
		if (!arch_decode(code->bytes + offset, code->size - offset, code->at + offset,
				 &instruction))
			instruction.size = 1;
		else if (!offset && instruction.flow == ARCH_FLOW_JUMP && !instruction.target)
			reached->by_slot_jump = true;
		else if (instruction.flow == ARCH_FLOW_CALL || instruction.flow == ARCH_FLOW_JUMP ||
			 instruction.flow == ARCH_FLOW_BRANCH)
			note_way(finder, code, &instruction, reached);
	}
}

/*
 * Examines helpers whose extent is known: after another function an unrelated function may follow.
 */
static void look_through_helpers(const struct finder *finder, struct reached *reached)
{
	const unsigned helpers = reached->helpers;

	for (unsigned i = 0; i < helpers; i++) {
		const struct eh_fde *fde = find_fde(finder, reached->helper[i]);
		struct reached further = {0};
		struct code code;

		if (!fde || !read_code(finder, reached->helper[i],
				       fde->hi - (reached->helper[i] - finder->image->bias), &code))
			continue;
		look_through(finder, &code, &further);
		reached->by_helper |= further.by_call || further.by_jump || further.by_slot_jump;
	}
}

/* ---- what that means ------------------------------------------------------------------------- */

/* True: calls from that code are known to be nested. */
static bool add_nested_from(struct entries *entries, unsigned hook, const struct code *code)
{
	unsigned number = 0;

	while (number < HI_NESTED_FROM_MAX && entries->nested_from[number].hi)
		number++;
	if (number == HI_NESTED_FROM_MAX)
		return false;
	entries->nested_from[number].hook = hook;
	entries->nested_from[number].lo = code->at;
	entries->nested_from[number].hi = code->at + code->size;
	return true;
}

static enum entry_nesting nesting_of(const struct finder *finder, unsigned hook)
{
	const enum hook_nesting nesting = hook_table[hook_function(hook)].nesting;
	struct reached reached = {0};
	struct code code;

	if (!is_allocating(finder, hook))
		return ENTRY_INNERMOST;
	if (nesting == HOOK_NESTING_ASSUMED && entries_count(finder->entries))
		return ENTRY_NESTS;
	if (!find_code(finder, hook, &code))
		return entries_have(finder->entries, hook) ? ENTRY_NESTS : ENTRY_INNERMOST;
	look_through(finder, &code, &reached);
	look_through_helpers(finder, &reached);
	if (reached.by_helper || reached.by_slot_jump ||
	    (reached.by_jump && nesting != HOOK_NESTING_EXAMINED_NULL))
		return ENTRY_NESTS;
	/* of unknown size: the call may be another function's, and so not nested */
	if (reached.by_call && (!code.is_all || !add_nested_from(finder->entries, hook, &code)))
		return ENTRY_NESTS;
	return reached.by_jump ? ENTRY_NULL : ENTRY_INNERMOST;
}

/* Does the function, which is not hooked at its entry, reach one of its kind that is? */
static bool reaches_hooked(const struct finder *finder, unsigned hook)
{
	struct reached reached = {0};
	struct code code;

	if (!is_wanted(finder, hook) || entries_have(finder->entries, hook) ||
	    !find_code(finder, hook, &code) || !code.is_all)
		return false;
	look_through(finder, &code, &reached);
	look_through_helpers(finder, &reached);
	return reached.by_call || reached.by_jump || reached.by_slot_jump || reached.by_helper;
}

/* Only the first allocator's functions are hooked by slots where they are not at their entry. */
static bool is_hooked_at_all(const struct finder *finder, unsigned hook)
{
	return hook < HI_FUNCTION_COUNT || entries_have(finder->entries, hook);
}

static int look_at_image(struct finder *finder, const struct elf_images *images)
{
	struct eh_section section;
	int err = 0;
	bool is_needed = false;

	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		is_needed |= elf_images_find(images, hook_original(finder->allocators, hook)) ==
			     finder->image;
	if (!is_needed || !finder->image->elf)
		return 0;
	if (unwind_table_section(finder->image, &section) == 0)
		err = eh_frame_parse(&section, 0, UINT64_MAX, &finder->frame);
	for (unsigned hook = 0; hook < HOOKS_MAX && !err; hook++) {
		if (elf_images_find(images, hook_original(finder->allocators, hook)) !=
		    finder->image)
			continue;
		if (is_hooked_at_all(finder, hook))
			finder->entries->nesting[hook] = nesting_of(finder, hook);
		finder->wants_frees = hook_table[hook_function(hook)].gate == GATE_FREE;
		finder->entries->is_seen_inside[hook] = reaches_hooked(finder, hook);
		finder->wants_frees = false;
	}
	eh_frame_close(&finder->frame);
	return err;
}

int nesting_find(const struct elf_images *images, const struct allocators *allocators,
		 struct entries *entries)
{
	int err = 0;

	memset(entries->nested_from, 0, sizeof(entries->nested_from));
	for (size_t i = 0; i < images->count && !err; i++) {
		struct finder finder = {.images = images,
					.allocators = allocators,
					.image = &images->image[i],
					.entries = entries};

		err = look_at_image(&finder, images);
	}
	return err;
}
