/* SPDX-License-Identifier: MIT */
/*
 * payload_stack_trie_test.c - a stack that was seen before is found by a shorter way, and is the
 * one that the walk by rules would have found.
 */
#include "payload_program.h"

UNIT_TEST(a_stack_is_known_from_the_third_time_on)
{
	struct program program = program_open();
	const struct hi_state *state = program.scene.arena.state;
	struct hi_scratch *scratch = scratch_of(&program);
	uint32_t id;

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, SAVES, WIDE, BY_BP, PLAIN, PLAIN);
	CHECK_EQ(see(&program), HI_END_COMPLETE);
	CHECK(!program.was_known);
	CHECK_EQ(state->walk_nodes_used, 0); /* what is seen but once costs nothing */
	id = program.id;
	see(&program);
	CHECK(!program.was_known);
	CHECK_EQ(state->walk_nodes_used, 8);
	CHECK_EQ(scratch->frame[7], PC(END, 0));
	memset(scratch->frame, 0x55, sizeof(scratch->frame));
	memset((void *)state->rules, 0, HI_RULES * sizeof(struct hi_rule_entry));
	memset((void *)state->known_stacks, 0, sizeof(uint64_t) << ARENA_KNOWN_BITS);
	see(&program);
	CHECK(program.was_known);
	CHECK_EQ(program.id, id);
	CHECK_EQ(scratch->frame[0], 0x5555555555555555);
	CHECK_EQ(state->walk_nodes_used, 8);
}

UNIT_TEST(a_return_address_of_zero_ends_it_as_well)
{
	struct program program = program_open();

	program_start(&program, 400);
	program.at.pc = 0;
	CALLS(&program, PLAIN, BY_BP, PLAIN);
	CHECK(is_learned(&program));
	program.scene.stack[399] = PC(END, 0); /* it does not end there any more */
	CHECK_EQ(see(&program), HI_END_COMPLETE);
	CHECK(!program.was_known);
	CHECK(is_learned(&program));
	program.scene.stack[399] = 0;
	see(&program);
	CHECK(program.was_known);
	program.scene.stack[399] = PC(PLAIN, 0);
	see(&program);
	CHECK(!program.was_known);
}

/*
 * Where what is new was learned at one go, and nobody called from elsewhere, no link is needed on
 * the way.
 */
UNIT_TEST(the_first_caller_lies_behind)
{
	struct program program = program_open();
	struct hi_walk_node *node = (struct hi_walk_node *)program.scene.arena.state->walk_nodes;

	for (unsigned calls = 0; calls < 2; calls++) {
		program_start(&program, 400);
		CALLS(&program, PLAIN, WIDE, SAVES, PLAIN);
		call(&program, WIDE, calls);
		CHECK(is_learned(&program));
	}
	CHECK_EQ(program.scene.arena.state->walk_nodes_used, 12);
	for (unsigned i = 1; i <= 12; i++)
		node[i].caller = node[i].other = 0;
	see(&program);
	CHECK(program.was_known);
}

/* As where two threads learn at the same time: its place says the link. */
UNIT_TEST(the_first_caller_may_lie_elsewhere)
{
	struct program program = program_open();
	struct hi_state *state = program.scene.arena.state;

	state->walk_nodes_used = (1u << ARENA_WALK_BITS) - 1 - 2;
	program_start(&program, 400);
	CALLS(&program, PLAIN, WIDE, PLAIN);
	CHECK(!is_learned(&program));
	state->walk_nodes_used = 100;
	CHECK(is_learned(&program));
	CHECK_EQ(state->walk_nodes_used, 102);
}

/*
 * Of one function, called from more and more places. The first two are found in one way, those that
 * follow in another.
 */
