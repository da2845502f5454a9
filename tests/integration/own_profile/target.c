/* SPDX-License-Identifier: MIT */
/*
 * Under an allocator with a heap profiler of its own, which takes the stack of what is allocated.
 * At each line on stdin it allocates, has the allocator write its profile to the path in that line,
 * and says of how many objects in it the stack leads to main, and of how many it does not.
 */
#include "../target.h"

#include <stdint.h>
#include <unwind.h>

#define BLOCKS 512
#define BLOCK_BYTES 3000
#define LINE_MAX_BYTES 8192

int mallctl(const char *name, void *old_value, size_t *old_size, void *new_value, size_t new_size)
	__attribute__((weak));
char *GetHeapProfile(void) __attribute__((weak));

int main(void);
static void *kept[BLOCKS];

__attribute__((noinline)) static void keep(int depth)
{
	for (int i = 0; depth == 0 && i < BLOCKS; i++)
		kept[i] = malloc(BLOCK_BYTES);
	if (depth)
		keep(depth - 1);
	__asm__ volatile(""); /* no call is the last instruction */
}

static void let_go(void)
{
	for (int i = 0; i < BLOCKS; i++)
		free(kept[i]);
}

static void write_profile(const char *path)
{
	if (mallctl) {
		(void)!mallctl("prof.dump", NULL, NULL, &path, sizeof(path));
	} else if (GetHeapProfile) {
		FILE *file = fopen(path, "w");
		char *text = GetHeapProfile();

		if (file && text)
			fputs(text, file);
		if (file)
			fclose(file);
		free(text);
	}
}

/* "... @ 0x1 0x2": return addresses, leaf first. */
static int leads_to_main(const char *stack)
{
	uintptr_t pc;
	int used;

	while (sscanf(stack, " %lx%n", &pc, &used) == 1) {
		if (_Unwind_FindEnclosingFunction((void *)(pc - 1)) == (void *)main)
			return 1;
		stack += used;
	}
	return 0;
}

/*
 * gperftools has a stack behind its counts, jemalloc has them in the lines that follow, the sum of
 * all threads first.
 */
static void read_profile(const char *path, long out_objects[2])
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen(path, "r");
	int leads = -1;
	long objects;

	if (!file || !fgets(line, sizeof(line), file))
		return;
	while (fgets(line, sizeof(line), file) && strncmp(line, "MAPPED_LIBRARIES", 16) != 0) {
		const char *stack = strchr(line, '@');

		if (line[0] == '@') {
			leads = leads_to_main(stack + 1);
		} else if (stack && sscanf(line, "%ld", &objects) == 1) {
			out_objects[leads_to_main(stack + 1)] += objects;
		} else if (leads >= 0 && sscanf(line, " t*: %ld", &objects) == 1) {
			out_objects[leads] += objects;
			leads = -1;
		}
	}
	fclose(file);
}

int main(void)
{
	char path[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(path)) {
		long objects[2] = {0, 0};

		keep(3);
		write_profile(path);
		read_profile(path, objects);
		let_go();
		target_say("%ld lead to main, %ld do not\n", objects[1], objects[0]);
	}
	return 0;
}
