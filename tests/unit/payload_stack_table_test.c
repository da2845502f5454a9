/* SPDX-License-Identifier: MIT */
/* payload_stack_table_test.c - stacks told once: by one thread and by several, until there is no room, and not in a child. */
#include <pthread.h>

#include "payload_arena.h"
#include "stack_table.h"

enum { FRAMES = 20, THREADS = 4, STACKS = 200 };

static void make(uint64_t frame[FRAMES], uint64_t seed)
{
	for (uint64_t i = 0; i < FRAMES; i++)
		frame[i] = 0x400000 + (i < FRAMES / 2 ? seed * 64 + i : i * 64); /* different below, alike above */
}

static const struct hi_stack *told(const struct arena *arena, uint32_t id)
{
	return (const void *)((const uint8_t *)arena->stacks + 8ull * id);
}

static void check_told(const struct arena *arena, uint32_t id, const uint64_t *frame, uint32_t count, uint16_t end)
{
	CHECK(id && 8ull * id >= sizeof(struct hi_stacks));
	CHECK_EQ(told(arena, id)->frame_count, count);
	CHECK_EQ(told(arena, id)->stack_end, end);
	CHECK(memcmp(told(arena, id)->frame, frame, count * sizeof(*frame)) == 0);
}

UNIT_TEST(a_stack_is_told_once)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], used;
	uint32_t id[STACKS];

	for (uint32_t i = 0; i < STACKS; i++) {
		make(frame, i);
		id[i] = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
		check_told(&arena, id[i], frame, FRAMES, HI_END_COMPLETE);
	}
	used = arena.stacks->used;
	CHECK_EQ(used, sizeof(struct hi_stacks) + STACKS * (sizeof(struct hi_stack) + FRAMES * 8));
	for (uint32_t i = 0; i < STACKS; i++) {
		make(frame, i);
		CHECK_EQ(stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE), id[i]);
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
	id[count++] = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
	id[count++] = stack_table_id(arena.state, frame, FRAMES, HI_END_DEPTH);
	id[count++] = stack_table_id(arena.state, frame, FRAMES - 1, HI_END_COMPLETE);
	for (uint32_t i = 0; i < FRAMES; i++) {
		frame[i]++;
		id[count++] = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
		frame[i]--;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j <= i; j++)
			CHECK_EQ(id[i] == id[j], i == j);
}

/* The same place and tag among the known ones is not enough: the frames decide. */
UNIT_TEST(a_hash_that_is_shared_confuses_nothing)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], *known = (uint64_t *)arena.state->known_stacks;
	uint32_t first, second;

	make(frame, 1);
	first = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
	*(uint64_t *)(void *)told(&arena, first)->frame ^= 8; /* as if another stack had the hash of this one */
	second = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
	CHECK(second != first);
	check_told(&arena, second, frame, FRAMES, HI_END_COMPLETE);
	for (uint32_t i = 0; i < 1u << ARENA_KNOWN_BITS; i++)
		known[i] = known[i] ? known[i] | UINT32_MAX : 0; /* ids that lead out of the part */
	CHECK(stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE) > second);
}

UNIT_TEST(without_room_nothing_is_known)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES];
	uint32_t id, count = 0;

	arena.stacks->limit = 4096;
	for (uint64_t i = 0; (make(frame, i), id = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE)); i++)
		count++;
	CHECK_EQ(count, (4096 - sizeof(struct hi_stacks)) / (sizeof(struct hi_stack) + FRAMES * 8));
	CHECK(arena.stacks->used <= 4096);
	make(frame, 0);
	CHECK(stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE)); /* what is known stays known */
	arena.stacks->limit = UINT64_MAX;                                   /* a lie: the payload goes by its own size */
	arena.stacks->used = ARENA_STACKS_BYTES - 64;
	make(frame, 1000);
	CHECK_EQ(stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE), 0);
	arena.stacks->used = 0;
	CHECK_EQ(stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE), 0);
}

/* Where no place is free, no room is taken for what could not be found again. */
UNIT_TEST(a_full_table_takes_no_more)
{
	struct arena arena = arena_open(1, 4, 4096);
	uint64_t frame[FRAMES], *known = (uint64_t *)arena.state->known_stacks;
	uint32_t first, second;

	memset(known, 0xff, sizeof(*known) << ARENA_KNOWN_BITS);
	make(frame, 3);
	first = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
	second = stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE);
	CHECK_EQ(first, 0);
	CHECK_EQ(second, 0);
	CHECK_EQ(arena.stacks->used, sizeof(struct hi_stacks));
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
		_exit(stack_table_id(arena.state, frame, FRAMES, HI_END_COMPLETE) ? 1 : 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(arena.stacks->used, used);
}

static void *tell_all(void *argument)
{
	const struct arena *arena = argument;
	uint64_t frame[FRAMES];

	for (uint64_t round = 0; round < 20; round++)
		for (uint64_t i = 0; i < STACKS; i++) {
			make(frame, i);
			check_told(arena, stack_table_id(arena->state, frame, FRAMES, HI_END_COMPLETE), frame, FRAMES, HI_END_COMPLETE);
		}
	return NULL;
}

UNIT_TEST(threads_agree)
{
	struct arena arena = arena_open(1, 4, 4096);
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, tell_all, &arena), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

UNIT_MAIN()
