/* SPDX-License-Identifier: MIT */
/*
 * payload_stack_test.c - the stack walker on hand-made stacks and tables, so that each kind of row
 * and each kind of damage is told apart.
 */
#include "payload_scene.h"

/* Where a row may say that bp was saved: away from the return address, if that is possible. */
#define FAR_BP (HI_ARCH_LINK_REGISTER ? -2 : -3)

static void skip_with_link_register(void)
{
	if (HI_ARCH_LINK_REGISTER)
		SKIP("there are no such rows where calls leave the return address in a register");
}

UNIT_TEST(sp_rows_up_to_the_proper_end)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 3, HI_UNWIND_SP, SAVED_BP},
	     {0x200, 2, HI_UNWIND_SP, SAVED_BP});
	scene.stack[1] = TEXT + 0x150; /* CFA at word 2 */
	scene.stack[4] = TEXT + 0x50;  /* CFA at word 5 */
	CHECK_EQ(walk(&scene, TEXT + 0x250, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.frame[0], TEXT + 0x250);
	CHECK_EQ(scene.frame[1], TEXT + 0x150);
	CHECK_EQ(scene.frame[2], TEXT + 0x50);
}

/*
 * A call is its function's last instruction: the return address lies in the next function already.
 */
UNIT_TEST(return_address_belongs_to_the_call_before_it)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 2, HI_UNWIND_SP, SAVED_BP},
	     {0x200, 100, HI_UNWIND_SP, SAVED_BP});
	scene.stack[1] = TEXT + 0x100;
	CHECK_EQ(walk(&scene, TEXT + 0x200, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 2);
}

UNIT_TEST(every_row_is_found_by_the_index)
{
	enum { ROWS_MAX = 512 };
	struct hi_unwind_row row[ROWS_MAX];
	struct scene scene = scene_open();

	/*
	 * Dense, sparse and absent within one index step: rows at multiples of 3 below 0x300, then
	 * of 0x140. The CFA tells which one was taken.
	 */
	uint32_t count = 0;
	for (uint32_t pc = 0; pc < TEXT_BYTES; pc += pc < 0x300 ? 3 : 0x140) {
		row[count] = (struct hi_unwind_row){.pc = pc,
						    .cfa = (int16_t)(count + 2),
						    .kind = HI_UNWIND_SP,
						    .bp_slot = SAVED_BP};
		count++;
	}
	CHECK(count < ROWS_MAX);
	scene_rows(&scene, row, count);
	for (uint32_t pc = 0, covering = 0; pc < TEXT_BYTES; pc++) {
		while (covering + 1 < count && row[covering + 1].pc <= pc)
			covering++;
		memset(scene.stack, 0, HI_PAGE_BYTES);
		scene.stack[row[covering].cfa - 1] = 0xbeef;
		walk(&scene, TEXT + pc + 1, 0, 0);
		CHECK_EQ(scene.count, 2);
		CHECK_EQ(scene.frame[1], 0xbeef);
	}
}

UNIT_TEST(bp_is_followed_through_saved_slots)
{
	struct scene scene = scene_open();

	/* leaf: pushed bp, CFA by sp; caller: CFA by bp; its caller's bp comes from the slot. */
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 2, HI_UNWIND_BP, -2},
	     {0x200, 3, HI_UNWIND_SP, FAR_BP});
	scene.stack[3 + FAR_BP] = at(&scene, 10);
	scene.stack[2] = TEXT + 0x150;
	scene.stack[10] = at(&scene, 20); /* bp = word 10: CFA at word 12 */
	scene.stack[11] = TEXT + 0x150;
	scene.stack[21] = TEXT + 0x50; /* bp = word 20: CFA at word 22 */
	CHECK_EQ(walk(&scene, TEXT + 0x250, 0, 12345), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 4);
	CHECK_EQ(scene.frame[3], TEXT + 0x50);
}

