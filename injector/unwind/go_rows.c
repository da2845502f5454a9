/* SPDX-License-Identifier: MIT */
/* go_rows.c - see go_rows.h. */
#include "go_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"

struct reader {
	const struct go_code *code;
	struct go_rows *rows;
	size_t capacity;
};

static int push(struct reader *reader, uint64_t pc, struct hi_unwind_row row)
{
	struct go_rows *rows = reader->rows;

	if (pc < reader->code->lo || pc >= reader->code->hi)
		return 0;
	row.pc = (uint32_t)(pc - reader->code->lo);
	while (rows->count && rows->row[rows->count - 1].pc >= row.pc)
		rows->count--;
	if (rows->count == reader->capacity) {
		const size_t capacity = reader->capacity ? 2 * reader->capacity : 1024;
		struct hi_unwind_row *grown = reallocarray(rows->row, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		rows->row = grown;
		reader->capacity = capacity;
	}
	rows->row[rows->count++] = row;
	return 0;
}

static const struct hi_unwind_row no_row = {.kind = HI_UNWIND_NONE},
				  end_row = {.kind = HI_UNWIND_END};

/* The frame of a function whose sp is so many bytes below its place at entry. */
static struct hi_unwind_row row_of(int64_t bytes)
{
	const int64_t cfa = (bytes + ARCH_ENTRY_DEPTH) / 8;

	if (bytes < 0 || bytes % 8 || cfa > INT16_MAX)
		return no_row;
	if (!HI_ARCH_LINK_REGISTER)
		return (struct hi_unwind_row){.kind = HI_UNWIND_SP, .cfa = (int16_t)cfa};
	/* saved at sp, and by no function that has no frame */
	return (struct hi_unwind_row){.kind = bytes ? HI_UNWIND_ALONE : HI_UNWIND_LINK,
				      .cfa = (int16_t)cfa};
}

/* No pair has less than an instruction, so that a damaged table is read within bounds. */
static int push_pairs(struct reader *reader, const struct hi_go_function *function)
{
	const struct hi_go_table *table = &reader->code->table;
	uint64_t at = function->frames, pc = function->lo;
	uint32_t change, units;
	int64_t distance = -1;
	int err = 0;

	while (!err && pc < function->hi && hi_go_number(table, &at, &change) &&
	       (change || pc == function->lo) && hi_go_number(table, &at, &units) && units) {
		distance += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
		err = push(reader, pc, row_of(distance));
		pc += (uint64_t)units * table->unit;
	}
	return !err && pc < function->hi ? push(reader, pc, no_row) : err;
}

/* A call after which the code gets sp from elsewhere. Walkers look up the byte before that. */
static int push_call(struct reader *reader, uint64_t after, const struct arch_stack_return *back)
{
	const bool is_other = back->kind == ARCH_STACK_OTHER;
	const struct hi_unwind_row other = {
		.kind = HI_UNWIND_OTHER_STACK,
		.cfa = HI_UNWIND_PAIR(back->distance_word, back->owner_word)};
	/*
	 * The return address is at the old sp. Where functions save it there, bp was below it, but
	 * the old sp has taken that place: no row of Go goes by bp.
	 */
	const int low = HI_ARCH_LINK_REGISTER ? 2 : 1;
	const struct hi_unwind_row spilled = {.kind = HI_UNWIND_SPILLED,
					      .cfa = HI_UNWIND_PAIR(back->distance_word, low),
					      .bp_slot = HI_ARCH_LINK_REGISTER ? -3 : 0};
	const int err = push(reader, after - 1, is_other ? other : spilled);

	return err ? err : push(reader, after, no_row);
}

/* runtime.asmcgocall: sp is known after its calls only. */
static int push_calls(struct reader *reader, const struct hi_go_function *function)
{
	const struct go_code *code = reader->code;
	struct arch_stack_return back;
	int err = push(reader, function->lo, no_row);

	for (uint64_t after = function->lo + 1; !err && after < function->hi; after++)
		if (arch_is_stack_return(code->code + (function->lo - code->lo),
					 function->hi - function->lo, after - function->lo, &back))
			err = push_call(reader, after, &back);
	return err;
}

/*
 * Go stores the address of this function as a return address where a goroutine waits for C, to mark
 * the place. Walkers look up the byte before it.
 */
static int push_mark(struct reader *reader, const struct hi_go_function *function)
{
	int err = push(reader, function->lo - 1, row_of(0));

	return err ? err : push_pairs(reader, function);
}

/* Below these there is nothing on a thread's own stack. */
static bool is_bottom(const struct hi_go_function *function)
{
	static const char *const name[] = {"runtime.systemstack", "runtime.mcall",
					   "runtime.morestack"};

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (strcmp(function->name, name[i]) == 0)
			return true;
	return function->flags & HI_GO_FLAG_TOP;
}

static int push_function(struct reader *reader, const struct hi_go_function *function)
{
	if (function->lo < reader->code->lo || function->hi > reader->code->hi)
		return 0;
	if (is_bottom(function))
		return push(reader, function->lo, end_row);
	if (strcmp(function->name, "runtime.asmcgocall") == 0)
		return push_calls(reader, function);
	if (strcmp(function->name, "runtime.systemstack_switch") == 0)
		return push_mark(reader, function);
	/* cgocallback sets sp, too, but finds a frame of the same size where it leads */
	if (function->flags & HI_GO_FLAG_MOVES_SP &&
	    strcmp(function->name, "runtime.cgocallback") != 0)
		return push(reader, function->lo, no_row);
	return push_pairs(reader, function);
}

int go_rows_make(const struct go_code *code, struct go_rows *out_rows)
{
	struct go_rows rows = {0};
	struct reader reader = {.code = code, .rows = &rows};
	struct hi_go_function function = {.hi = code->lo};
	uint64_t last = 0;
	int err = 0;

	for (uint64_t i = 0; !err && i < code->table.count; i++) {
		if (!hi_go_function_at(&code->table, i, &function) || function.lo < last)
			err = -EBADMSG;
		else
			err = push_function(&reader, &function);
		last = function.hi;
	}
	if (!err)
		err = push(&reader, function.hi, no_row);
	if (err) {
		go_rows_free(&rows);
		return err;
	}
	*out_rows = rows;
	return 0;
}

void go_rows_free(struct go_rows *rows)
{
	free(rows->row);
	*rows = (struct go_rows){0};
}
