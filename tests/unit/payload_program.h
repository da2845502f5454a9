/* SPDX-License-Identifier: MIT */
/*
 * payload_program.h - an imaginary program with a stack of its own. Each stack that it has on its
 * way may be seen, as by a hook that records it, and is walked by rules beside that, with nothing
 * that was left behind by earlier ones.
 */
#ifndef PAYLOAD_PROGRAM_H
#define PAYLOAD_PROGRAM_H

#include "stack_trie.h"
#include "payload_scene.h"
#include "record.h"
#include "thread_slot.h"

/* The functions of the imaginary program, 0x100 bytes each. The number is that of its row. */
enum function { END, PLAIN, WIDE, SAVES, BY_BP, BARE, FAR, MEMORY, LAZY, HANDLED, FUNCTIONS };
#define PC(function, call) (TEXT + 0x100ull * (function) + 0x10 + (call))
#define CALL_SITES 0xf0u
#define STACK_WORDS (2 * HI_PAGE_BYTES / 8)

/* Lays out a stack as the program would, from the outermost frame to the leaf. */
struct program {
	struct scene scene;
	struct hi_thread_slot *slot;
	struct registers at;
	uint64_t *sp;
	uint32_t id;    /* by which the stack was recorded that was seen last */
	bool was_known; /* and whether it was found without a walk by rules */
};

#define PROGRAM_ROWS(plain)                                                                      \
	{0x100 * END, 0, HI_UNWIND_END, 0}, {0x100 * PLAIN, plain, HI_UNWIND_SP, SAVED_BP},      \
		{0x100 * WIDE, 9, HI_UNWIND_SP, SAVED_BP}, {0x100 * SAVES, 4, HI_UNWIND_SP, -2}, \
		{0x100 * BY_BP, 2, HI_UNWIND_BP, -2}, {0x100 * BARE, 2, HI_UNWIND_BP, SAVED_BP}, \
		{0x100 * FAR, 8, HI_UNWIND_BP, SAVED_BP},                                        \
		{0x100 * MEMORY, -1, HI_UNWIND_BP_DEREF, SAVED_BP},                              \
		{0x100 * LAZY, 11, HI_UNWIND_PLT, 0},                                            \
	{                                                                                        \
		0x100 * HANDLED, 0, HI_UNWIND_SIGNAL, 0                                          \
	}

static inline struct program program_open(void)
{
	struct program program = {.scene = scene_open()};
	struct hi_regions *regions = &program.scene.arena.control->regions[0];

	regions->range[0].hi += HI_PAGE_BYTES;
	program.scene.arena.control->main_stack = regions->range[0].hi;
	program.slot = program.scene.arena.slots;
	ROWS(&program.scene, PROGRAM_ROWS(2));
	return program;
}

static inline void program_start(struct program *program, unsigned sp_word)
{
	program->sp = program->scene.stack + sp_word;
	program->at = (struct registers){
		.pc = PC(END, 0), .sp = at(&program->scene, sp_word), .bp = 0xb0b};
}

static inline void push(struct program *program, uint64_t value)
{
	*--program->sp = value;
}

static inline void call(struct program *program, enum function function, unsigned call_site)
{
	uint64_t cfa;

	push(program, program->at.pc);
	/* far enough into the entry */
	program->at.pc = PC(function, function == LAZY ? 12 : call_site);
	switch (function) {
	case WIDE:
		push(program, program->at.bp);
		program->sp -= 7;
		break;
	case SAVES:
		push(program, program->at.bp);
		program->sp -= 2;
		program->at.bp = 0x5afe; /* it has other uses for the register */
		break;
	case BY_BP:
		push(program, program->at.bp);
		program->at.bp = (uintptr_t)program->sp;
		program->sp -= 1 + call_site % 4;
		break;
	case BARE: /* what it has done with its caller's bp nobody may know */
		push(program, SAVED_BP ? program->at.bp : 0);
		program->at.bp = (uintptr_t)program->sp;
		program->sp--;
		break;
	case MEMORY:
		cfa = (uintptr_t)(program->sp + 1);
		push(program, program->at.bp);
		program->at.bp = (uintptr_t)program->sp;
		push(program, cfa);
		break;
	default:
		push(program, program->at.bp);
	}
	program->at.sp = (uintptr_t)program->sp;
}

/* The hook's part of the stack. */
static inline struct hook_call *hook_of(const struct program *program)
{
	static struct hi_gate_words words;
	struct hook_call *call = (struct hook_call *)program->at.sp - 1;

	call->words = &words;
	call->return_address = program->at.pc;
	call->bp = program->at.bp;
	return call;
}

static inline struct hi_scratch *scratch_of(const struct program *program)
{
	return (struct hi_scratch *)(program->scene.arena.state->scratch +
				     (uint64_t)program->slot->scratch * HI_SCRATCH_BYTES);
}

/*
 * What is said of the stack under its id, and what there is by rules, are the same; how it ended.
 */
static inline enum hi_stack_end check_recorded(const struct program *program,
					       const struct hook_call *call, uint64_t thread)
{
	static _Thread_local struct hi_scratch scratch;
	const struct stack_end end = stack_walk(program->scene.arena.state, thread, call, &scratch);
	const struct hi_stack *recorded =
		(const void *)((const uint8_t *)program->scene.arena.stacks + 8ull * program->id);

	CHECK(program->id);
	CHECK_EQ(recorded->stack_end, end.reason);
	CHECK_EQ(recorded->frame_count, end.count);
	CHECK(memcmp(recorded->frame, scratch.frame, 8ull * end.count) == 0);
	return end.reason;
}

/* A sample is taken here, on a thread with this thread pointer. */
static inline enum hi_stack_end see_on(struct program *program, uint64_t thread)
{
	const struct hook_call *call = hook_of(program);
	struct arena *arena = &program->scene.arena;
	const struct record_event event = {.state = arena->state,
					   .slot = program->slot,
					   .cycles = 1ull << 40,
					   .is_alone = true,
					   .scratch = program->slot->scratch};
	struct stack_end stack = stack_capture(arena->state, thread, call, scratch_of(program));
	union {
		struct hi_record_known known;
		uint8_t bytes[HI_RING_SIZE_MAX];
	} record;

	program->was_known = stack.id;
	CHECK(record_alloc(&event, call, stack, (struct record_block){.address = 1, .bytes = 1}));
	do
		CHECK(arena_take(arena, &record));
	while (record.known.header.type_busy == HI_RECORD_REGION);
	CHECK_EQ(record.known.header.type_busy, HI_RECORD_KNOWN);
	program->id = record.known.stack;
	return check_recorded(program, call, thread);
}

static inline enum hi_stack_end see(struct program *program)
{
	return see_on(program, THREAD);
}

/* Not before the third time. */
static inline bool is_learned(struct program *program)
{
	see(program);
	see(program);
	see(program);
	return program->was_known;
}

/* The outermost frame is the first. */
#define CALLS(program, ...)                                                        \
	do {                                                                       \
		const enum function calls_[] = {__VA_ARGS__};                      \
		for (unsigned i_ = 0; i_ < sizeof(calls_) / sizeof(*calls_); i_++) \
			call(program, calls_[i_], i_);                             \
	} while (0)

#endif
