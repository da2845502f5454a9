/* SPDX-License-Identifier: MIT */
/* row_walk_test.c - the walk of a stopped thread by rows: made-up code on a made-up stack. */
#include "row_walk.h"

#include "hi_wire.h"
#include "unit.h"

#define SP 31
#define BP 29
#define LINK 30
#define TEXT 0x400000ull
#define STACK 0x7f0000000000ull
#define SIGNATURE (0x2aull << 48)

/* One row for each 16 bytes of code, and a stack. */
struct walked {
	struct hi_unwind_row row[8];
	uint64_t word[200];
	struct stackwalk walk;
};

static bool read_word(void *context, remote_addr at, uint64_t *out_word)
{
	const struct walked *walked = context;
	const uint64_t i = (at - STACK) / 8;

	if (at % 8 || i >= sizeof(walked->word) / sizeof(walked->word[0]))
		return false;
	*out_word = walked->word[i];
	return true;
}

static const struct hi_unwind_row *find_row(void *context, remote_addr pc)
{
	const struct walked *walked = context;

	return pc - TEXT < 0x80 ? &walked->row[(pc - TEXT) / 16] : NULL;
}

static void walk_from(struct walked *walked, uint64_t pc, unsigned word, uint64_t bp, uint64_t link)
{
	const struct row_walk_source source = {walked, read_word, find_row};
	struct arch_regs regs = {.user = {.pc = pc, .sp = STACK + 8 * (uint64_t)word}};

	regs.user.regs[BP] = bp;
	regs.user.regs[LINK] = link;
	row_walk(&source, &regs, &walked->walk);
}

static struct walked rows_of_all_kinds(void)
{
	return (struct walked){.row = {{.kind = HI_UNWIND_END},
				       {.kind = HI_UNWIND_LINK, .cfa = 1},
				       {.kind = HI_UNWIND_SP, .cfa = 4, .bp_slot = -4},
				       {.kind = HI_UNWIND_ALONE, .cfa = 2, .bp_slot = -2},
				       {.kind = HI_UNWIND_BP, .cfa = 2, .bp_slot = -2},
				       {.kind = HI_UNWIND_SP_RECORD, .cfa = 3, .bp_slot = 1},
				       {.kind = HI_UNWIND_SIGNAL},
				       {.kind = HI_UNWIND_NONE}}};
}

UNIT_TEST(a_walk_follows_rows_to_the_end)
{
	struct walked walked = rows_of_all_kinds();

	/* at the first instruction of its row: the thread was stopped there */
	walked.word[1 + 0] = STACK + 800;
	walked.word[1 + 1] = SIGNATURE | (TEXT + 0x40);
	walked.word[5] = TEXT + 0x50;
	walked.word[100] = STACK;
	walked.word[101] = SIGNATURE | (TEXT + 0x60);
	walked.word[102 + 2] = SIGNATURE | (TEXT + 0x08);
	walk_from(&walked, TEXT + 0x10, 0, 0, SIGNATURE | (TEXT + 0x30));
	CHECK(walked.walk.is_complete && !walked.walk.is_cut);
	CHECK_EQ(walked.walk.count, 6);
	CHECK_EQ(walked.walk.pc[1], TEXT + 0x30); /* a return address: its row is the one before */
	CHECK_EQ(walked.walk.cfa[0], STACK + 8);
	CHECK_EQ(walked.walk.pc[2], TEXT + 0x40);
	CHECK_EQ(walked.walk.pc[5], TEXT + 0x08);
	CHECK_EQ(walked.walk.cfa[4], STACK + 8 * 105);
}

UNIT_TEST(a_walk_goes_on_where_a_signal_came)
{
	struct walked walked = rows_of_all_kinds();

	walked.word[39 + BP] = 1;
	walked.word[39 + LINK] = SIGNATURE | (TEXT + 0x08);
	walked.word[39 + SP] = STACK + 1000;
	walked.word[39 + 32] = TEXT + 0x10;
	walk_from(&walked, TEXT + 0x60, 0, 0, 0);
	CHECK(walked.walk.is_complete && walked.walk.is_signal[0] && !walked.walk.is_signal[1]);
	CHECK_EQ(walked.walk.count, 3);
	CHECK_EQ(walked.walk.pc[1], TEXT + 0x10);
	CHECK_EQ(walked.walk.pc[2], TEXT + 0x08);
}

UNIT_TEST(a_walk_without_a_row_proves_nothing)
{
	struct walked walked = rows_of_all_kinds();

	walk_from(&walked, TEXT + 0x70, 0, 0, 0);
	CHECK(walked.walk.is_cut && !walked.walk.is_complete);
	/* a leaf that was called, words beyond the stack, and sp that does not rise */
	walk_from(&walked, TEXT + 0x10, 0, 0, TEXT + 0x1c);
	CHECK(walked.walk.is_cut && walked.walk.count == 2);
	walk_from(&walked, TEXT + 0x20, 300, 0, 0);
	CHECK(walked.walk.is_cut && walked.walk.count == 1);
	walk_from(&walked, TEXT + 0x40, 50, STACK, 0);
	CHECK(walked.walk.is_cut && walked.walk.count == 1);
	/* an address of 0 is no end that a row shows */
	walk_from(&walked, TEXT + 0x20, 50, 0, 0);
	CHECK(!walked.walk.is_cut && !walked.walk.is_complete);
}

UNIT_MAIN()