UNIT_TEST(realigned_frame_has_its_cfa_in_memory)
{
	struct scene scene = scene_open();

	skip_with_link_register();
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, -1, HI_UNWIND_BP_DEREF, 0});
	scene.stack[7] = at(&scene, 30);
	scene.stack[29] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 2);
	scene.stack[7] = at(&scene, 2 * HI_PAGE_BYTES / 8);
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_BAD_FRAME);
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, 64), HI_END_BAD_FRAME);
}

UNIT_TEST(caller_of_a_realigned_frame_has_its_frame_pointer)
{
	struct scene scene = scene_open();

	skip_with_link_register();
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, -1, HI_UNWIND_BP_DEREF, 0},
	     {0x200, 2, HI_UNWIND_BP, -2});
	scene.stack[7] = at(&scene, 30); /* the CFA, beside bp */
	scene.stack[8] = at(&scene, 40); /* the caller's bp, at bp */
	scene.stack[29] = TEXT + 0x250;
	scene.stack[41] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.frame[2], TEXT + 0x50);
}

/* The caller's frame is as large as before its stack pointer was moved for the interpreter. */
UNIT_TEST(interpreted_frame_has_its_callers_sp_beside_bp)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, -1, HI_UNWIND_BP_SP, 0},
	     {0x200, 4, HI_UNWIND_SP, -2});
	scene.stack[7] = at(&scene, 20); /* the caller's sp */
	scene.stack[8] = at(&scene, 60); /* the caller's bp */
	scene.stack[9] = TEXT + 0x250;
	scene.stack[23] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.frame[1], TEXT + 0x250);
	CHECK_EQ(scene.frame[2], TEXT + 0x50);
	scene.stack[7] = at(&scene, 9); /* within the frame itself */
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_BAD_FRAME);
	scene.stack[7] = at(&scene, 2 * HI_PAGE_BYTES / 8);
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_BAD_FRAME);
	scene.stack[7] = at(&scene, 20) + 4;
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, at(&scene, 8)), HI_END_BAD_FRAME);
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, 64), HI_END_BAD_FRAME);
}

UNIT_TEST(interpreted_frame_is_its_method)
{
	const uint64_t method = 0x7f0012345678;
	struct scene scene = scene_open();
	uint64_t first, pc = TEXT + 0x150;

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, -1, HI_UNWIND_BP_SP, -3},
	     {0x200, 4, HI_UNWIND_SP, -2});
	scene.stack[5] = method;
	scene.stack[7] = at(&scene, 20);
	scene.stack[8] = at(&scene, 60);
	scene.stack[9] = TEXT + 0x250;
	scene.stack[23] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, pc, 0, at(&scene, 8)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.frame[0], HI_FRAME_METHOD | method);
	CHECK_EQ(scene.frame[1], TEXT + 0x250);
	CHECK(!scene.was_known);
	/* where the interpreter was makes no other stack, another method does */
	first = scene.id;
	CHECK_EQ(walk(&scene, pc + 8, 0, at(&scene, 8)), HI_END_COMPLETE);
	CHECK_EQ(scene.id, first);
	scene.stack[5] = method + 8;
	CHECK_EQ(walk(&scene, pc, 0, at(&scene, 8)), HI_END_COMPLETE);
	CHECK(scene.id != first);
	/* what cannot be one */
	for (unsigned i = 0; i < 3; i++) {
		scene.stack[5] = (const uint64_t[]){0, method + 1, HI_FRAME_METHOD | method}[i];
		CHECK_EQ(walk(&scene, pc, 0, at(&scene, 8)), HI_END_COMPLETE);
		CHECK_EQ(scene.frame[0], pc);
	}
	/* below the frame's sp */
	scene.stack[5] = method;
	CHECK_EQ(walk(&scene, pc, 6, at(&scene, 8)), HI_END_COMPLETE);
	CHECK_EQ(scene.frame[0], pc);
}

