/* SPDX-License-Identifier: MIT */
/*
 * payload_stack_table_test.c - stacks recorded once: by one thread and by several, until there is
 * no room, and not in a child.
 */
#include <pthread.h>
#include <stdlib.h>

#include "payload_arena.h"
#include "stack_table.h"

enum { FRAMES = 20, THREADS = 4, STACKS = 200 };

static void make(uint64_t frame[FRAMES], uint64_t seed)
{
	for (uint64_t i = 0; i < FRAMES; i++)
		/* different below, alike above */
		frame[i] = 0x400000 + (i < FRAMES / 2 ? seed * 64 + i : i * 64);
}

static uint32_t id_of_new(const struct hi_state *state, const uint64_t *frame, uint32_t count,
			  uint16_t reason, bool *out_is_new)
{
	struct stack_end end = {.count = (uint16_t)count, .reason = (uint8_t)reason};

	for (uint32_t i = 0; i < count; i++)
		end.hash = frames_hash(end.hash, frame[i]);
	return stack_table_id(state, frame, end, out_is_new);
}

static uint32_t id_of(const struct hi_state *state, const uint64_t *frame, uint32_t count,
		      uint16_t reason)
{
	bool is_new;

	return id_of_new(state, frame, count, reason, &is_new);
}

static const struct hi_stack *recorded(const struct arena *arena, uint32_t id)
{
	return (const void *)((const uint8_t *)arena->stacks + 8ull * id);
}

static void check_recorded(const struct arena *arena, uint32_t id, const uint64_t *frame,
			   uint32_t count, uint16_t end)
{
	CHECK(id && 8ull * id >= sizeof(struct hi_stacks));
	CHECK_EQ(recorded(arena, id)->frame_count, count);
	CHECK_EQ(recorded(arena, id)->stack_end, end);
	CHECK(memcmp(recorded(arena, id)->frame, frame, count * sizeof(*frame)) == 0);
}

UNIT_TEST(a_stack_is_told_once)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], used;
	uint32_t id[STACKS];
	bool is_new;

	for (uint32_t i = 0; i < STACKS; i++) {
		make(frame, i);
		id[i] = id_of_new(arena.state, frame, FRAMES, HI_END_COMPLETE, &is_new);
		CHECK(is_new);
		check_recorded(&arena, id[i], frame, FRAMES, HI_END_COMPLETE);
	}
	used = arena.stacks->used;
	CHECK_EQ(used, sizeof(struct hi_stacks) + STACKS * (sizeof(struct hi_stack) + FRAMES * 8));
	for (uint32_t i = 0; i < STACKS; i++) {
		make(frame, i);
		CHECK_EQ(id_of_new(arena.state, frame, FRAMES, HI_END_COMPLETE, &is_new), id[i]);
		CHECK(!is_new);
	}
	CHECK_EQ(arena.stacks->used, used);
}

/* Every word counts, and so do the length and the end. */
UNIT_TEST(stacks_that_differ_in_anything_are_different)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES];
	uint32_t id[FRAMES + 3], count = 0;

	make(frame, 0);
	id[count++] = id_of(arena.state, frame, FRAMES, HI_END_COMPLETE);
	id[count++] = id_of(arena.state, frame, FRAMES, HI_END_DEPTH);
	id[count++] = id_of(arena.state, frame, FRAMES - 1, HI_END_COMPLETE);
	for (uint32_t i = 0; i < FRAMES; i++) {
		frame[i]++;
		id[count++] = id_of(arena.state, frame, FRAMES, HI_END_COMPLETE);
		frame[i]--;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j <= i; j++)
			CHECK_EQ(id[i] == id[j], i == j);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Known ones are told apart by their hash alone: paths through few functions, near to each other,
 * in every order. Most bits of it have to do; here 48 are looked at.
 */
UNIT_TEST(paths_through_the_same_functions_differ_in_their_hash)
{
	enum { DEPTH = 20, WAYS = 1 << DEPTH };
	uint64_t *hash = calloc(WAYS, sizeof(*hash));
	unsigned same = 0;

	CHECK(hash != NULL);
	for (uint64_t way = 0; way < WAYS; way++) {
		for (unsigned i = 0; i < DEPTH; i++)
			hash[way] =
				frames_hash(hash[way], 0x7f1234567000 + (way >> i & 1 ? 16 : 0));
		hash[way] &= (1ull << 48) - 1;
	}
	qsort(hash, WAYS, sizeof(*hash), compare);
	for (unsigned i = 1; i < WAYS; i++)
		same += hash[i] == hash[i - 1];
	CHECK(same < 10); /* by chance: 2^20 * 2^20 / 2 / 2^48 = 0.002 */
	free(hash);
}

