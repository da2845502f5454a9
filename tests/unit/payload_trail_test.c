/* SPDX-License-Identifier: MIT */
/*
 * payload_trail_test.c - a walk that finds the rest of its stack on a trail finds what it would have found without.
 *
 * Each walk is made twice: with what the earlier ones left behind, and with nothing.
 */
#include "payload_scene.h"
#include "rules.h"
#include "trail.h"

/* The functions of the imaginary program, 0x100 bytes each. The number is that of its row. */
enum function { END, PLAIN, WIDE, SAVES, BY_BP, MEMORY, LAZY, HANDLED, FUNCTIONS };
#define PC(function, call) (TEXT + 0x100ull * (function) + 0x10 + (call))
#define STACK_WORDS (2 * HI_PAGE_BYTES / 8)

/* Lays out a stack as the program would, from the outermost frame to the leaf. */
struct program {
	struct scene scene;
	struct registers at;
	uint64_t *sp;
};

static struct program program_open(void)
{
	struct program program = {.scene = scene_open()};
	struct hi_regions *regions = &program.scene.arena.control->regions[0];

	regions->range[0].hi += HI_PAGE_BYTES;
	program.scene.arena.control->main_stack = regions->range[0].hi;
	ROWS(&program.scene, {0x100 * END, 0, HI_UNWIND_END, 0}, {0x100 * PLAIN, 2, HI_UNWIND_SP, 0}, {0x100 * WIDE, 9, HI_UNWIND_SP, 0},
	     {0x100 * SAVES, 4, HI_UNWIND_SP, -2}, {0x100 * BY_BP, 2, HI_UNWIND_BP, -2}, {0x100 * MEMORY, -1, HI_UNWIND_BP_DEREF, 0},
	     {0x100 * LAZY, 11, HI_UNWIND_PLT, 0}, {0x100 * HANDLED, 0, HI_UNWIND_SIGNAL, 0});
	memset(&scene_scratch, 0, sizeof(scene_scratch));
	return program;
}

static void program_start(struct program *program, unsigned sp_word)
{
	program->sp = program->scene.stack + sp_word;
	program->at = (struct registers){.pc = PC(END, 0), .sp = at(&program->scene, sp_word), .bp = 0xb0b};
}

static void push(struct program *program, uint64_t value)
{
	*--program->sp = value;
}

static void call(struct program *program, enum function function, unsigned call_site)
{
	uint64_t cfa;

	push(program, program->at.pc);
	program->at.pc = PC(function, function == LAZY ? 12 : call_site); /* far enough into the entry */
	switch (function) {
	case WIDE:
		program->sp -= 8;
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
	case MEMORY:
		cfa = (uintptr_t)(program->sp + 1);
		push(program, program->at.bp);
		program->at.bp = (uintptr_t)program->sp;
		push(program, cfa);
		break;
	default:
		program->sp--;
	}
	program->at.sp = (uintptr_t)program->sp;
}

/* As the next walk finds it, or, without a trail, the first. */
static enum hi_stack_end walk_it(struct program *program)
{
	return walk_from(&program->scene, program->at, THREAD);
}

/* The same with and without; how it ended. */
static enum hi_stack_end check_walk(struct program *program)
{
	const struct hi_scratch with = scene_scratch;
	enum hi_stack_end end;
	struct scene plain;

	memset(&scene_scratch, 0, sizeof(scene_scratch));
	end = walk_it(program);
	plain = program->scene;
	scene_scratch = with;
	CHECK_EQ(walk_it(program), end);
	CHECK_EQ(program->scene.count, plain.count);
	CHECK_EQ(program->scene.hash, plain.hash);
	CHECK(memcmp(program->scene.frame, plain.frame, plain.count * sizeof(plain.frame[0])) == 0);
	return end;
}

static void learn(struct program *program)
{
	scene_scratch.trail.walks = 16; /* it is due */
	walk_it(program);
}

/* Whether the walk takes what is remembered for what is there: with a wrong hash remembered, it finds a wrong hash. */
static bool is_on_trail(struct program *program)
{
	uint64_t right;

	check_walk(program);
	right = program->scene.hash;
	scene_scratch.trail.hash ^= 1;
	walk_it(program);
	scene_scratch.trail.hash ^= 1;
	return program->scene.hash != right;
}

/* The same, from the leaf on. */
static bool is_all_on_trail(struct program *program)
{
	return is_on_trail(program) && scene_scratch.trail.anchor == 0;
}

