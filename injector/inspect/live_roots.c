/* SPDX-License-Identifier: MIT */
/* live_roots.c - see live_roots.h. */
#include "live_roots.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

#define RED_ZONE_BYTES 128u
#define MAIN_STACK "[stack"

struct stack_pointers {
	struct stack_pointer *thread;
	size_t count;
};

static bool has_guard(const struct maps *maps, const struct mapping *mapping)
{
	const struct mapping *guard = mapping > maps->mapping ? mapping - 1 : NULL;

	return guard && guard->hi == mapping->lo && !guard->readable && !guard->inode;
}

static bool is_main_stack(const struct mapping *mapping)
{
	return !strncmp(mapping->path, MAIN_STACK, sizeof(MAIN_STACK) - 1);
}

/* A mapping without a guard may have more than a stack, also below it. */
static bool can_be_stack(const struct maps *maps, const struct mapping *mapping)
{
	return !mapping->inode && (is_main_stack(mapping) || has_guard(maps, mapping));
}

/* The mapping as a root, from the lowest stack pointer on of a thread that waits and has it. */
static struct live_root root_of(const struct maps *maps, const struct mapping *mapping,
				const struct stack_pointers *pointers, pid_t pid)
{
	const struct stack_pointer *lowest = NULL;
	struct live_root root = {
		.lo = mapping->lo,
		.hi = mapping->hi,
		.mapping = mapping,
		.is_stack = can_be_stack(maps, mapping),
	};

	for (size_t i = 0; i < pointers->count && root.is_stack; i++) {
		const struct stack_pointer *thread = &pointers->thread[i];

		if (thread->sp >= mapping->lo && thread->sp < mapping->hi &&
		    (!lowest || thread->sp < lowest->sp))
			lowest = thread;
	}
	if (lowest)
		root.tid = lowest->tid;
	else if (root.is_stack && is_main_stack(mapping))
		root.tid = pid;
	if (lowest && lowest->sp - mapping->lo >= RED_ZONE_BYTES)
		root.lo = (lowest->sp - RED_ZONE_BYTES) & ~(MARK_WORD_BYTES - 1ull);
	return root;
}

/* Memory of devices is not read: to read it may do something. */
static bool may_have_pointers(const struct mapping *mapping)
{
	const bool is_data = mapping->readable && !mapping->executable &&
			     (mapping->writable || !mapping->shared);

	return is_data &&
	       (strncmp(mapping->path, "/dev/", 5) || !strncmp(mapping->path, "/dev/shm/", 9) ||
		!strcmp(mapping->path, "/dev/zero"));
}

/* What of the root no allocator has. */
static int visit_rest(const struct used_blocks *blocks, struct live_root root,
		      live_root_visit *visit, void *context)
{
	const remote_addr hi = root.hi;
	size_t low = 0, high = blocks->range_count;
	int err = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (blocks->range[middle].hi <= root.lo)
			low = middle + 1;
		else
			high = middle;
	}
	for (; root.lo < hi && !err; low++) {
		const struct used_range *range =
			low < blocks->range_count && blocks->range[low].lo < hi
				? &blocks->range[low]
				: NULL;

		root.hi = range ? range->lo : hi;
		if (root.hi > root.lo)
			err = visit(context, &root);
		root.lo = range ? range->hi : hi;
	}
	return err;
}

int live_roots_visit(const struct memory *memory, const struct maps *maps,
		     const struct used_blocks *blocks, live_root_visit *visit, void *context)
{
	struct stack_pointers pointers = {0};
	struct used_range arena;
	int err = proc_stack_pointers(memory, &pointers.thread, &pointers.count);

	/* a session knows the blocks that it has sampled, and does not use them */
	arena_range(maps, memory, &arena.lo, &arena.hi);
	for (size_t i = 0; i < maps->count && !err; i++)
		if (may_have_pointers(&maps->mapping[i]) &&
		    !arena_has_mapping(&maps->mapping[i], arena.lo, arena.hi))
			err = visit_rest(blocks,
					 root_of(maps, &maps->mapping[i], &pointers, memory->pid),
					 visit, context);
	free(pointers.thread);
	return err;
}
