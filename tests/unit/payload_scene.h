/* SPDX-License-Identifier: MIT */
/*
 * payload_scene.h - hand-made stacks for the walker. The stack is an array, the program is
 * imaginary: a module at TEXT whose rows are those of the test.
 */
#ifndef PAYLOAD_SCENE_H
#define PAYLOAD_SCENE_H

#include "payload_arena.h"
#include "stack_table.h"

#define TEXT 0x10000ull
#define TEXT_BYTES 0x1000ull
#define THREAD 0x7ull /* a thread pointer that lies in no region */

/*
 * Where a function saves its caller's frame pointer that may leave it alone: with a link register
 * none does.
 */
#define SAVED_BP (HI_ARCH_LINK_REGISTER ? -2 : 0)

struct scene {
	struct arena arena;
	uint64_t *stack; /* one page, the only region */
	uint64_t frame[HI_FRAMES_MAX], stopped_at;
	uint32_t count, id;
	bool was_known; /* the walk was like one before */
};

/* What the walks leave behind for the next one. */
static struct hi_scratch scene_scratch;

/* Two pages, with one below them for the frame of the hook. */
static inline uint64_t *stack_map(void)
{
	return (uint64_t *)arena_map((size_t)3 * HI_PAGE_BYTES, MAP_PRIVATE) + HI_PAGE_BYTES / 8;
}

static inline struct scene scene_open(void)
{
	struct scene scene = {.arena = arena_open(1, 4, 4096)};
	struct hi_regions *regions = &scene.arena.control->regions[0];

	scene.stack = stack_map();
	regions->count = 1;
	regions->range[0].lo = (uintptr_t)scene.stack;
	regions->range[0].hi = (uintptr_t)scene.stack + HI_PAGE_BYTES;
	/* so that guesses may lead anywhere in it */
	scene.arena.control->main_stack = regions->range[0].hi;
	return scene;
}

/* Publishes the rows as the table of one module at TEXT. */
static inline void scene_rows(struct scene *scene, const struct hi_unwind_row *row, uint32_t count)
{
	struct hi_unwind_directory *directory = &scene->arena.control->directory[0];
	uint32_t *index = (uint32_t *)(void *)(scene->arena.tables + 4096);
	uint32_t index_count = TEXT_BYTES / HI_INDEX_BYTES + 2;

	memcpy(scene->arena.tables + 64, row, count * sizeof(*row));
	for (uint32_t i = 0; i < index_count; i++)
		while (index[i] + 1 < count && row[index[i] + 1].pc <= i * HI_INDEX_BYTES)
			index[i]++;
	directory->module[0] = (struct hi_unwind_module){.lo = TEXT,
							 .hi = TEXT + TEXT_BYTES,
							 .rows = 64,
							 .row_count = count,
							 .index = 4096,
							 .index_count = index_count};
	directory->count = 1;
	directory->generation += 2;
}
#define ROWS(scene, ...)                                                    \
	do {                                                                \
		const struct hi_unwind_row rows_[] = {__VA_ARGS__};         \
		scene_rows(scene, rows_, sizeof(rows_) / sizeof(rows_[0])); \
	} while (0)

static inline uint64_t at(const struct scene *scene, unsigned word)
{
	return (uintptr_t)(scene->stack + word);
}

/*
 * As if a hook had been called by pc with its stack pointer at sp. By rules, and, if such a walk
 * was made before, along that.
 */
static inline enum hi_stack_end walk_from(struct scene *scene, struct registers from,
					  uint64_t thread)
{
	struct hook_call *call = (struct hook_call *)from.sp - 1;
	struct stack_end end;
	uint32_t known, id;
	bool is_new;

	call->return_address = from.pc;
	call->bp = from.bp;
	known = stack_trie_find(scene->arena.state, thread, call, &scene_scratch);
	end = stack_walk(scene->arena.state, thread, call, &scene_scratch);
	id = stack_table_id(scene->arena.state, scene_scratch.frame, end, &is_new);
	CHECK(!known || (known == id && !is_new && end.reason == HI_END_COMPLETE));
	if (end.is_plain)
		stack_trie_add(scene->arena.state, scene_scratch.frame, end.count, id);
	scene->id = id;
	scene->was_known = known;
	memcpy(scene->frame, scene_scratch.frame, sizeof(scene_scratch.frame));
	scene->count = end.count;
	scene->stopped_at = scene_scratch.unknown_sp;
	return end.reason;
}

static inline enum hi_stack_end walk(struct scene *scene, uint64_t pc, unsigned sp_word,
				     uint64_t bp)
{
	return walk_from(scene, (struct registers){.pc = pc, .sp = at(scene, sp_word), .bp = bp},
			 THREAD);
}

#endif
