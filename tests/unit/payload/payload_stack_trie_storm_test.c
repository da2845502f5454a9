/* SPDX-License-Identifier: MIT */
/*
 * payload_stack_trie_storm_test.c - so it is with thousands of stacks that differ by chance, and
 * with threads that see them at the same time.
 */
#include <pthread.h>

#include "payload_program.h"

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
	unsigned depth = 0, ends[HI_STACK_ENDS] = {0}, known = 0;

	at_depth[0] = program_open();
	program_start(&at_depth[0], STACK_WORDS - 8);
	for (unsigned step = 0; step < STEPS; step++) {
		struct program *program;
		struct hi_stacks *stacks = at_depth[0].scene.arena.stacks;

		for (depth -= (unsigned)random_below(random_below(8) ? 4 < depth ? 4 : depth + 1
								     : depth + 1);
		     depth + 1 < DEPTH && random_below(5); depth++) {
			if (at_depth[depth].sp < at_depth[0].scene.stack + 40)
				break;
			at_depth[depth + 1] = at_depth[depth];
			/* rows of the latter kinds are for CPUs without a link register */
			call(&at_depth[depth + 1],
			     random_below(20) || HI_ARCH_LINK_REGISTER ? PLAIN + random_below(BY_BP)
								       : MEMORY + random_below(2),
			     (unsigned)random_below(2));
		}
		program = &at_depth[depth];
		if (stacks->used > ARENA_STACKS_BYTES / 2) { /* begin anew */
			stacks->used = sizeof(*stacks);
			memset((void *)program->scene.arena.state->known_stacks, 0,
			       sizeof(uint64_t) << ARENA_KNOWN_BITS);
			program->scene.arena.control->directory[0].generation += 2;
			program->scene.arena.state->walk_nodes_used = 0;
			memset((void *)program->scene.arena.state->walk_nodes, 0,
			       sizeof(struct hi_walk_node) << ARENA_WALK_BITS);
			memset((void *)program->scene.arena.state->walk_edges, 0,
			       sizeof(uint32_t) << ARENA_WALK_BITS);
		}
		for (unsigned i = 0; i < 3; i++) {
			ends[see(program)]++;
			known += program->was_known;
		}
		if (depth && random_below(2)) {
			uint64_t *word = program->sp +
					 random_below((uint64_t)(at_depth[0].sp - program->sp)),
				 before = *word;

			*word = random_word(program);
			ends[see(program)]++;
			known += program->was_known;
			*word = before;
		}
	}
	printf("# known %u of some %u; ends:", known, STEPS * 7 / 2);
	for (unsigned i = 0; i < HI_STACK_ENDS; i++)
		printf(" %u", ends[i]);
	printf("\n");
	CHECK(known > STEPS / 4 && known < 3 * STEPS);
	CHECK(ends[HI_END_COMPLETE] > STEPS / 2 && ends[HI_END_BAD_FRAME] && ends[HI_END_DEPTH]);
}

/* ---- several at a time ----------------------------------------------------------------------- */

enum { THREADS = 4, PATHS = 64, ROUNDS = 300, WORDS_EACH = 200 };

struct learner {
	struct program program;
	unsigned number;
	unsigned known;
};

/* As see(), but without the ring, which has one reader. */
static void learn_alone(struct learner *learner)
{
	struct program *program = &learner->program;
	struct hi_state *state = program->scene.arena.state;
	struct hook_call *call = hook_of(program);
	struct stack_end stack = stack_capture(state, THREAD, call, scratch_of(program));
	bool is_new;

	learner->known += stack.id != 0;
	program->id = stack.id ? stack.id
			       : stack_table_id(state, scratch_of(program)->frame, stack, &is_new);
	if (!stack.id && !is_new && stack.is_plain)
		stack_trie_add(state, scratch_of(program)->frame, stack.count, program->id);
	check_recorded(program, call, THREAD);
}

static void *learn_all(void *argument)
{
	struct learner *learner = argument;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < PATHS; i++) {
			const unsigned path = (i * (2 * learner->number + 1) + round) % PATHS;

			program_start(&learner->program, WORDS_EACH * (learner->number + 1));
			for (unsigned bit = 0; bit < 6; bit++)
				call(&learner->program, path >> bit & 1 ? PLAIN : BY_BP,
				     path * bit % 5);
			learn_alone(learner);
		}
	return NULL;
}

UNIT_TEST(threads_learn_the_same_tree)
{
	static struct learner learner[THREADS];
	pthread_t thread[THREADS];
	struct program program = program_open();
	struct hi_state *state = program.scene.arena.state;

	for (unsigned repeat = 0; repeat < 20; repeat++) {
		program.scene.arena.control->directory[0].generation += 2; /* all is forgotten */
		for (unsigned i = 0; i < THREADS; i++) {
			learner[i] = (struct learner){.program = program, .number = i};
			learner[i].program.slot = program.scene.arena.slots + i;
			learner[i].program.slot->scratch = (uint32_t)i + 1;
			CHECK_EQ(pthread_create(&thread[i], NULL, learn_all, &learner[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(thread[i], NULL);
			CHECK(learner[i].known > (ROUNDS - 8) * PATHS);
		}
		CHECK(state->walk_nodes_used > PATHS &&
		      state->walk_nodes_used < (repeat + 1) * THREADS * PATHS * 7);
	}
}

UNIT_MAIN()