/* Rows of code that comes and goes may be wrong, and a foreign stack may lack a part. */
UNIT_TEST(changing_code_has_rows_on_the_threads_own_stack_only)
{
	struct scene scene = scene_open();
	struct hi_control *control = scene.arena.control;

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 3, HI_UNWIND_SP, SAVED_BP},
	     {0x200, 2, HI_UNWIND_SP, SAVED_BP});
	control->code_lo = TEXT + 0x100;
	control->code_bytes = 0x100;
	scene.stack[1] = TEXT + 0x150;
	scene.stack[4] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x250, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	control->main_stack = 0;
	CHECK_EQ(walk(&scene, TEXT + 0x250, 0, 0), HI_END_NO_ROW);
	CHECK_EQ(scene.count, 2);
	control->code_bytes = 0;
	CHECK_EQ(walk(&scene, TEXT + 0x250, 0, 0), HI_END_COMPLETE);
}

UNIT_TEST(plt_entry_depends_on_how_far_it_got)
{
	struct scene scene = scene_open();

	skip_with_link_register();
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 11, HI_UNWIND_PLT, 0});
	scene.stack[0] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x10a, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 2);
	scene.stack[0] = 1;
	scene.stack[1] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x10b, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 2);
}

UNIT_TEST(without_rows_the_frame_pointers_lead_on)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0});
	scene.stack[4] = at(&scene, 8);
	scene.stack[5] = 0x999000;
	scene.stack[8] = 0;
	scene.stack[9] = 0;
	CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, 4)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 2);
	scene.stack[8] = 1; /* zeros by chance */
	CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, 4)), HI_END_LOST);
	CHECK_EQ(scene.count, 2);
	scene.stack[9] = 0x998000; /* the chain ends where it should not */
	CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, 4)), HI_END_LOST);
	CHECK_EQ(scene.count, 3);
	scene.stack[8] = at(&scene, 4); /* a loop */
	CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, 4)), HI_END_LOST);
	CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, 4) + 4), HI_END_NO_ROW);
	CHECK_EQ(walk(&scene, 0x999999, 0, UINT64_MAX - 7), HI_END_NO_ROW);
	CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, HI_PAGE_BYTES / 8) - 8), HI_END_NO_ROW);
}

UNIT_TEST(cfa_must_rise_and_stay_in_the_region)
{
	static const int16_t cfa[] = {0, -4, INT16_MIN, INT16_MAX, HI_PAGE_BYTES / 8 + 1};
	struct scene scene = scene_open();

	for (unsigned i = 0; i < sizeof(cfa) / sizeof(cfa[0]); i++) {
		ROWS(&scene, {0, cfa[i], HI_UNWIND_SP, SAVED_BP});
		CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_BAD_FRAME);
		CHECK_EQ(scene.count, 1);
	}
	ROWS(&scene,
	     {0, HI_PAGE_BYTES / 8, HI_UNWIND_SP, SAVED_BP}); /* the whole region: just allowed */
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_COMPLETE);
	ROWS(&scene, {0, 2, HI_UNWIND_SP, -4}); /* bp saved below sp */
	CHECK_EQ(walk(&scene, TEXT + 0x50, 1, 0), HI_END_BAD_FRAME);
	ROWS(&scene, {0, 2, HI_UNWIND_BP, SAVED_BP}); /* misaligned */
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, at(&scene, 1) + 4), HI_END_BAD_FRAME);
}

/* A rule that is remembered goes a shorter way. */
UNIT_TEST(a_remembered_rule_keeps_the_bounds)
{
	struct scene scene = scene_open();
	const uint64_t sp = at(&scene, 8), bad[] = {0,
						    4,
						    sp - 16,
						    sp - 8,
						    sp + 4,
						    at(&scene, HI_PAGE_BYTES / 8) - 8,
						    UINT64_MAX - 15,
						    UINT64_MAX - 7};

	for (unsigned i = 0; i < HI_PAGE_BYTES / 8; i++)
		scene.stack[i] = TEXT + 0x50;
	scene.stack[10] = sp;
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 2, HI_UNWIND_BP, -2},
	     {0x200, 2, HI_UNWIND_BP, SAVED_BP});
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (unsigned time = 0; time < 3; time++) {
			CHECK_EQ(walk(&scene, TEXT + 0x150, 8, at(&scene, 10)), HI_END_COMPLETE);
			CHECK_EQ(walk(&scene, TEXT + 0x150, 8, bad[i]), HI_END_BAD_FRAME);
			CHECK_EQ(scene.count, 1);
			/* Without a slot in it, one word is enough. */
			CHECK_EQ(walk(&scene, TEXT + 0x250, 8, bad[i]),
				 bad[i] == sp - 8 && !SAVED_BP ? HI_END_COMPLETE
							       : HI_END_BAD_FRAME);
		}
}