UNIT_TEST(callers_may_be_many)
{
	enum { CALLERS = 4 * CALL_SITES - 8 };
	static const enum function function[4] = {PLAIN, WIDE, SAVES, BY_BP};
	struct program program = program_open();
	uint32_t id[CALLERS];
	uint64_t nodes;

	program.scene.arena.stacks->limit = ARENA_STACKS_BYTES;
	for (unsigned callers = 1; callers <= CALLERS;
	     callers = callers < 4   ? callers + 1
		       : callers < 8 ? 8
				     : CALLERS + (callers == CALLERS)) {
		for (unsigned i = 0; i < callers; i++) {
			program_start(&program, 400);
			call(&program, function[i % 4], i / 4);
			call(&program, PLAIN, CALL_SITES - 1);
			CHECK(is_learned(&program));
			id[i] = program.id;
		}
		for (unsigned i = 0; i < callers; i++) {
			program_start(&program, 400);
			call(&program, function[i * 7 % callers % 4], i * 7 % callers / 4);
			call(&program, PLAIN, CALL_SITES - 1);
			see(&program);
			CHECK(program.was_known);
			CHECK_EQ(program.id, id[i * 7 % callers]);
		}
	}
	nodes = program.scene.arena.state->walk_nodes_used;
	CHECK_EQ(nodes, 1 + 2 * CALLERS);
	program_start(&program, 400);
	call(&program, WIDE, CALL_SITES - 1); /* and one more */
	call(&program, PLAIN, CALL_SITES - 1);
	see(&program);
	CHECK(!program.was_known);
	CHECK_EQ(program.scene.arena.state->walk_nodes_used, nodes);
}

/* The same callers of many functions: whose link it is, is looked at. */
UNIT_TEST(each_function_has_callers_of_its_own)
{
	enum { LEAVES = 20 };
	struct program program = program_open();

	program.scene.arena.state->walk_bits = 8; /* so that they get into each other's way */
	for (unsigned time = 0; time < 3; time++)
		for (unsigned leaf = 0; leaf < LEAVES; leaf++)
			for (unsigned caller = 0; caller < 3 + leaf % 3; caller++) {
				program_start(&program, 400);
				call(&program, WIDE, caller);
				call(&program, PLAIN, leaf);
				see(&program);
				CHECK_EQ(program.was_known, time == 2);
			}
}

/*
 * Also where none is in its first place: one that belongs to others is passed by, and one that is
 * full of them does not get a node.
 */
UNIT_TEST(links_may_have_their_places_taken)
{
	enum { LINKS = 1 << ARENA_WALK_BITS };
	struct program program = program_open();
	struct hi_state *state = program.scene.arena.state;
	uint32_t *edge = (uint32_t *)state->walk_edges;

	for (unsigned taken = 0; taken <= 8; taken++) {
		memset((void *)state->walk_nodes, 0, sizeof(struct hi_walk_node) * 100);
		state->walk_nodes_used = 1;
		for (unsigned i = 0; i < LINKS; i++)
			edge[i] = i % 8 < taken ? sizeof(struct hi_walk_node) : 0;
		program_start(&program, 400);
		CALLS(&program, WIDE, PLAIN);
		CHECK_EQ(is_learned(&program), taken < 8);
		CHECK_EQ(state->walk_nodes_used, taken < 8 ? 4 : 1);
	}
}

UNIT_TEST(a_changed_return_address_is_noticed)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, PLAIN, WIDE);
	uint64_t *slot = program.sp + 8;
	CALLS(&program, SAVES, PLAIN);
	CHECK(is_learned(&program));
	CHECK_EQ(*slot, PC(PLAIN, 2));
	for (enum function function = END; function < FUNCTIONS; function++) {
		*slot = PC(function, 3);
		see(&program);
		CHECK(!program.was_known);
	}
	*slot = PC(PLAIN, 2);
	see(&program);
	CHECK(program.was_known);
}