/* What is found under a hash is the stack of that hash. */
UNIT_TEST(ids_come_from_the_table)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], *known = (uint64_t *)arena.state->known_stacks;
	unsigned found = 0;

	make(frame, 1);
	CHECK(id_of(arena.state, frame, FRAMES, HI_END_COMPLETE));
	for (uint32_t i = 0; i < 1u << ARENA_KNOWN_BITS; i++) {
		found += known[i] != 0;
		known[i] = known[i] ? known[i] - 1 : 0;
	}
	CHECK_EQ(found, 1);
	CHECK_EQ(id_of(arena.state, frame, FRAMES, HI_END_COMPLETE),
		 sizeof(struct hi_stacks) / HI_STACK_UNIT - 1);
}

UNIT_TEST(without_room_nothing_is_known)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES];
	uint32_t id, count = 0;

	arena.stacks->limit = 4096;
	for (uint64_t i = 0;
	     (make(frame, i), id = id_of(arena.state, frame, FRAMES, HI_END_COMPLETE)); i++)
		count++;
	CHECK_EQ(count, (4096 - sizeof(struct hi_stacks)) / (sizeof(struct hi_stack) + FRAMES * 8));
	CHECK(arena.stacks->used <= 4096);
	make(frame, 0);
	CHECK(id_of(arena.state, frame, FRAMES, HI_END_COMPLETE)); /* what is known stays known */
	/* a lie: the payload goes by its own size */
	arena.stacks->limit = UINT64_MAX;
	arena.stacks->used = ARENA_STACKS_BYTES - 64;
	make(frame, 1000);
	CHECK_EQ(id_of(arena.state, frame, FRAMES, HI_END_COMPLETE), 0);
	arena.stacks->used = 0;
	CHECK_EQ(id_of(arena.state, frame, FRAMES, HI_END_COMPLETE), 0);
}

/* Where no place is free, no room is taken for what could not be found again. */
UNIT_TEST(a_full_table_takes_no_more)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], *known = (uint64_t *)arena.state->known_stacks;
	uint32_t first, second;

	memset(known, 0xff, sizeof(*known) << ARENA_KNOWN_BITS);
	make(frame, 3);
	first = id_of(arena.state, frame, FRAMES, HI_END_COMPLETE);
	second = id_of(arena.state, frame, FRAMES, HI_END_COMPLETE);
	CHECK_EQ(first, 0);
	CHECK_EQ(second, 0);
	CHECK_EQ(arena.stacks->used, sizeof(struct hi_stacks));
}

/* Where the first places are others', the rest of the table is used, and found again. */
UNIT_TEST(behind_a_full_front_there_is_room)
{
	enum { FRONT = 1 << 12 };
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], *known = (uint64_t *)arena.state->known_stacks;
	uint32_t id[STACKS], behind = 0, again = 0;

	memset(known, 0xff, sizeof(*known) * FRONT);
	for (uint32_t i = 0; i < STACKS; i++) {
		make(frame, i);
		id[i] = id_of(arena.state, frame, FRAMES, HI_END_COMPLETE);
	}
	for (uint32_t i = FRONT; i < 1u << ARENA_KNOWN_BITS; i++)
		behind += known[i] != 0;
	CHECK(behind > STACKS / 4 && behind < STACKS);
	for (uint32_t i = 0; i < STACKS; i++) {
		make(frame, i);
		again += id[i] && id_of(arena.state, frame, FRAMES, HI_END_COMPLETE) == id[i];
	}
	CHECK_EQ(again, behind);
}

UNIT_TEST(a_child_tells_nothing)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], used = arena.stacks->used;
	int status;
	pid_t child;

	make(frame, 1);
	child = fork();
	if (!child)
		_exit(id_of(arena.state, frame, FRAMES, HI_END_COMPLETE) ? 1 : 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(arena.stacks->used, used);
}

static void *record_all(void *argument)
{
	const struct arena *arena = argument;
	uint64_t frame[FRAMES];

	for (uint64_t round = 0; round < 20; round++)
		for (uint64_t i = 0; i < STACKS; i++) {
			make(frame, i);
			check_recorded(arena, id_of(arena->state, frame, FRAMES, HI_END_COMPLETE),
				       frame, FRAMES, HI_END_COMPLETE);
		}
	return NULL;
}

UNIT_TEST(threads_agree)
{
	struct arena arena = arena_open(1, 4, 4096);
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, record_all, &arena), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

UNIT_MAIN()