/* From two places in turn: whatever an entry says of its caller. */
UNIT_TEST(callers_may_vary)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 2, HI_UNWIND_SP, SAVED_BP},
	     {0x200, 3, HI_UNWIND_SP, SAVED_BP}, {0x300, 2, HI_UNWIND_SP, SAVED_BP},
	     {0x400, 2, HI_UNWIND_SP, SAVED_BP});
	scene.stack[1] = TEXT + 0x350;
	for (unsigned i = 0; i < 20; i++) {
		uint64_t caller = TEXT + (i / 2 % 3 ? 0x150 : 0x250);

		memset(&scene.stack[2], 0, 80);
		scene.stack[3] = caller;
		scene.stack[caller == TEXT + 0x150 ? 5 : 6] = TEXT + 0x50;
		CHECK_EQ(walk(&scene, TEXT + 0x450, 0, 0), HI_END_COMPLETE);
		CHECK_EQ(scene.count, 4);
		CHECK_EQ(scene.frame[2], caller);
	}
}

UNIT_TEST(deep_recursion_is_cut)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 2, HI_UNWIND_SP, SAVED_BP});
	for (unsigned i = 0; i < HI_PAGE_BYTES / 8; i++)
		scene.stack[i] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_DEPTH);
	CHECK_EQ(scene.count, HI_FRAMES_MAX);
}

UNIT_TEST(unknown_region_is_named)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 2, HI_UNWIND_SP, SAVED_BP});
	CHECK_EQ(walk(&scene, TEXT + 0x50, HI_PAGE_BYTES / 8, 0), HI_END_REGION);
	CHECK_EQ(scene.count, 1);
	CHECK_EQ(scene.stopped_at, at(&scene, HI_PAGE_BYTES / 8));
	scene.arena.control->regions[0].count = 0;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_REGION);
}

/* The page that holds the return address is there, whatever is known. */
UNIT_TEST(an_unknown_stack_is_walked_to_the_end_of_its_page)
{
	struct scene scene = scene_open();
	unsigned last = HI_PAGE_BYTES / 8 - 1;

	scene.arena.control->regions[0].count = 0;
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 2, HI_UNWIND_SP, SAVED_BP},
	     {0x200, 3, HI_UNWIND_BP, -2});
	scene.stack[last - 2] = TEXT + 0x150;
	scene.stack[last] = TEXT + 0x50;
	CHECK_EQ(walk(&scene, TEXT + 0x150, last - 3, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	scene.stack[last] = TEXT + 0x150; /* and it goes on */
	CHECK_EQ(walk(&scene, TEXT + 0x150, last - 3, 0), HI_END_REGION);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.stopped_at, at(&scene, last - 3));
	CHECK_EQ(walk(&scene, TEXT + 0x250, 8, at(&scene, last)), HI_END_REGION);
	CHECK_EQ(scene.count, 1);
}

/*
 * Of another stack than the thread's own a part may have been unmapped: only where a row leads is
 * the program sure to go itself.
 */
