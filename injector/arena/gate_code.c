/* SPDX-License-Identifier: MIT */
/* gate_code.c - see gate_code.h. */
#include "gate_code.h"

#include <errno.h>
#include <string.h>

#include "arch.h"
#include "arena_file.h"
#include "entries_keep.h"
#include "near_pages.h"

/* One gate entry: which function it serves, and how that is hooked. */
struct served {
	unsigned hook;
	enum gate_class class;
	const struct entry *entry; /* NULL: hooked by slots */
};

static enum gate_class class_of(unsigned hook, const struct entries *entries)
{
	const unsigned malloc_hook = hook - hook_function(hook) + HI_FN_MALLOC;
	if (entries->nesting[hook] == ENTRY_NESTS)
		return GATE_ALWAYS;
	return entries->nesting[hook] == ENTRY_NULL && entries->entry[malloc_hook].at
		       ? GATE_REALLOC_NULL
		       : hook_table[hook_function(hook)].gate;
}

/* The functions that get a gate entry, in the order of the entries: the first allocator's first. */
static unsigned gate_functions(const struct arena_code *code,
			       struct served out_served[HI_GATE_ENTRIES])
{
	unsigned count = 0;
	for (unsigned hook = 0; hook < HOOKS_MAX && count < ENTRIES_GATE_MAX; hook++) {
		const struct entry *entry =
			code->entries->entry[hook].at ? &code->entries->entry[hook] : NULL;
		if (!hook_original(code->allocators, hook) ||
		    !code->payload->hook[hook_function(hook)])
			continue;
		/* without an entry, only the first allocator has slots */
		if (!entry && (entries_have(code->entries, hook) || hook >= HI_FUNCTION_COUNT))
			continue;
		out_served[count++] = (struct served){hook, class_of(hook, code->entries), entry};
	}
	return count;
}

static remote_addr gate_entry(const struct hi_control *control, unsigned number)
{
	return arena_gate(control) + (uint64_t)number * HI_GATE_STRIDE;
}

static remote_addr exit_of(const struct hi_control *control, const struct payload_image *payload,
			   const struct served *served, unsigned number)
{
	if (served->entry->cell)
		return near_pages_exit(served->entry);
	return gate_entry(control, number) + payload->gate[served->class].exit;
}

/*
 * Writes an entry's code. If the function is hooked at its entry, that includes the displaced
 * instruction, unless that is in an island.
 */
static int fill_entry(const struct arena *arena, const struct payload_image *payload,
		      const struct served *served, unsigned number)
{
	uint8_t code[HI_GATE_STRIDE];
	const size_t size = payload->gate[served->class].size;
	memcpy(code, payload->gate[served->class].code, size);
	if (served->entry && !served->entry->cell &&
	    !arch_make_exit(served->entry->code, served->entry->at,
			    exit_of(arena->control, payload, served, number),
			    code + payload->gate[served->class].exit))
		return -ERANGE;
	return arena_file_put(arena, code, size,
			      arena->control->gate.offset + (uint64_t)number * HI_GATE_STRIDE);
}

/*
 * The address that leads to a function: the exit of its gate entry if it is hooked at its entry,
 * else its own address.
 */
static remote_addr way_to(const struct arena *arena, const struct arena_code *code,
			  const struct served *served, unsigned count, remote_addr address)
{
	for (unsigned i = 0; i < count; i++)
		if (address && served[i].entry && served[i].entry->at == address)
			return exit_of(arena->control, code->payload, &served[i], i);
	return address;
}

static int fill_near_pages(const struct arena *arena, const struct served *served, unsigned count)
{
	struct near_function function[HI_GATE_ENTRIES];
	size_t used = 0;
	for (unsigned i = 0; i < count; i++)
		if (served[i].entry)
			function[used++] = (struct near_function){served[i].entry,
								  gate_entry(arena->control, i)};
	return near_pages_fill(arena, function, used);
}

int gate_code_fill(const struct arena *arena, const struct arena_code *code)
{
	struct hi_control *control = arena->control;
	const struct arena_state_layout layout = arena_state_layout(control);
	const remote_addr state = arena_state(control);
	struct served served[HI_GATE_ENTRIES];
	const unsigned count = gate_functions(code, served);
	int err = 0;
	for (unsigned i = 0; !err && i < count; i++) {
		const unsigned hook = served[i].hook;
		const enum hi_function function = hook_function(hook);
		const struct allocator *allocator = hook_allocator(code->allocators, hook);
		const remote_addr freed_size =
			allocator->is_asked_at_free ? allocator->usable_size[function] : 0;
		const bool is_unasked = control->unsampled_frees.sentinels && !freed_size;
		const remote_addr original =
			way_to(arena, code, served, count, allocator->original[function]);
		struct hi_gate_words words = {
			.original = original,
			.hook = original,
			.thread_slots = state + layout.thread_slots,
			.occupancy =
				state + (is_unasked ? layout.unasked_occupancy : layout.occupancy),
			.state = state,
			.nothrow = way_to(arena, code, served, count, allocator->nothrow[function]),
			.plain = way_to(arena, code, served, count, allocator->plain[function]),
			.new_handler = code->allocators->new_handler,
			.usable_size = allocator->usable_size[function],
			.freed_size = freed_size,
			.occupancy_mask = (1u << control->occupancy_bits) - 1,
			.function = function,
			.number = hook,
			.nests = code->entries->nesting[hook] == ENTRY_NESTS,
			.return_gadget = control->return_gadget,
			.return_register = (uint32_t)control->return_register,
		};
		if (hook_table[function].is_named)
			words.named = code->allocators->named[function - HI_FN_NAMED_ALLOC_0];
		for (unsigned from = 0; from < HI_NESTED_FROM_MAX; from++) {
			words.nested_from[from].lo = code->entries->nested_from[from].lo;
			words.nested_from[from].hi = code->entries->nested_from[from].hi;
		}
		err = fill_entry(arena, code->payload, &served[i], i);
		if (!err)
			err = arena_file_put(arena, &words, sizeof(words),
					     control->words.offset + (uint64_t)i * HI_GATE_STRIDE);
	}
	control->gate_count = count;
	return err ? err : fill_near_pages(arena, served, count);
}
