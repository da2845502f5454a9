/* SPDX-License-Identifier: MIT */
/*
 * pool_operators.c - see pool_operators.h. Enter at pool_operators_find.
 *
 * The search follows the code of the operator from instruction to instruction, both ways at a
 * branch. A way ends where it calls an allocator. A wrapper has no way to a return left then, but
 * for one that returns the same always: NULL, or something in place of a block of no bytes. A pool
 * has another one, that of a block which it has at hand.
 */
#include "pool_operators.h"

#include <string.h>

#include "arch.h"
#include "elf_segment.h"
#include "hook_table.h"
#include "slots.h"

#define WAYS_MAX 256u           /* places where a function's ways begin */
#define INSTRUCTIONS_MAX 20000u /* of an operator and all that it calls */
#define CALLS_DEEP_MAX 6u
#define STUB_INSTRUCTIONS 3u /* most instructions of a stub that calls through a slot */

struct search {
	const struct elf_images *images;
	const struct allocators *allocators;
	const struct elf_image *image; /* of the operator */
	unsigned instructions;         /* examined so far */
	unsigned depth;
};

struct way {
	remote_addr at;
	bool is_fixed; /* what is returned, if nothing changes it on the way */
};

struct ways {
	struct way way[WAYS_MAX];
	unsigned count;
	bool is_called; /* what calls the function goes on, whatever it returns */
};

/* ---- what is called -------------------------------------------------------------------------- */

static bool is_allocator(const struct search *search, remote_addr at)
{
	for (unsigned hook = 0; hook < search->allocators->count * HI_FUNCTION_COUNT; hook++)
		if (hook_original(search->allocators, hook) == at)
			return true;
	for (size_t i = 0; i < search->allocators->count; i++)
		if (search->allocators->allocator[i].malloc == at)
			return true;
	return false;
}

static bool decode(const struct search *search, remote_addr at,
		   struct arch_instruction *out_instruction)
{
	const uint64_t in_file = at - search->image->bias,
		       room = elf_segment_room(search->image->elf, in_file);
	const size_t size = room < ARCH_STUB_MAX ? (size_t)room : ARCH_STUB_MAX;
	const void *code;

	return size && elf_segment_bytes(search->image->elf, in_file, size, &code) >= 0 &&
	       arch_decode(code, size, at, out_instruction);
}

/* The slot through which a stub in the procedure linkage table jumps; 0: it is no such stub. */
static remote_addr slot_of_stub(const struct search *search, remote_addr at)
{
	struct arch_instruction instruction;

	for (unsigned i = 0; i < STUB_INSTRUCTIONS; i++, at += instruction.size) {
		if (!decode(search, at, &instruction))
			return 0;
		if (instruction.flow == ARCH_FLOW_JUMP)
			return instruction.slot;
		if (instruction.flow != ARCH_FLOW_NEXT)
			return 0;
	}
	return 0;
}

/* Those of the C library that never return. */
static bool is_last(const char *symbol)
{
	static const char *const names[] = {
		"abort",        "exit",          "_exit",         "_Exit",
		"quick_exit",   "__assert_fail", "__assert_func", "__stack_chk_fail",
		"pthread_exit", "longjmp",       "siglongjmp",    "__chk_fail"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(symbol, names[i]) == 0)
			return true;
	return false;
}

static bool is_c_library(const struct elf_image *image)
{
	remote_addr address;

	return image->is_loader ||
	       elf_image_symbol(image, "__libc_start_main", &address, NULL) == 0;
}

/*
 * Does a function that is called through this slot return, without an allocator's help? *out_own:
 * its address, if it is of the same object and remains to be examined.
 */
static bool returns_by_slot(const struct search *search, remote_addr slot, remote_addr *out_own)
{
	const char *symbol = slots_symbol_at(search->image, slot);
	const struct elf_image *image;
	remote_addr address;

	if (!symbol || elf_images_resolve(search->images, symbol, &address, &image) ||
	    is_allocator(search, address))
		return false;
	if (image == search->image) {
		*out_own = address;
		return false;
	}
	return hook_function_of(symbol) == HI_FN_NONE && is_c_library(image) && !is_last(symbol);
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* False: there are too many. */
static bool note(struct ways *ways, remote_addr at, bool is_fixed)
{
	for (unsigned i = 0; i < ways->count; i++)
		if (ways->way[i].at == at && ways->way[i].is_fixed == is_fixed)
			return true;
	if (ways->count == WAYS_MAX)
		return false;
	ways->way[ways->count++] = (struct way){at, is_fixed};
	return true;
}

static bool returns(struct search *search, remote_addr function, bool is_called);

/* Does what the instruction calls, or jumps to for good, return without an allocator's help? */
static bool callee_returns(struct search *search, const struct arch_instruction *instruction,
			   bool is_called)
{
	remote_addr own = instruction->target;
	remote_addr slot = own ? slot_of_stub(search, own) : instruction->slot;

	if (own && is_allocator(search, own))
		return false;
	if (slot) {
		own = 0;
		if (returns_by_slot(search, slot, &own))
			return true;
	}
	return own && returns(search, own, is_called);
}

/*
 * Follows one way. True: it returns what is not always the same. What lies at the other ends of its
 * branches is noted.
 */
static bool way_returns(struct search *search, struct way way, struct ways *ways)
{
	struct arch_instruction instruction;
	remote_addr at = way.at;

	for (; search->instructions < INSTRUCTIONS_MAX; at += instruction.size) {
		search->instructions++;
		if (!decode(search, at, &instruction))
			return false;
		if (instruction.result != ARCH_RESULT_KEPT)
			way.is_fixed = instruction.result == ARCH_RESULT_FIXED;
		switch (instruction.flow) {
		case ARCH_FLOW_NEXT:
			break;
		case ARCH_FLOW_BRANCH:
			if (!note(ways, instruction.target, way.is_fixed))
				return false;
			break;
		case ARCH_FLOW_RETURN:
			return ways->is_called || !way.is_fixed;
		case ARCH_FLOW_STOP:
			return false;
		case ARCH_FLOW_JUMP:
			/* within the function, most often */
			if (instruction.target && !is_allocator(search, instruction.target) &&
			    !slot_of_stub(search, instruction.target)) {
				(void)note(ways, instruction.target, way.is_fixed);
				return false;
			}
			return callee_returns(search, &instruction, ways->is_called);
		case ARCH_FLOW_CALL:
			if (!callee_returns(search, &instruction, true))
				return false;
			break;
		}
	}
	return false;
}

static bool returns(struct search *search, remote_addr function, bool is_called)
{
	struct ways ways = {{{function, false}}, 1, is_called};
	bool found = false;

	if (search->depth == CALLS_DEEP_MAX)
		return false;
	search->depth++;
	for (unsigned i = 0; i < ways.count && !found; i++)
		found = way_returns(search, ways.way[i], &ways);
	search->depth--;
	return found;
}

void pool_operators_find(const struct elf_images *images, struct allocators *allocators)
{
	for (unsigned i = 0; i < OPERATORS_NEW; i++) {
		const remote_addr at = allocators->operator_new[i];
		struct search search = {.images = images,
					.allocators = allocators,
					.image = elf_images_find(images, at)};

		if (!at || !search.image || !search.image->elf || is_allocator(&search, at))
			continue;
		if (returns(&search, at, false))
			allocators->pool[i] = search.image;
	}
}