UNIT_TEST(a_guess_does_not_leave_the_page_on_a_stack_that_is_not_the_thread_s)
{
	struct scene scene = scene_open();
	/* the page behind: in the region, and a trap to code that reads it */
	uint64_t *second = scene.stack + HI_PAGE_BYTES / 8;
	struct registers from = {
		.pc = 0x999999, .sp = at(&scene, 4), .bp = (uintptr_t)(second + 4)};

	scene.arena.control->regions[0].range[0].hi += HI_PAGE_BYTES;
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0},
	     {0x100, HI_PAGE_BYTES / 8 + 2, HI_UNWIND_SP, SAVED_BP});
	second[5] = TEXT + 0x50;
	scene.arena.control->main_stack = 0;
	/* the thread's own */
	CHECK_EQ(walk_from(&scene, from, (uintptr_t)(second + 100)), HI_END_COMPLETE);
	scene.arena.control->main_stack = scene.arena.control->regions[0].range[0].hi;
	CHECK_EQ(walk_from(&scene, from, THREAD), HI_END_COMPLETE); /* the main thread's */
	scene.arena.control->main_stack = 0;
	CHECK_EQ(mprotect(second, HI_PAGE_BYTES, PROT_NONE), 0);
	CHECK_EQ(walk_from(&scene, from, THREAD), HI_END_NO_ROW);
	CHECK_EQ(scene.count, 1);
	/* Nor does a row after a guess, or it is not believed, as sp is not known. */
	from.bp = at(&scene, 8);
	scene.stack[9] = TEXT + 0x150;
	CHECK_EQ(walk_from(&scene, from, THREAD),
		 HI_ARCH_LINK_REGISTER ? HI_END_LOST : HI_END_BAD_FRAME);
	CHECK_EQ(scene.count, 2);
	/* But a row alone does. */
	CHECK_EQ(mprotect(second, HI_PAGE_BYTES, PROT_READ | PROT_WRITE), 0);
	from = (struct registers){.pc = TEXT + 0x150, .sp = at(&scene, 4)};
	second[5] = TEXT + 0x50;
	CHECK_EQ(walk_from(&scene, from, THREAD), HI_END_COMPLETE);
}

/* A thread's own control block bounds its stack, whatever the list says about the mapping. */
UNIT_TEST(nothing_above_the_thread_pointer_is_read)
{
	struct scene scene = scene_open();
	struct registers from = {.pc = TEXT + 0x50, .sp = at(&scene, 0)};

	ROWS(&scene, {0, 8, HI_UNWIND_SP, SAVED_BP});
	scene.stack[7] = scene.stack[15] = TEXT + 0x50;
	CHECK_EQ(walk_from(&scene, from, at(&scene, 12)), HI_END_BAD_FRAME);
	CHECK_EQ(scene.count, 2);
}

/* The handler runs on a stack of its own; the trampoline's ucontext leads back. */
UNIT_TEST(signal_frame_leads_to_the_interrupted_stack)
{
	struct scene scene = scene_open();
	struct hi_regions *regions = &scene.arena.control->regions[0];
	uint64_t *alternate = stack_map();
	struct arch_signal_frame place = arch_signal_frame();
	unsigned other = (uintptr_t)alternate > (uintptr_t)scene.stack;

	regions->count = 2;
	regions->range[!other] = regions->range[0];
	regions->range[other].lo = (uintptr_t)alternate;
	regions->range[other].hi = (uintptr_t)alternate + HI_PAGE_BYTES;
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 2, HI_UNWIND_BP, SAVED_BP},
	     {0x200, 0, HI_UNWIND_SIGNAL, 0}, {0x300, 2, HI_UNWIND_SP, SAVED_BP});
	/*
	 * The interrupted pc is the first byte of its row: looked up as it is, not as a return
	 * address.
	 */
	alternate[1] = TEXT + 0x210;
	alternate[2 + place.pc / 8] = TEXT + 0x100;
	alternate[2 + place.sp / 8] = at(&scene, 40);
	alternate[2 + place.bp / 8] = at(&scene, 50);
	scene.stack[51] = TEXT + 0x50;
	struct registers from = {.pc = TEXT + 0x350, .sp = (uintptr_t)alternate};
	CHECK_EQ(walk_from(&scene, from, THREAD), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 4);
	CHECK_EQ(scene.frame[2], TEXT + 0x100);
	CHECK_EQ(scene.frame[3], TEXT + 0x50);

	alternate[2 + place.sp / 8] = 0x4000; /* interrupted on a stack that is not known */
	CHECK_EQ(walk_from(&scene, from, THREAD), HI_END_REGION);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.stopped_at, 0x4000);

	/*
	 * What a guess led to may be left of a signal of long ago: from there nowhere but to the
	 * thread's own stack.
	 */
	scene.arena.control->main_stack = 0;
	alternate[3] = TEXT + 0x210;
	alternate[4 + place.pc / 8] = TEXT + 0x100;
	alternate[4 + place.sp / 8] = at(&scene, 40);
	alternate[4 + place.bp / 8] = at(&scene, 50);
	from = (struct registers){
		.pc = 0x999999, .sp = (uintptr_t)(alternate + 1), .bp = (uintptr_t)(alternate + 2)};
	CHECK_EQ(walk_from(&scene, from, THREAD), HI_END_BAD_FRAME);
	CHECK_EQ(scene.count, 2);
	CHECK_EQ(walk_from(&scene, from, at(&scene, 60)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 4);
}

