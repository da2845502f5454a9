/* SPDX-License-Identifier: MIT */
/*
 * Contexts of talloc, three deep: fill, move, free. Each answer is what talloc itself says of the
 * outermost one: bytes and blocks.
 */
#include <talloc.h>

#include "../target.h"

#define CHILDREN 300

static TALLOC_CTX *root;
static char *child[CHILDREN];

static void fill(void)
{
	for (unsigned i = 0; i < CHILDREN; i++) {
		child[i] = talloc_size(root, 100 + i);
		(void)!talloc_zero_size(child[i], 10 * i + 1);
		int *numbers = talloc_array(child[i], int, i + 1);
		(void)!talloc_memdup(numbers, "0123456789", 10);
	}
}

/* The blocks are moved with what depends on them. */
static void move(void)
{
	for (unsigned i = 0; i < CHILDREN; i += 3)
		child[i] = talloc_realloc_size(root, child[i], 5000 + i);
	for (unsigned i = 1; i < CHILDREN; i += 3)
		child[i] = talloc_realloc(root, child[i], char, 7);
}

static void free_some(void)
{
	for (unsigned i = 0; i < CHILDREN; i += 2)
		talloc_free(child[i]);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	talloc_disable_null_tracking();
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "root"))
			root = talloc_new(NULL);
		else if (!strcmp(command, "fill"))
			fill();
		else if (!strcmp(command, "move"))
			move();
		else if (!strcmp(command, "free"))
			free_some();
		else if (!strcmp(command, "end")) {
			talloc_free(root);
			root = NULL;
		}
		target_say("%zu %zu\n", root ? talloc_total_size(root) : 0,
			   root ? talloc_total_blocks(root) : 0);
	}
	return 0;
}
