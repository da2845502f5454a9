/* SPDX-License-Identifier: MIT */
/*
 * payload_link_test.c - the walker and rows that a CPU has whose calls leave the return address in
 * a register, on hand-made stacks.
 */
#include "payload_scene.h"

#define SIGNATURE (0x2aull << 48)

/* Not every CPU that runs this signs addresses; the walker strips what its own takes for such. */
static uint64_t sign(uint64_t address)
{
	return arch_plain_address(address | SIGNATURE) == address ? address | SIGNATURE : address;
}

static void set_pair(struct scene *scene, unsigned word, uint64_t bp, uint64_t pc)
{
	scene->stack[word] = bp;
	scene->stack[word + 1] = sign(pc);
}

UNIT_TEST(pairs_lie_where_the_row_says)
{
	struct scene scene = scene_open();

	/* by sp; from sp, as the CFA is far; by bp; from bp */
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 4, HI_UNWIND_SP, -4},
	     {0x200, 300, HI_UNWIND_SP_RECORD, 2}, {0x300, 3, HI_UNWIND_BP, -3},
	     {0x400, 60, HI_UNWIND_BP_RECORD, 0});
	set_pair(&scene, 0, at(&scene, 100), TEXT + 0x210);
	set_pair(&scene, 4 + 2, at(&scene, 310), TEXT + 0x310);
	set_pair(&scene, 310, at(&scene, 320), TEXT + 0x410);
	set_pair(&scene, 320, 0x1234, TEXT + 0x10);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(walk(&scene, TEXT + 0x110, 0, 0), HI_END_COMPLETE);
		CHECK_EQ(scene.count, 5);
		CHECK_EQ(scene.frame[1], TEXT + 0x210);
		CHECK_EQ(scene.frame[2], TEXT + 0x310);
		CHECK_EQ(scene.frame[3], TEXT + 0x410);
		CHECK_EQ(scene.frame[4], TEXT + 0x10);
	}
}

UNIT_TEST(a_return_address_alone_lies_where_the_row_says)
{
	struct scene scene = scene_open();

	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 4, HI_UNWIND_ALONE, -1},
	     {0x200, 200, HI_UNWIND_ALONE, 1}, {0x300, 2, HI_UNWIND_BP, -2});
	scene.stack[3] = sign(TEXT + 0x210);
	scene.stack[4 + 1] = sign(TEXT + 0x310);
	set_pair(&scene, 250, 0, TEXT + 0x10);
	CHECK_EQ(walk(&scene, TEXT + 0x110, 0, at(&scene, 250)), HI_END_COMPLETE);
	CHECK_EQ(scene.count, 4);
	CHECK_EQ(scene.frame[2], TEXT + 0x310);
	CHECK_EQ(scene.frame[3], TEXT + 0x10);
}

UNIT_TEST(bad_places_end_the_walk)
{
	static const struct hi_unwind_row bad[] = {
		{0, 3000, HI_UNWIND_ALONE, 0},       {0, 2, HI_UNWIND_ALONE, -4},
		{0, 2, HI_UNWIND_ALONE, 2},          {0, 0, HI_UNWIND_ALONE, 0},
		{0, -4, HI_UNWIND_ALONE, 0},         {0, 3000, HI_UNWIND_SP_RECORD, 0},
		{0, 2, HI_UNWIND_SP_RECORD, 1},      {0, 2, HI_UNWIND_BP_RECORD, 0},
		{0, 3000, HI_UNWIND_SP_RECORD, 100},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct scene scene = scene_open();

		scene_rows(&scene, &bad[i], 1);
		CHECK_EQ(walk(&scene, TEXT + 0x110, 0, 4), HI_END_BAD_FRAME);
		CHECK_EQ(scene.count, 1);
	}
}

