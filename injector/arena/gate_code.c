/* SPDX-License-Identifier: MIT */
/* gate_code.c - see gate_code.h. */
#include "gate_code.h"

#include <errno.h>
#include <string.h>

#include "arch.h"
#include "arena_file.h"

/* One gate entry: which function it serves, and how that is hooked. */
struct served {
	enum hi_function function;
	enum gate_class class;
	const struct entry *entry; /* NULL: hooked by slots */
};

static enum gate_class class_of(enum hi_function function, const struct entries *entries)
{
	if (entries->nesting[function] == ENTRY_NESTS)
		return GATE_ALWAYS;
	return entries->nesting[function] == ENTRY_NULL && entries->entry[HI_FN_MALLOC].at
		       ? GATE_REALLOC_NULL
		       : hook_table[function].gate;
}

/* The functions that get a gate entry, in the order of the entries. */
static unsigned gate_functions(const struct arena_code *code,
			       struct served out_served[HI_GATE_ENTRIES])
{
	unsigned count = 0;
	for (unsigned function = 0; function < HI_FUNCTION_COUNT && count < HI_GATE_RESTORE;
	     function++) {
		const struct entry *entry =
			code->entries->entry[function].at ? &code->entries->entry[function] : NULL;
		if (!code->allocator->original[function] || !code->payload->hook[function])
			continue;
		if (!entry && entries_have(code->entries, (enum hi_function)function))
			continue;
		out_served[count++] =
			(struct served){(enum hi_function)function,
					class_of((enum hi_function)function, code->entries), entry};
	}
	return count;
}

static uint64_t exit_of(const struct hi_control *control, const struct payload_image *payload,
			const struct served *served, unsigned number)
{
	return control->arena + control->gate.offset + (uint64_t)number * HI_GATE_STRIDE +
	       payload->gate[served->class].exit;
}

/* Can jumps reach from the entry to any place in the gate, and back? */
static bool is_in_reach(const struct hi_control *control, const struct memory *memory,
			const struct entry *entry)
{
	uint8_t exit[ARCH_EXIT_BYTES];
	struct entry_word words[ENTRY_WORDS_MAX];
	size_t used;
	const remote_addr lo = arena_gate(control), hi = lo + HI_GATE_BYTES - HI_GATE_STRIDE;
	return arch_make_exit(entry->code, entry->at, lo, exit) &&
	       arch_make_exit(entry->code, entry->at, hi, exit) &&
	       !entry_words(entry, lo, memory, words, &used) &&
	       !entry_words(entry, hi, memory, words, &used) &&
	       (entry->by != ENTRY_FAR_AWAY ||
		(arch_make_jump(exit, ARCH_JUMP_BYTES, entry->relay, lo) &&
		 arch_make_jump(exit, ARCH_JUMP_BYTES, entry->relay, hi)));
}

void gate_code_drop_far(const struct hi_control *control, const struct memory *memory,
			struct entries *entries)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (entries->entry[function].at &&
		    !is_in_reach(control, memory, &entries->entry[function]))
			entries_drop(entries, (enum hi_function)function);
}

/*
 * Writes an entry's code. If the function is hooked at its entry, that includes the displaced
 * instructions.
 */
static int fill_entry(const struct arena *arena, const struct payload_image *payload,
		      const struct served *served, unsigned number)
{
	uint8_t code[HI_GATE_STRIDE];
	const size_t size = payload->gate[served->class].size;
	memcpy(code, payload->gate[served->class].code, size);
	if (served->entry && !arch_make_exit(served->entry->code, served->entry->at,
					     exit_of(arena->control, payload, served, number),
					     code + payload->gate[served->class].exit))
		return -ERANGE;
	return arena_file_put(arena, code, size,
			      arena->control->gate.offset + (uint64_t)number * HI_GATE_STRIDE);
}

/* Fills the relay pages: they hold nothing but jumps. */
static int fill_relays(const struct arena *arena, const struct served *served, unsigned count)
{
	const struct hi_control *control = arena->control;
	int err = 0;
	for (unsigned number = 0; number < HI_RELAYS_MAX && control->relay[number] && !err;
	     number++) {
		uint8_t page[HI_PAGE_BYTES];
		if (arena_relay_first(control, control->relay[number]) != number)
			continue;
		arch_fill(page, sizeof(page));
		for (unsigned i = 0; i < count && !err; i++) {
			const struct entry *entry = served[i].entry;
			if (entry && entry->by == ENTRY_FAR_AWAY &&
			    arena_relay_page(entry->relay) ==
				    arena_relay_page(control->relay[number]) &&
			    !arch_make_jump(page + entry->relay % HI_PAGE_BYTES, ARCH_JUMP_BYTES,
					    entry->relay,
					    arena_gate(control) + (uint64_t)i * HI_GATE_STRIDE))
				err = -ERANGE;
		}
		if (!err)
			err = arena_file_put(arena, page, sizeof(page),
					     control->relays.offset +
						     (uint64_t)number * HI_PAGE_BYTES);
	}
	return err;
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

int gate_code_fill(const struct arena *arena, const struct arena_code *code)
{
	struct hi_control *control = arena->control;
	const struct arena_state_layout layout = arena_state_layout(control);
	const remote_addr state = arena_state(control);
	struct served served[HI_GATE_ENTRIES];
	const unsigned count = gate_functions(code, served);
	int err = 0;
	for (unsigned i = 0; !err && i < count; i++) {
		const enum hi_function function = served[i].function;
		const remote_addr original =
			way_to(arena, code, served, count, code->allocator->original[function]);
		struct hi_gate_words words = {
			.original = original,
			.hook = original,
			.thread_slots = state + layout.thread_slots,
			.occupancy = state + layout.occupancy,
			.state = state,
			.nothrow = way_to(arena, code, served, count,
					  code->allocator->nothrow[function]),
			.plain = way_to(arena, code, served, count,
					code->allocator->plain[function]),
			.new_handler = code->allocator->new_handler,
			.usable_size = code->allocator->usable_size[function],
			.freed_size = code->allocator->is_asked_at_free
					      ? code->allocator->usable_size[function]
					      : 0,
			.occupancy_mask = (1u << control->occupancy_bits) - 1,
			.function = function,
			.nests = code->entries->nesting[function] == ENTRY_NESTS,
			.return_gadget = control->return_gadget,
		};
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
	return err ? err : fill_relays(arena, served, count);
}