/* The outermost frame is the first. */
#define CALLS(program, ...)                                                        \
	do {                                                                       \
		const enum function calls_[] = {__VA_ARGS__};                      \
		for (unsigned i_ = 0; i_ < sizeof(calls_) / sizeof(*calls_); i_++) \
			call(program, calls_[i_], i_);                             \
	} while (0)

UNIT_TEST(a_repeated_stack_is_on_the_trail)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, SAVES, WIDE, BY_BP, PLAIN, PLAIN);
	CHECK_EQ(check_walk(&program), HI_END_COMPLETE);
	CHECK_EQ(program.scene.count, 8);
	CHECK(!is_on_trail(&program));
	learn(&program);
	CHECK(is_all_on_trail(&program));
	CHECK_EQ(program.scene.count, 8);
}

UNIT_TEST(it_is_learned_without_being_told_to)
{
	struct program program = program_open();
	unsigned walks = 0;

	program_start(&program, 400);
	CALLS(&program, PLAIN, WIDE);
	for (; walks < 1000 && !scene_scratch.trail.stamp; walks++)
		walk_it(&program);
	CHECK(walks < 1000);
	CHECK(is_on_trail(&program));
}

UNIT_TEST(a_return_address_of_zero_ends_it_as_well)
{
	struct program program = program_open();

	program_start(&program, 400);
	program.at.pc = 0;
	CALLS(&program, PLAIN, BY_BP, PLAIN);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	CHECK_EQ(program.scene.count, 3);
	program.scene.stack[399] = PC(END, 0); /* it does not end there any more */
	CHECK(!is_on_trail(&program));
	CHECK_EQ(program.scene.count, 4);
}

/* New frames below the same old ones: only these are left by rule. */
UNIT_TEST(the_outer_half_is_enough)
{
	struct program program = program_open(), outer;

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, WIDE);
	outer = program;
	CALLS(&program, PLAIN, SAVES, BY_BP);
	learn(&program);
	program = outer;
	CALLS(&program, WIDE, MEMORY, PLAIN, PLAIN);
	CHECK(is_on_trail(&program));
	CHECK_EQ(program.scene.count, 8);
	CHECK_EQ(program.scene.frame[7], PC(END, 0));
	program = outer;
	CHECK(is_on_trail(&program));
	CHECK_EQ(program.scene.count, 4);
}

UNIT_TEST(a_changed_return_address_is_noticed)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, PLAIN, WIDE);
	uint64_t *slot = program.sp + 8;
	CALLS(&program, SAVES, PLAIN);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	CHECK_EQ(*slot, PC(PLAIN, 2));
	*slot = PC(PLAIN, 3);
	CHECK_EQ(check_walk(&program), HI_END_COMPLETE);
	CHECK_EQ(program.scene.frame[3], PC(PLAIN, 3));
	*slot = PC(WIDE, 3);
	check_walk(&program);
	*slot = PC(END, 3);
	check_walk(&program);
	CHECK_EQ(program.scene.count, 4);
}

UNIT_TEST(a_changed_frame_pointer_is_noticed_where_it_matters)
{
	struct program program = program_open();
	uint64_t *slot;

	program_start(&program, 400);
	CALLS(&program, WIDE, SAVES);
	slot = program.sp + 2; /* what WIDE had in it: nobody goes by that */
	CALLS(&program, BY_BP, PLAIN, SAVES);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	*slot ^= 0x1230;
	CHECK(is_all_on_trail(&program));
	CALLS(&program, SAVES);
	learn(&program);
	program.sp[2] ^= 0x1230; /* what SAVES had in it: it has saved what matters itself */
	CHECK(is_all_on_trail(&program));
	slot = program.sp + 4 + 2; /* by way of PLAIN, that of BY_BP */
	CHECK_EQ(*slot, (uintptr_t)(program.sp + 8 + 2 + 1));
	*slot -= 8;
	CHECK(!is_on_trail(&program));
	*slot += 8;
	learn(&program);
	CHECK(is_all_on_trail(&program));
	*slot = 0;
	CHECK_EQ(check_walk(&program), HI_END_BAD_FRAME);
}

/* The walk comes to a frame that it knows, with another frame pointer than then. */
UNIT_TEST(the_frame_pointer_at_the_first_known_frame_counts)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, WIDE, BY_BP, PLAIN);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	program.at.bp += 8;
	CHECK(!is_on_trail(&program));
	program.at.bp -= 8;
	program_start(&program, 400);
	CALLS(&program, WIDE, SAVES, PLAIN);
	learn(&program);
	program.at.bp += 8;
	CHECK(is_all_on_trail(&program));
}

