/* SPDX-License-Identifier: MIT */
/*
 * derived_rows.c - see derived_rows.h.
 *
 * First the whole text is scanned for calls and for addresses that are taken: their targets may be
 * entries, too. Then the functions are followed one after the other. Enter at derived_rows_make.
 */
#include "derived_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "unwind_row.h"

#define WORD 8
#define ENTRY_DEPTH (ARCH_ENTRY_DEPTH / WORD)
#define DEPTH_MAX 0x7000 /* words */
#define LOST INT16_MIN
/* limits the work: in a crafted file, functions that fail and share their ends could take long */
#define STEPS_PER_BYTE 16

/* The state before an instruction, in words. */
struct place {
	int16_t depth;    /* from sp up to the CFA; LOST */
	int16_t bp_depth; /* from bp up to the CFA, where bp is a frame pointer; else 0 */
	int16_t bp_slot;  /* from the CFA; 0 = in its register */
	/* the same of the return address, where calls leave it in a register; LOST */
	int16_t link_slot;
	bool is_end; /* in the outermost function */
	bool is_known;
	bool is_entry;
};

/*
 * Candidates, in the order in which they are tried: the target of a call is more likely a function
 * than an address that was taken.
 */
struct list {
	uint64_t *address;
	size_t count, capacity;
};

struct follower {
	const struct derived_code *code;
	struct place *place; /* by offset */
	struct list open;    /* places still to be followed */
	/* calls, which may not return: a place that is reached in another way is more reliable */
	struct list later;
	struct list padded; /* places after a call at which padding begins */
	struct list own;    /* places that belong to the current function */
	uint64_t steps_left;
	int err;
	bool is_sound;
};

