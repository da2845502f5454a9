/* SPDX-License-Identifier: MIT */
/* calltree_paths.c - see calltree_paths.h. */
#include "calltree_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_call(uint32_t parent, uint32_t function)
{
	return hash_number((uint64_t)parent << 32 | function);
}

static int index_nodes(struct calltree_paths *paths)
{
	const struct calltree *tree = paths->tree;

	for (uint32_t i = 1; i < tree->count; i++) {
		if (table_add(&paths->by_call,
			      hash_call(tree->node[i].parent, tree->node[i].function), i))
			return -ENOMEM;
	}
	return 0;
}

static int index_names(struct calltree_paths *paths)
{
	const struct functions *functions = &paths->tree->functions;

	for (uint32_t i = 0; i < functions->count; i++) {
		const char *name = functions->name[i];

		if (table_add(&paths->by_name, hash_bytes(name, strlen(name)), i))
			return -ENOMEM;
	}
	return 0;
}

static uint32_t function_named(const struct calltree_paths *paths, const char *name)
{
	struct table_cursor cursor = table_seek(&paths->by_name, hash_bytes(name, strlen(name)));
	uint32_t index;

	while (table_next(&paths->by_name, &cursor, &index)) {
		if (strcmp(paths->tree->functions.name[index], name) == 0)
			return index;
	}
	return CALLTREE_ROOT;
}

uint32_t calltree_paths_child(const struct calltree_paths *paths, uint32_t parent,
			      uint32_t function)
{
	const struct calltree_node *node = paths->tree->node;
	struct table_cursor cursor = table_seek(&paths->by_call, hash_call(parent, function));
	uint32_t index;

	while (table_next(&paths->by_call, &cursor, &index)) {
		if (node[index].parent == parent && node[index].function == function)
			return index;
	}
	return 0;
}

uint32_t calltree_paths_other(const struct calltree_paths *paths, uint32_t parent)
{
	const uint32_t other = calltree_paths_child(paths, parent, CALLTREE_OTHER);

	return other ? other : parent;
}

int calltree_paths_open(const struct calltree *tree, struct calltree_paths *out_paths)
{
	*out_paths = (struct calltree_paths){.tree = tree};
	return index_nodes(out_paths) || index_names(out_paths) ? -ENOMEM : 0;
}

void calltree_paths_close(struct calltree_paths *paths)
{
	table_close(&paths->by_call);
	table_close(&paths->by_name);
	free(paths->function_of);
	*paths = (struct calltree_paths){0};
}

int calltree_paths_use(struct calltree_paths *paths, const struct functions *functions)
{
	uint32_t *function_of = malloc((functions->count + 1) * sizeof(*function_of));

	if (!function_of)
		return -ENOMEM;
	for (size_t i = 0; i < functions->count; i++)
		function_of[i] = function_named(paths, functions->name[i]);
	free(paths->function_of);
	paths->function_of = function_of;
	paths->others = functions;
	return 0;
}

uint32_t calltree_paths_leaf(const struct calltree_paths *paths, const struct profile_stack *stack)
{
	size_t count;
	const uint32_t *call = functions_unfold(paths->others, stack, &count);
	uint32_t at = 0;

	for (size_t i = count; i-- > 0;) {
		const struct function_call *next = &paths->others->call[call[i]];
		const uint32_t function = paths->function_of[next->function],
			       child = function == CALLTREE_ROOT
					       ? 0
					       : calltree_paths_child(paths, at, function);

		if (!child)
			return calltree_paths_other(paths, at);
		at = child;
	}
	return at;
}