UNIT_TEST(other_tables_are_another_trail)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, PLAIN, PLAIN);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	ROWS(&program.scene, {0x100 * END, 0, HI_UNWIND_END, 0}, {0x100 * PLAIN, 4, HI_UNWIND_SP, 0}, {0x100 * WIDE, 0, HI_UNWIND_END, 0});
	CHECK(!is_on_trail(&program));
	CHECK_EQ(program.scene.count, 2);
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
	learn(&program);
	CHECK(is_all_on_trail(&program));
	CHECK(program.scene.count > 10);
	*slot = PC(END, 0);
	CHECK_EQ(mprotect(second, HI_PAGE_BYTES, PROT_NONE), 0);
	CHECK_EQ(check_walk(&program), HI_END_COMPLETE);
	CHECK_EQ(program.scene.count, 5);
}

/* Where the stack ends by now, a trail that is longer leads nowhere. */
UNIT_TEST(a_stack_that_ends_sooner_is_not_left)
{
	struct program program = program_open();

	program_start(&program, 400);
	CALLS(&program, PLAIN, PLAIN, WIDE, PLAIN);
	learn(&program);
	CHECK_EQ(walk_from(&program.scene, program.at, at(&program.scene, 399)), HI_END_BAD_FRAME);
	CHECK_EQ(walk_it(&program), HI_END_COMPLETE);
}

/* A signal handler that forks in the middle of a walk: its child goes on there, with all wiped. */
UNIT_TEST(a_wiped_trail_leads_nowhere)
{
	struct program program = program_open();
	struct trail_rest rest;

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, PLAIN, WIDE);
	learn(&program);
	rest = (struct trail_rest){.frame = program.scene.frame, .count = HI_FRAMES_MAX};
	CHECK(trail_follow(&scene_scratch.trail, &program.at, &rest));
	CHECK_EQ(rest.count, 4);
	memset(&scene_scratch.trail.frame[1], 0, sizeof(scene_scratch.trail.frame) - sizeof(scene_scratch.trail.frame[0]));
	rest = (struct trail_rest){.frame = program.scene.frame, .count = HI_FRAMES_MAX};
	CHECK(!trail_follow(&scene_scratch.trail, &program.at, &rest));
	CHECK_EQ(rest.next_sp, UINT64_MAX);
}

UNIT_TEST(together_they_may_be_too_deep)
{
	struct program program = program_open();

	program_start(&program, STACK_WORDS - 4);
	for (unsigned i = 0; i < 100; i++)
		call(&program, PLAIN, 0);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	CHECK_EQ(program.scene.count, 101);
	for (unsigned i = 101; i < 2 * HI_FRAMES_MAX; i++) {
		call(&program, PLAIN, 1);
		CHECK_EQ(check_walk(&program), i < HI_FRAMES_MAX ? HI_END_COMPLETE : HI_END_DEPTH);
		CHECK_EQ(program.scene.count, i < HI_FRAMES_MAX ? i + 1 : HI_FRAMES_MAX);
	}
}

/* What more than plain rules lead through is not learned. */
UNIT_TEST(only_plain_stacks_are_learned)
{
	static const enum function other[] = {MEMORY, LAZY};

	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct program program = program_open();

		program_start(&program, 400);
		CALLS(&program, PLAIN, other[i], PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN);
		learn(&program);
		CHECK_EQ(check_walk(&program), HI_END_COMPLETE);
		CHECK_EQ(scene_scratch.trail.stamp, 0);
	}
}

UNIT_TEST(nothing_is_learned_beyond_the_bounds)
{
	struct program program = program_open();
	const struct hi_state *state = program.scene.arena.state;
	struct hi_trail *trail = &scene_scratch.trail;
	struct registers bad;

	program_start(&program, 400);
	CALLS(&program, PLAIN, BY_BP, PLAIN);
	for (unsigned top = 390; top <= 400; top++) {
		trail->walks = 16;
		trail_offer(trail, rules_stamp(state), at(&program.scene, top));
		CHECK(trail->wanted);
		trail_learn(trail, state, &program.at);
		CHECK_EQ(trail->stamp != 0, top == 400);
		CHECK(!trail->wanted);
	}
	bad = (struct registers){.pc = PC(BY_BP, 0), .sp = program.at.sp, .bp = program.at.sp - 8}; /* it was saved below sp */
	trail->walks = 16;
	trail_offer(trail, rules_stamp(state), at(&program.scene, 400));
	trail_learn(trail, state, &bad);
	CHECK_EQ(trail->stamp, 0);
}