#define PAIR(high, low) ((int16_t)((high) * (1 << HI_UNWIND_LOW_BITS) + (low)))
#define WORD_HELD 7 /* of the ucontext, in which the interrupted function holds something */

/*
 * A handler at TEXT + 0x300, called on the one stack; its trampoline at 0x200; it interrupted word
 * `sp_word` of the stack at TEXT + 0x100.
 */
static enum hi_stack_end walk_out_of_signal(struct scene *scene, unsigned sp_word, uint64_t held)
{
	const struct arch_signal_frame place = arch_signal_frame();

	scene->stack[1] = TEXT + 0x210;
	scene->stack[2 + place.pc / 8] = TEXT + 0x100;
	scene->stack[2 + place.sp / 8] = at(scene, sp_word);
	scene->stack[2 + place.bp / 8] = 0;
	scene->stack[2 + WORD_HELD] = held;
	return walk(scene, TEXT + 0x350, 0, 0);
}

/* The interrupted function's row, and a caller that has come to its end. */
#define SIGNAL_ROWS(scene, ...)                                                                    \
	ROWS(scene, {0, 0, HI_UNWIND_END, 0}, {0x100, __VA_ARGS__}, {0x110, 0, HI_UNWIND_NONE, 0}, \
	     {0x200, 0, HI_UNWIND_SIGNAL, 0}, {0x300, 2, HI_UNWIND_SP, SAVED_BP})

UNIT_TEST(a_spilled_stack_pointer_leads_on)
{
	struct scene scene = scene_open();

	scene.stack[190] = TEXT + 0x50;
	for (int high = -1; high < 10; high++) {
		SIGNAL_ROWS(&scene, PAIR(high, 3), HI_UNWIND_SPILLED, SAVED_BP);
		scene.stack[160 + high] = at(&scene, 188);
		CHECK_EQ(walk_out_of_signal(&scene, 160, 0), HI_END_COMPLETE);
		CHECK_EQ(scene.count, 4);
		CHECK_EQ(scene.frame[3], TEXT + 0x50);
		scene.stack[160 + high] = 0;
	}
	/*
	 * What lies below sp is the program's only where a signal came in between, and not at all
	 * outside the region.
	 */
	SIGNAL_ROWS(&scene, PAIR(-1, 3), HI_UNWIND_SPILLED, SAVED_BP);
	CHECK_EQ(walk(&scene, TEXT + 0x101, 160, 0), HI_END_BAD_FRAME);
	scene.stack[-1] = at(&scene, 188);
	CHECK_EQ(walk_out_of_signal(&scene, 0, 0), HI_END_BAD_FRAME);
	CHECK_EQ(scene.count, 3);
}