UNIT_TEST(a_frame_pointer_is_followed_to_where_it_is_now)
{
	struct program program = program_open();
	uint64_t *slot, right;

	program_start(&program, 400);
	CALLS(&program, WIDE, BY_BP, SAVES);
	slot = program.sp + 2; /* by way of PLAIN, and not of what SAVES has in it, that of BY_BP */
	CALLS(&program, PLAIN, WIDE, SAVES, PLAIN);
	right = *slot;
	CHECK(is_learned(&program));
	for (unsigned i = 0; i < STACK_WORDS; i++) {
		*slot = at(&program.scene, i);
		see(&program); /* by chance it may lead to what was seen by now */
		*slot = at(&program.scene, i) + 4;
		CHECK_EQ(see(&program), HI_END_BAD_FRAME);
		CHECK(!program.was_known);
	}
	*slot = right;
	see(&program);
	CHECK(program.was_known);
	/* In the leaf it is in a register, or the leaf's caller has saved it. */
	program_start(&program, 400);
	CALLS(&program, WIDE, BY_BP, PLAIN, WIDE);
	CHECK(is_learned(&program));
	program.at.bp += 8;
	program.sp[9] += 8;
	see(&program);
	CHECK(!program.was_known);
}

/* The same path, elsewhere and with other things in between. */
UNIT_TEST(no_address_is_remembered)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, WIDE, BY_BP, SAVES, PLAIN, BY_BP, SAVES, PLAIN);
	CHECK(is_learned(&program));
	for (unsigned i = 0; i < 20; i++) {
		memset(program.scene.stack, (int)i, 2 * HI_PAGE_BYTES);
		program_start(&program, 380 + i);
		CALLS(&program, WIDE, BY_BP);
		program.sp -= i; /* what it asked for at run time */
		CALLS(&program, BY_BP);
		program.sp[0] = 1;
		program_start(&program, 400 + i);
		CALLS(&program, WIDE, BY_BP, SAVES, PLAIN, BY_BP, SAVES, PLAIN);
		see(&program);
		CHECK(program.was_known);
	}
}

/*
 * Where nobody says what became of bp, what goes by it is not learned; nor is what goes by more
 * than plain rules.
 */
UNIT_TEST(only_plain_stacks_are_learned)
{
	static const enum function other[] = {MEMORY, LAZY};
	struct program program = program_open();

	if (HI_ARCH_LINK_REGISTER)
		SKIP("there are no such rows: a function with a frame says where it saves bp");
	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		program_start(&program, 400);
		CALLS(&program, PLAIN, other[i], PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN);
		CHECK_EQ(see(&program), HI_END_COMPLETE);
		CHECK(!is_learned(&program));
		CHECK_EQ(program.scene.arena.state->walk_nodes_used, 0);
	}
	program.at = (struct registers){
		.pc = PC(PLAIN, 0), .sp = at(&program.scene, 300), .bp = at(&program.scene, 304)};
	program.scene.stack[301] = PC(BARE, 0);
	program.scene.stack[305] = PC(PLAIN, 0);
	program.scene.stack[307] = PC(FAR, 0);
	program.scene.stack[311] = PC(END, 0);
	CHECK_EQ(see(&program), HI_END_COMPLETE);
	CHECK(!is_learned(&program));
	CHECK_EQ(program.scene.arena.state->walk_nodes_used, 3);
	program_start(&program, 400);
	CALLS(&program, PLAIN, WIDE, BARE, PLAIN);
	CHECK_EQ(see(&program), HI_END_COMPLETE);
	CHECK(is_learned(&program));
}

/* The rules are others by now than when the stack was walked. */
UNIT_TEST(what_should_have_ended_sooner_is_not_learned)
{
	struct program program = program_open();
	const uint64_t frame[] = {PC(PLAIN, 0), PC(END, 0), PC(END, 0)};

	program_start(&program, 400);
	call(&program, PLAIN, 0);
	see(&program);
	stack_trie_add(program.scene.arena.state, frame, 3, program.id + 1);
	CHECK_EQ(stack_trie_find(program.scene.arena.state, THREAD, hook_of(&program),
				 scratch_of(&program)),
		 0);
	stack_trie_add(program.scene.arena.state, frame, 2, program.id);
	CHECK_EQ(stack_trie_find(program.scene.arena.state, THREAD, hook_of(&program),
				 scratch_of(&program)),
		 program.id);
}