/* No function saves a pair across its CFA; the cache of rules is as careful as the search. */
UNIT_TEST(no_row_leads_beyond_the_region)
{
	enum { WORDS = HI_PAGE_BYTES / 8 };

	for (int8_t slot = -1; slot <= 0; slot++) {
		struct scene scene = scene_open();

		ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, WORDS, HI_UNWIND_SP, slot});
		set_pair(&scene, WORDS, TEXT + 0x10, TEXT + 0x10);
		for (int i = 0; i < 3; i++) {
			CHECK_EQ(walk(&scene, TEXT + 0x110, 0, 4), HI_END_BAD_FRAME);
			CHECK_EQ(scene.count, 1);
		}
	}
}

/*
 * A handler at TEXT + 0x300, whose trampoline is at 0x200, interrupted word 100 of the stack at
 * TEXT + 0x100.
 */
static enum hi_stack_end walk_out_of_signal(struct scene *scene, uint64_t bp, uint64_t link)
{
	const struct arch_signal_frame place = arch_signal_frame();

	set_pair(scene, 0, 0, TEXT + 0x210);
	scene->stack[2 + place.pc / 8] = TEXT + 0x100;
	scene->stack[2 + place.sp / 8] = at(scene, 100);
	scene->stack[2 + place.bp / 8] = bp;
	scene->stack[2 + place.link / 8] = link;
	return walk(scene, TEXT + 0x310, 0, 0);
}

UNIT_TEST(a_leaf_that_a_signal_interrupts_shows_its_caller)
{
	struct scene scene = scene_open();

	for (int depth = 0; depth < 5; depth += 4) {
		ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, (int16_t)depth, HI_UNWIND_LINK, 0},
		     {0x200, 0, HI_UNWIND_SIGNAL, 0}, {0x300, 2, HI_UNWIND_SP, -2},
		     {0x400, 4, HI_UNWIND_SP, -4});
		set_pair(&scene, 100 + (unsigned)depth, 0, TEXT + 0x10);
		CHECK_EQ(walk_out_of_signal(&scene, 0x1234, sign(TEXT + 0x410)), HI_END_COMPLETE);
		CHECK_EQ(scene.count, 5);
		CHECK_EQ(scene.frame[2], TEXT + 0x100);
		CHECK_EQ(scene.frame[3], TEXT + 0x410);
		CHECK_EQ(scene.frame[4], TEXT + 0x10);
	}
	/* The caller's row is of no use unless a signal came; and sp stays only there. */
	CHECK_EQ(walk_out_of_signal(&scene, 0, sign(TEXT + 0x150)), HI_END_NO_ROW);
	CHECK_EQ(scene.count, 4);
	CHECK_EQ(walk(&scene, TEXT + 0x110, 0, 0), HI_END_NO_ROW);
	ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 3000, HI_UNWIND_LINK, 0},
	     {0x200, 0, HI_UNWIND_SIGNAL, 0}, {0x300, 2, HI_UNWIND_SP, -2},
	     {0x400, 0, HI_UNWIND_NONE, 0});
	CHECK_EQ(walk_out_of_signal(&scene, 0, TEXT + 0x10), HI_END_BAD_FRAME);
}

/* After a guess sp is not known: frame records lead on, whatever rows say. */
UNIT_TEST(after_a_guess_records_lead_on)
{
	static const uint8_t kinds[] = {HI_UNWIND_ALONE, HI_UNWIND_SP_RECORD, HI_UNWIND_SP};

	for (size_t i = 0; i < sizeof(kinds); i++) {
		struct scene scene = scene_open();

		ROWS(&scene, {0, 0, HI_UNWIND_END, 0}, {0x100, 4, kinds[i], -2});
		set_pair(&scene, 40, at(&scene, 60), TEXT + 0x110);
		set_pair(&scene, 60, 0, TEXT + 0x10);
		CHECK_EQ(walk(&scene, 0x999999, 0, at(&scene, 40)), HI_END_COMPLETE);
		CHECK_EQ(scene.count, 3);
		CHECK_EQ(scene.frame[2], TEXT + 0x10);
	}
}

UNIT_MAIN()