/* What a guess leads to may look like a frame of the trail, and be no more than its remains. */
UNIT_TEST(no_guess_leads_to_the_trail)
{
	struct program program = program_open();
	uint64_t *second = program.scene.stack + HI_PAGE_BYTES / 8;
	struct registers from = {.pc = 0x999999};

	program.scene.arena.control->main_stack = 0;
	program_start(&program, STACK_WORDS - 100);
	while (program.sp > second - 10)
		call(&program, WIDE, 0);
	learn(&program);
	CHECK(is_all_on_trail(&program));
	push(&program, program.at.pc);
	push(&program, program.at.bp);
	from.bp = (uintptr_t)program.sp;
	from.sp = from.bp - 64;
	program.at = from;
	CHECK_EQ(mprotect(second, HI_PAGE_BYTES, PROT_NONE), 0);
	check_walk(&program);
}

/* The same address, but not after a call: another rule. */
UNIT_TEST(an_interrupted_frame_is_not_on_the_trail)
{
	struct program program = program_open();
	const struct arch_signal_frame place = arch_signal_frame();

	program_start(&program, 400);
	CALLS(&program, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN);
	program.at.pc = TEXT + 0x100 * WIDE; /* the call was the last thing in PLAIN */
	learn(&program);
	CHECK(is_all_on_trail(&program));
	program.scene.stack[100 + place.pc / 8] = program.at.pc;
	program.scene.stack[100 + place.sp / 8] = program.at.sp;
	program.scene.stack[100 + place.bp / 8] = program.at.bp;
	program.at = (struct registers){.pc = PC(HANDLED, 0), .sp = at(&program.scene, 100)};
	check_walk(&program);
}

static uint64_t random_below(uint64_t bound)
{
	static uint64_t random = 88172645463325252u;

	random ^= random << 13;
	random ^= random >> 7;
	random ^= random << 17;
	return (random >> 16) % bound;
}

/* What might stand in a word of a stack. */
static uint64_t random_word(const struct program *program)
{
	switch (random_below(4)) {
	case 0:
		return PC(random_below(FUNCTIONS), random_below(4));
	case 1:
		return at(&program->scene, (unsigned)random_below(STACK_WORDS));
	case 2:
		return random_below(2) * 0x123456789;
	default:
		return program->sp[random_below(8)];
	}
}

/* Stacks that grow and shrink as those of a program, with a word changed in every other of them. */
UNIT_TEST(random_stacks_are_found_the_same)
{
	enum { STEPS = 40000, DEPTH = 200 };
	static struct program at_depth[DEPTH];
	unsigned depth = 0, ends[HI_STACK_ENDS] = {0}, on_trail = 0;

	at_depth[0] = program_open();
	program_start(&at_depth[0], STACK_WORDS - 8);
	for (unsigned step = 0; step < STEPS; step++) {
		struct program *program;

		for (depth -= (unsigned)random_below(random_below(8) ? 4 < depth ? 4 : depth + 1 : depth + 1); depth + 1 < DEPTH && random_below(5); depth++) {
			if (at_depth[depth].sp < at_depth[0].scene.stack + 40)
				break;
			at_depth[depth + 1] = at_depth[depth];
			call(&at_depth[depth + 1], random_below(20) ? PLAIN + random_below(BY_BP) : MEMORY + random_below(2), (unsigned)random_below(4));
		}
		program = &at_depth[depth];
		program->scene.arena.control->directory[0].generation += random_below(500) ? 0 : 2;
		if (!random_below(8))
			scene_scratch.trail.walks = 16;
		ends[check_walk(program)]++;
		on_trail += is_on_trail(program);
		if (depth && random_below(2)) {
			uint64_t *word = program->sp + random_below((uint64_t)(at_depth[0].sp - program->sp)), before = *word;

			*word = random_word(program);
			ends[check_walk(program)]++;
			*word = before;
		}
	}
	printf("# on the trail %u of %u; ends:", on_trail, STEPS);
	for (unsigned i = 0; i < HI_STACK_ENDS; i++)
		printf(" %u", ends[i]);
	printf("\n");
	CHECK(on_trail > STEPS / 8 && on_trail < STEPS);
	CHECK(ends[HI_END_COMPLETE] > STEPS / 2 && ends[HI_END_BAD_FRAME] && ends[HI_END_DEPTH]);
}

UNIT_MAIN()