/* The return address is right, but does not lie where one can be. */
UNIT_TEST(a_frame_pointer_has_bounds)
{
	struct program program = program_open();

	program_start(&program, 400);
	call(&program, BARE, 0);
	CHECK(is_learned(&program));
	program.at.bp = program.at.sp - 20 * 8;
	program.sp[-19] = PC(END, 0);
	CHECK_EQ(see(&program), HI_END_BAD_FRAME);
	program_start(&program, 400);
	call(&program, BY_BP, 0);
	CHECK(is_learned(&program));
	program.at.bp = program.at.sp - 8;
	program.sp[0] = PC(END, 0);
	CHECK_EQ(see(&program), HI_END_BAD_FRAME);
}

/*
 * The call was the last thing in its function: the rule is that of the byte before. After a signal
 * it is that of the byte itself.
 */
UNIT_TEST(an_interrupted_frame_is_another)
{
	struct program program = program_open();
	const struct arch_signal_frame place = arch_signal_frame();

	program_start(&program, 400);
	CALLS(&program, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN);
	program.at.pc = TEXT + 0x100 * WIDE;
	CHECK(is_learned(&program));
	program.scene.stack[100 + place.pc / 8] = program.at.pc;
	program.scene.stack[100 + place.sp / 8] = program.at.sp;
	program.scene.stack[100 + place.bp / 8] = program.at.bp;
	program.at = (struct registers){.pc = PC(HANDLED, 0), .sp = at(&program.scene, 100)};
	CHECK(!is_learned(&program));
}

UNIT_TEST(other_tables_are_another_tree)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, PLAIN, PLAIN);
	CHECK(is_learned(&program));
	ROWS(&program.scene, PROGRAM_ROWS(4));
	see(&program);
	CHECK(!program.was_known);
	ROWS(&program.scene, PROGRAM_ROWS(2));
	see(&program);
	CHECK(!program.was_known);
	see(&program);
	CHECK(program.was_known);
	program.scene.arena.control->directory[0].generation |= 1; /* it is being written */
	CHECK(!is_learned(&program));
}

UNIT_TEST(nothing_is_read_beyond_a_difference)
{
	struct program program = program_open();
	uint64_t *second = program.scene.stack + HI_PAGE_BYTES / 8;
	uint64_t *slot;

	program_start(&program, STACK_WORDS - 100);
	while (program.sp > second - 10)
		CALLS(&program, WIDE, BY_BP);
	call(&program, PLAIN, 0);
	slot = program.sp + 1;
	CALLS(&program, PLAIN, BY_BP, PLAIN);
	CHECK_EQ(*slot, PC(BY_BP, 1));
	CHECK(is_learned(&program));
	*slot = PC(END, 0);
	CHECK_EQ(mprotect(second, HI_PAGE_BYTES, PROT_NONE), 0);
	CHECK_EQ(see(&program), HI_END_COMPLETE);
	/*
	 * a leaf that was never seen: nor is anything that may lie there, unless it is what it has
	 * saved
	 */
	program.at.pc = PC(PLAIN, CALL_SITES - 1);
	if (!SAVED_BP)
		program.sp[0] = (uintptr_t)(second + 4);
	CHECK_EQ(see(&program), HI_END_COMPLETE);
}

/* Where the stack ends by now. */
UNIT_TEST(a_stack_that_ends_sooner_is_not_left)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, PLAIN, BY_BP, WIDE, BY_BP, PLAIN);
	CHECK(is_learned(&program));
	for (unsigned top = 399; &program.scene.stack[top] > program.sp; top--) {
		CHECK_EQ(see_on(&program, at(&program.scene, top)), HI_END_BAD_FRAME);
		CHECK(!program.was_known);
	}
	see_on(&program, at(&program.scene, 400));
	CHECK(program.was_known);
	program.scene.arena.control->regions[0].count = 0;
	program.scene.arena.control->regions[0].generation += 2;
	see(&program);
	CHECK(!program.was_known);
}