static int list_add(struct list *list, uint64_t address)
{
	if (list->count == list->capacity) {
		const size_t capacity = list->capacity ? list->capacity * 2 : 1024;
		uint64_t *grown = reallocarray(list->address, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->address = grown;
		list->capacity = capacity;
	}
	list->address[list->count++] = address;
	return 0;
}

static bool is_inside(const struct derived_code *code, uint64_t address)
{
	return address >= code->lo && address < code->hi;
}

static struct place *place_at(const struct follower *follower, uint64_t pc)
{
	return &follower->place[pc - follower->code->lo];
}

static bool decode(const struct derived_code *code, uint64_t pc, struct arch_instruction *out)
{
	return arch_decode(code->bytes + (pc - code->lo), code->hi - pc, pc, out);
}

/* ---- one function ---------------------------------------------------------------------------- */

static bool is_same(const struct place *a, const struct place *b)
{
	return a->is_end == b->is_end && a->depth == b->depth && a->bp_depth == b->bp_depth &&
	       a->bp_slot == b->bp_slot && a->link_slot == b->link_slot;
}

/*
 * Records that `place` is the state at `to`. The place will be followed, unless it is known
 * already; then the state must be the same.
 */
static void reach(struct follower *follower, uint64_t to, struct place place)
{
	struct place *there;

	if (!is_inside(follower->code, to))
		return; /* to a stub, or another library: by a jump, as from there */
	there = place_at(follower, to);
	if (there->is_known) {
		follower->is_sound &= is_same(&place, there);
		return;
	}
	place.is_known = true;
	place.is_entry = there->is_entry;
	*there = place;
	follower->err = list_add(&follower->open, to);
	if (!follower->err)
		follower->err = list_add(&follower->own, to);
}

static void push_bp(struct place *place)
{
	if (place->bp_slot == 0 && place->bp_depth == 0 && place->depth < -INT8_MIN)
		place->bp_slot = (int16_t)-place->depth;
}

static void pop_bp(struct place *place, int depth_before)
{
	if (place->bp_slot == -depth_before) {
		place->bp_slot = 0;
		place->bp_depth = 0;
	}
}

static void apply_bp(struct place *place, const struct arch_instruction *instruction)
{
	const int depth = place->depth;

	switch (instruction->effect) {
	case ARCH_SP_TO_BP:
		place->bp_depth = place->bp_slot && depth != LOST
					  ? (int16_t)(depth - instruction->sp_change / WORD)
					  : 0;
		break;
	case ARCH_SP_FROM_BP:
		place->depth = place->bp_depth
				       ? (int16_t)(place->bp_depth - instruction->sp_change / WORD)
				       : LOST;
		break;
	case ARCH_SP_LEAVE:
		place->depth = place->bp_depth;
		pop_bp(place, place->depth);
		place->depth = place->depth ? (int16_t)(place->depth - 1) : LOST;
		break;
	case ARCH_SP_NOT_BP:
	case ARCH_SP_ENDS:
		place->bp_depth = 0;
		/* the outermost function has saved nothing yet */
		place->is_end = instruction->effect == ARCH_SP_ENDS && place->bp_slot == 0 &&
				depth == ENTRY_DEPTH;
		break;
	default:
		place->depth = LOST;
	}
}

/* Is this word on the stack, and where, in words from the CFA? */
static bool is_in_frame(const struct place *place, int32_t at, int16_t *out_slot)
{
	const int32_t slot = at / WORD - place->depth;

	*out_slot = (int16_t)slot;
	return place->depth != LOST && at % WORD == 0 && slot < 0 && slot > -DEPTH_MAX;
}

/* A register of the caller is saved, or restored. */
static void apply_words(struct place *place, const struct arch_instruction *instruction)
{
	const struct arch_word_of *bp = &instruction->bp_word, *link = &instruction->link_word;
	int16_t slot;

	if (bp->kind && is_in_frame(place, bp->at, &slot)) {
		if (bp->kind == ARCH_WORD_STORED && !place->bp_slot && !place->bp_depth)
			place->bp_slot = slot;
		if (bp->kind == ARCH_WORD_LOADED && place->bp_slot == slot)
			place->bp_slot = 0;
	}
	if (bp->kind == ARCH_WORD_LOADED)
		place->bp_depth = 0;
	if (link->kind == ARCH_WORD_LOST && !place->link_slot)
		place->link_slot = LOST;
	if (link->kind && link->kind != ARCH_WORD_LOST && is_in_frame(place, link->at, &slot)) {
		if (link->kind == ARCH_WORD_STORED && !place->link_slot)
			place->link_slot = slot;
		if (link->kind == ARCH_WORD_LOADED && place->link_slot == slot)
			place->link_slot = 0;
	}
}

/*
 * Where calls push nothing, a function that takes words from above its CFA is the first on a stack
 * that was prepared for it: the child of clone.
 */
static bool is_first_on_stack(const struct place *place)
{
	return HI_ARCH_LINK_REGISTER && place->depth != LOST && place->depth < 0 &&
	       !place->link_slot;
}

/* Applies the instruction to the state. False: the path cannot be followed further. */
static bool apply(struct place *place, const struct arch_instruction *instruction)
{
	const int depth = place->depth;

	if (place->is_end)
		return true;
	apply_words(place, instruction);
	switch (instruction->effect) {
	case ARCH_SP_MOVES:
	case ARCH_SP_PUSHES_BP:
	case ARCH_SP_POPS_BP:
		if (depth != LOST)
			place->depth = (int16_t)(depth - instruction->sp_change / WORD);
		if (instruction->effect == ARCH_SP_PUSHES_BP && depth != LOST)
			push_bp(place);
		if (instruction->effect == ARCH_SP_POPS_BP)
			pop_bp(place, depth);
		break;
	default:
		apply_bp(place, instruction);
	}
	if (instruction->sp_change % WORD || instruction->sp_change > WORD * DEPTH_MAX ||
	    instruction->sp_change < -WORD * DEPTH_MAX)
		return false;
	place->is_end |= is_first_on_stack(place);
	return place->is_end || (place->depth == LOST && place->bp_depth) ||
	       (place->depth >= ENTRY_DEPTH && place->depth < DEPTH_MAX);
}

/*
 * Continues after a call. The call may not return; then anything may follow it: another function,
 * or a part of this one that is reached with another stack pointer.
 */
static void go_on_behind_call(struct follower *follower, uint64_t pc, struct place place)
{
	struct place *there = place_at(follower, pc);
	struct arch_instruction instruction;

	if ((there->is_entry || there->is_known) &&
	    !is_same(&place, there->is_known ? there : &(struct place){.depth = ENTRY_DEPTH}))
		return;
	if (there->is_known || !decode(follower->code, pc, &instruction) ||
	    !instruction.is_padding) {
		reach(follower, pc, place);
		return;
	}
	place.is_entry = there->is_entry;
	*there = place;
	follower->err = list_add(&follower->padded, pc);
}

/*
 * Continues after an instruction. Another function may begin there, if the instruction was padding.
 */
static void go_on(struct follower *follower, uint64_t pc, struct place place)
{
	const struct place *there = place_at(follower, pc);

	if (!there->is_entry ||
	    is_same(&place, there->is_known ? there : &(struct place){.depth = ENTRY_DEPTH}))
		reach(follower, pc, place);
}

static bool is_as_at_entry(const struct place *place)
{
	return place->is_end ||
	       (place->depth == ENTRY_DEPTH && place->bp_slot == 0 && place->link_slot == 0);
}

static void follow_one(struct follower *follower, uint64_t pc)
{
	struct place place = *place_at(follower, pc);
	struct arch_instruction instruction;

	if (!decode(follower->code, pc, &instruction)) {
		follower->is_sound = false;
		return;
	}
	switch (instruction.flow) {
	case ARCH_FLOW_RETURN:
		follower->is_sound &= is_as_at_entry(&place);
		return;
	case ARCH_FLOW_STOP:
		return;
	case ARCH_FLOW_JUMP:
		if (instruction.target)
			reach(follower, instruction.target, place);
		return;
	case ARCH_FLOW_BRANCH:
		reach(follower, instruction.target, place);
		break;
	default:
		break;
	}
	if (!apply(&place, &instruction)) {
		follower->is_sound = false;
		return;
	}
	pc += instruction.size;
	/*
	 * The first call in the outermost function never returns, or only at the end of the thread.
	 * Nor does one that overwrites a return address that was not saved.
	 */
	if (!is_inside(follower->code, pc) ||
	    (instruction.flow == ARCH_FLOW_CALL &&
	     (place.is_end || (HI_ARCH_LINK_REGISTER && !place.link_slot))))
		return;
	if (instruction.flow == ARCH_FLOW_CALL)
		go_on_behind_call(follower, pc, place);
	else
		go_on(follower, pc, place);
}

/* Follows the next place. Calls come last, after all other places. */
static void follow_next(struct follower *follower)
{
	struct list *list = follower->open.count ? &follower->open : &follower->later;
	const uint64_t pc = list->address[--list->count];
	struct arch_instruction instruction;

	if (list == &follower->open && decode(follower->code, pc, &instruction) &&
	    instruction.flow == ARCH_FLOW_CALL)
		follower->err = list_add(&follower->later, pc);
	else
		follow_one(follower, pc);
}

/* Follows all paths from here; forgets the places that they reach if the result is inconsistent. */
static void try_from(struct follower *follower, uint64_t pc, struct place place)
{
	follower->is_sound = true;
	follower->own.count = follower->open.count = follower->later.count = 0;
	reach(follower, pc, place);
	while (!follower->err && follower->is_sound &&
	       (follower->open.count || follower->later.count)) {
		follower->is_sound = follower->steps_left > 0;
		follower->steps_left -= follower->is_sound;
		follow_next(follower);
	}
	for (size_t i = 0; !follower->is_sound && i < follower->own.count; i++)
		place_at(follower, follower->own.address[i])->is_known = false;
}

/*
 * Follows one function, and then, separately, each place at padding after a call: the head of a
 * loop, or code that does not belong to it.
 */
static void follow(struct follower *follower, uint64_t entry)
{
	if (!is_inside(follower->code, entry) || place_at(follower, entry)->is_known)
		return;
	follower->padded.count = 0;
	try_from(follower, entry, (struct place){.depth = ENTRY_DEPTH});
	while (follower->is_sound && !follower->err && follower->padded.count) {
		const uint64_t pc = follower->padded.address[--follower->padded.count];

		if (!place_at(follower, pc)->is_known)
			try_from(follower, pc, *place_at(follower, pc));
		follower->is_sound = true;
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Calls and addresses taken. */
static int find_entries(const struct derived_code *code, struct list *called, struct list *taken)
{
	struct arch_instruction instruction;
	int err = 0;

	for (uint64_t pc = code->lo; pc < code->hi && !err; pc += instruction.size) {
		if (!decode(code, pc, &instruction)) {
			instruction.size = 1;
			continue;
		}
		if (instruction.flow == ARCH_FLOW_CALL && is_inside(code, instruction.target))
			err = list_add(called, instruction.target);
		if (is_inside(code, instruction.address) && instruction.address)
			err = list_add(taken, instruction.address);
	}
	return err;
}

static struct hi_unwind_row row_of(const struct place *place)
{
	if (!place->is_known)
		return (struct hi_unwind_row){.kind = HI_UNWIND_NONE};
	if (place->is_end)
		return (struct hi_unwind_row){.kind = HI_UNWIND_END};
	return unwind_row_of_frame(&(struct unwind_frame){
		.is_by_bp = place->depth == LOST,
		.cfa = place->depth == LOST ? place->bp_depth : place->depth,
		.bp_slot = place->bp_slot,
		.return_slot = HI_ARCH_LINK_REGISTER ? place->link_slot
						     : HI_ARCH_RETURN_SLOT(place->bp_slot)});
}

/*
 * Sets the row of each instruction for each of its bytes. Also sets the row of the trampoline to
 * which a signal handler returns; unwinders look it up at the address before it.
 */
static void set_rows(const struct follower *follower, struct derived_rows *rows)
{
	const struct derived_code *code = follower->code;
	struct arch_instruction instruction;

	for (uint64_t pc = code->lo; pc < code->hi; pc++) {
		const struct place *place = place_at(follower, pc);

		if (!place->is_known || !decode(code, pc, &instruction))
			continue;
		for (uint64_t i = 0; i < instruction.size && is_inside(code, pc + i); i++)
			rows->row[pc - code->lo + i] = row_of(place);
	}
	for (uint64_t pc = code->lo + 1; pc + ARCH_GADGET_MAX <= code->hi; pc++) {
		if (!place_at(follower, pc)->is_entry ||
		    arch_find_sigreturn(code->bytes + (pc - code->lo), ARCH_GADGET_MAX) != 0)
			continue;
		for (uint64_t i = pc - 1; i < pc + ARCH_GADGET_MAX / 2; i++)
			rows->row[i - code->lo] = (struct hi_unwind_row){.kind = HI_UNWIND_SIGNAL};
	}
}

static int follow_all(struct follower *follower, const struct list *lists[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			if (is_inside(follower->code, lists[i]->address[k]))
				place_at(follower, lists[i]->address[k])->is_entry = true;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i]->count && !follower->err; k++)
			follow(follower, lists[i]->address[k]);
	return follower->err;
}

int derived_rows_make(const struct derived_code *code, const uint64_t *entry, size_t entry_count,
		      struct derived_rows *out_rows)
{
	const size_t size = code->hi - code->lo;
	struct follower follower = {.code = code,
				    .place = calloc(size, sizeof(*follower.place)),
				    .steps_left = size * STEPS_PER_BYTE};
	struct derived_rows rows = {.row = calloc(size, sizeof(*rows.row)), .count = size};
	struct list given = {.count = 0}, called = {.count = 0}, taken = {.count = 0};
	const struct list *const lists[] = {&given, &called, &taken};
	int err = follower.place && rows.row ? 0 : -ENOMEM;

	for (size_t i = 0; i < entry_count && !err; i++)
		err = list_add(&given, entry[i]);
	if (!err)
		err = find_entries(code, &called, &taken);
	if (!err)
		err = follow_all(&follower, (const struct list **)lists,
				 sizeof(lists) / sizeof(lists[0]));
	if (!err)
		set_rows(&follower, &rows);
	free(given.address);
	free(called.address);
	free(taken.address);
	free(follower.open.address);
	free(follower.later.address);
	free(follower.padded.address);
	free(follower.own.address);
	free(follower.place);
	if (err)
		derived_rows_free(&rows);
	else
		*out_rows = rows;
	return err;
}

void derived_rows_free(struct derived_rows *rows)
{
	free(rows->row);
	*rows = (struct derived_rows){.count = 0};
}