UNIT_TEST(a_register_that_was_interrupted_leads_on)
{
	struct scene scene = scene_open();

	scene.stack[190] = TEXT + 0x50;
	scene.stack[189] = 0x1234;
	SIGNAL_ROWS(&scene, PAIR(-2, WORD_HELD), HI_UNWIND_REGISTER, -2);
	CHECK_EQ(walk_out_of_signal(&scene, 160, at(&scene, 193)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 4);
	CHECK_EQ(scene.frame[3], TEXT + 0x50);

	/* Below sp, outside the region, or odd. */
	CHECK_EQ(walk_out_of_signal(&scene, 160, at(&scene, 162)), HI_END_BAD_FRAME);
	CHECK_EQ(walk_out_of_signal(&scene, 160, at(&scene, HI_PAGE_BYTES / 8 + 3)),
		 HI_END_BAD_FRAME);
	CHECK_EQ(walk_out_of_signal(&scene, 160, at(&scene, 193) + 1), HI_END_BAD_FRAME);
	/* Of a function that was left by a call nothing is known but its frame pointer. */
	CHECK_EQ(walk(&scene, TEXT + 0x101, 160, at(&scene, 189)), HI_END_COMPLETE);
	CHECK_EQ(walk(&scene, TEXT + 0x101, 160, 0), HI_END_NO_ROW);

	SIGNAL_ROWS(&scene, PAIR(1, WORD_HELD), HI_UNWIND_INDEXED, SAVED_BP);
	scene.stack[160 + 1 + 6] = at(&scene, 190);
	CHECK_EQ(walk_out_of_signal(&scene, 160, 6), HI_END_COMPLETE);
	CHECK_EQ(scene.frame[3], TEXT + 0x50);
	CHECK_EQ(walk_out_of_signal(&scene, 160, HI_PAGE_BYTES), HI_END_BAD_FRAME);
	CHECK_EQ(walk_out_of_signal(&scene, 160, 1ull << 60), HI_END_BAD_FRAME);
}

UNIT_TEST(a_register_that_calls_keep_by_agreement_leads_on)
{
	struct scene scene = scene_open();

	scene.stack[190] = TEXT + 0x50;
	for (int is_scratch = 0; is_scratch < 2; is_scratch++) {
		ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 1, HI_UNWIND_SP, SAVED_BP},
		     {0x200, 0, HI_UNWIND_SIGNAL, 0}, {0x300, 2, HI_UNWIND_SP, SAVED_BP},
		     {0x400, PAIR(-2, WORD_HELD),
		      is_scratch ? HI_UNWIND_SCRATCH : HI_UNWIND_REGISTER, SAVED_BP});
		scene.stack[160] = TEXT + 0x450;
		CHECK_EQ(walk_out_of_signal(&scene, 160, at(&scene, 193)),
			 is_scratch ? HI_END_COMPLETE : HI_END_NO_ROW);
		CHECK_EQ(scene.count, is_scratch ? 5 : 4);
	}
	CHECK_EQ(walk(&scene, TEXT + 0x450, 160, 0), HI_END_NO_ROW); /* no signal */
}

UNIT_TEST(a_function_interrupted_while_it_returns_has_its_callers_frame_pointer)
{
	struct scene scene = scene_open();

	/* Above it one that needs it: its CFA is bp + 16. */
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 1, HI_UNWIND_SP, FAR_BP},
	     {0x200, 0, HI_UNWIND_SIGNAL, 0}, {0x300, 2, HI_UNWIND_SP, SAVED_BP},
	     {0x400, 2, HI_UNWIND_BP, -2});
	scene.stack[161 + FAR_BP] = 0x77; /* the slot, below sp */
	scene.stack[160] = TEXT + 0x450;
	scene.stack[191] = TEXT + 0x50;
	CHECK_EQ(walk_out_of_signal(&scene, 160, 0), HI_END_BAD_FRAME);
	scene.stack[2 + arch_signal_frame().bp / 8] = at(&scene, 190);
	CHECK_EQ(walk(&scene, TEXT + 0x350, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 5);
	CHECK_EQ(scene.frame[4], TEXT + 0x50);
	/* Nothing of the kind after a call. */
	CHECK_EQ(walk(&scene, TEXT + 0x110, 160, at(&scene, 190)), HI_END_BAD_FRAME);
}

UNIT_TEST(lists_being_rewritten_are_not_used)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0});
	scene.arena.control->directory[0].generation++;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_NO_ROW);
	scene.arena.control->directory[0].generation++;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_COMPLETE);
	ROWS(&scene, {0, 2, HI_UNWIND_SP, SAVED_BP});
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_COMPLETE);
	scene.arena.control->regions[0].generation++;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_REGION);
}

