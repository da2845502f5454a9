// SPDX-License-Identifier: MIT
//
// Allocates on several lines of several functions, one of which is inlined and one of which calls
// itself, until told to stop.
#include "shelf.h"

#include "../target.h"

static struct shelf shelf;

__attribute__((noinline)) void take_lines(size_t size)
{
	void *first = malloc(size); /* mark: first */
	void *second = NULL;

	for (int i = 0; i < 3; i++) {
		second = malloc(2 * size); /* mark: second */
		memset(second, i, 2 * size);
	}
	__asm__ volatile("" : : "r"(first), "r"(second));
}

__attribute__((noinline)) void take_inlined(size_t size)
{
	shelf_add(&shelf, size); /* mark: caller */
	shelf_add(&shelf, size);
}

__attribute__((noinline)) void take_deep(int depth, size_t size)
{
	if (depth > 0)
		take_deep(depth - 1, size);
	void *item = malloc(size);
	__asm__ volatile("" : : "r"(item));
}

__attribute__((noinline)) void take_all(void)
{
	take_lines(1000); /* mark: all */
	take_inlined(3000);
	take_deep(5, 500);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command) && strcmp(command, "end") != 0) {
		for (int i = 0; i < 2000; i++)
			take_all();
		target_say("done\n");
	}
	target_say("ended\n");
}