UNIT_TEST(an_odd_stack_pointer_leads_nowhere)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizers object to a structure at an odd address, which this is about");
#endif
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, WIDE, PLAIN);
	CHECK(is_learned(&program));
	memmove((uint8_t *)program.scene.stack + 4, program.scene.stack, HI_PAGE_BYTES);
	program.at.sp += 4;
	see(&program);
	CHECK(!program.was_known);
}

/* A signal handler that forks in the middle of a walk: its child goes on there, with all wiped. */
UNIT_TEST(what_is_wiped_leads_nowhere)
{
	struct program program = program_open();
	struct hi_walk_node *node = (struct hi_walk_node *)program.scene.arena.state->walk_nodes,
			    before;
	uint32_t id;

	program_start(&program, 400);
	program.at.pc = 0;
	CALLS(&program, PLAIN, BY_BP, PLAIN, WIDE);
	CHECK(is_learned(&program));
	CHECK_EQ(program.scene.arena.state->walk_nodes_used, 5);
	for (unsigned i = 1; i <= 5; i++) {
		for (unsigned byte = 0; byte < sizeof(before); byte += 4) {
			before = node[i];
			memset((uint8_t *)&node[i] + byte, 0, sizeof(before) - byte);
			id = stack_trie_find(program.scene.arena.state, THREAD, hook_of(&program),
					     scratch_of(&program));
			CHECK(!id || (byte && id == program.id));
			node[i] = before;
		}
	}
	memset(&node[1], 0, 5 * sizeof(*node)); /* and what is told by then */
	CHECK_EQ(stack_trie_find(program.scene.arena.state, THREAD, hook_of(&program),
				 scratch_of(&program)),
		 0);
	stack_trie_add(program.scene.arena.state, scratch_of(&program)->frame, 4, 1);
}

UNIT_TEST(it_may_be_too_deep)
{
	struct program program = program_open();

	program_start(&program, STACK_WORDS - 4);
	for (unsigned i = 1; i < HI_FRAMES_MAX + 3; i++) {
		call(&program, PLAIN, 0);
		if (i < HI_FRAMES_MAX - 3)
			continue;
		CHECK_EQ(see(&program), i < HI_FRAMES_MAX ? HI_END_COMPLETE : HI_END_DEPTH);
		CHECK(!program.was_known);
		CHECK_EQ(is_learned(&program), i < HI_FRAMES_MAX);
	}
}

UNIT_TEST(without_a_tree_all_walks_are_by_rules)
{
	struct program program = program_open();
	struct hi_state *state = program.scene.arena.state;

	program_start(&program, 400);
	CALLS(&program, PLAIN, WIDE);
	CHECK(is_learned(&program));
	state->walk_bits = 0;
	see(&program);
	CHECK(!program.was_known);
	call(&program, PLAIN, 7);
	CHECK(!is_learned(&program));
	CHECK_EQ(state->walk_nodes_used, 3);
}

/* What was learned stays, and all else goes on as it did. */
UNIT_TEST(without_room_nothing_is_learned)
{
	struct program program = program_open();
	struct hi_state *state = program.scene.arena.state;

	program_start(&program, 400);
	CALLS(&program, PLAIN, WIDE);
	CHECK(is_learned(&program));
	for (unsigned left = 0; left < 6; left++) {
		state->walk_nodes_used = (1u << ARENA_WALK_BITS) - 1 - left;
		program_start(&program, 400);
		call(&program, WIDE, left);
		CALLS(&program, WIDE, BY_BP, PLAIN);
		CHECK_EQ(is_learned(&program), left == 5);
		CHECK_EQ(state->walk_nodes_used, (1u << ARENA_WALK_BITS) - 1);
		memset((uint8_t *)state->walk_nodes + 4 * sizeof(struct hi_walk_node), 0,
		       (sizeof(struct hi_walk_node) << ARENA_WALK_BITS) - 4 * 32);
		program_start(&program, 400);
		CALLS(&program, PLAIN, WIDE);
		see(&program);
		CHECK(program.was_known);
	}
}

UNIT_MAIN()