UNIT_TEST(tables_outside_their_part_are_not_read)
{
	struct scene scene = scene_open();
	struct hi_unwind_module *module = &scene.arena.control->directory[0].module[0], good;

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0});
	good = *module;
	module->rows = UINT64_MAX;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_NO_ROW);
	*module = good;
	module->index = ARENA_TABLES_BYTES - 8;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_NO_ROW);
	*module = good;
	module->row_count = UINT32_MAX;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_NO_ROW);
	*module = good;
	module->index_count = 1;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_NO_ROW);
	*module = good;
	((uint32_t *)(void *)(scene.arena.tables + 4096))[1] = 7; /* an index beyond the rows */
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_NO_ROW);
}

/*
 * Go's call of C: word 2 of the frame is the goroutine, whose second word is the end of its stack,
 * and word 3 the distance of the caller's sp from there.
 */
UNIT_TEST(a_caller_on_another_stack)
{
	struct scene scene = scene_open();
	struct hi_regions *regions = &scene.arena.control->regions[0];
	uint64_t *other = stack_map();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0},
	     {0x100, HI_UNWIND_PAIR(3, 2), HI_UNWIND_OTHER_STACK, 0},
	     {0x200, 2, HI_UNWIND_SP, SAVED_BP});
	scene.stack[2] = at(&scene, 100); /* the goroutine is in a region, too */
	scene.stack[101] = (uintptr_t)(other + 50);
	scene.stack[3] = 40 * sizeof(uint64_t);
	other[10] = TEXT + 0x250;
	other[HI_ARCH_LINK_REGISTER ? 13 : 12] = TEXT + 0x50;
	/* the other stack is in no region: the first walk says which one that is */
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, 0), HI_END_REGION);
	CHECK_EQ(scene.count, 1);
	CHECK_EQ(scene.stopped_at, (uintptr_t)(other + 10));
	regions->range[1] = regions->range[0];
	regions->range[(uintptr_t)other > at(&scene, 0)].lo = (uintptr_t)other;
	regions->range[(uintptr_t)other > at(&scene, 0)].hi = (uintptr_t)other + HI_PAGE_BYTES;
	regions->count = 2;
	regions->generation += 2;
	CHECK_EQ(walk(&scene, TEXT + 0x150, 0, 0), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 3);
	CHECK_EQ(scene.frame[1], TEXT + 0x250);
	CHECK_EQ(scene.frame[2], TEXT + 0x50);
}

/* What the words of the frame lead to is read only if it is certain to be there. */
UNIT_TEST(another_stack_that_is_none)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, HI_UNWIND_PAIR(3, 2), HI_UNWIND_OTHER_STACK, 0},
	     {0x100, 2, HI_UNWIND_SP, SAVED_BP}, {0x800, 0, HI_UNWIND_NONE, 0});
	scene.stack[2] = 0x12345678; /* no goroutine */
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_REGION);
	scene.stack[2] = at(&scene, 100) + 1;
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_BAD_FRAME);
	scene.stack[2] = at(&scene, 100);
	scene.stack[101] = at(&scene, 50) + 4; /* a stack that begins at no word */
	CHECK_EQ(walk(&scene, TEXT + 0x50, 0, 0), HI_END_REGION);
	scene.stack[101] = at(&scene, 50);
	scene.stack[3] = 8; /* and one whose caller has no row but one that leads here */
	scene.stack[49] = TEXT + 0x50;
	CHECK(walk(&scene, TEXT + 0x50, 0, 0) != HI_END_COMPLETE);
	CHECK(scene.count <= HI_FRAMES_MAX);
	/* after a guess: frame pointer of code without rows */
	scene.stack[10] = 0;
	scene.stack[11] = TEXT + 0x50;
	scene.stack[14] = at(&scene, 100);
	CHECK_EQ(walk(&scene, TEXT + 0x850, 4, at(&scene, 10)), HI_END_BAD_FRAME);
}

UNIT_MAIN()
