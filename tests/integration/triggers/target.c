/* SPDX-License-Identifier: MIT */
/*
 * Allocates, frees and touches memory as it is told: "alloc N" allocates N blocks of 64K, "free N"
 * frees the N latest, "pass N" allocates N blocks and frees each at once.
 */
#include "../target.h"

#define BLOCK 65536
#define BLOCKS 4096

static void *block[BLOCKS];
static int count;

__attribute__((noinline)) static void *keep(void)
{
	void *one = malloc(BLOCK);

	if (one)
		memset(one, 1, BLOCK);
	return one;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	int number;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "alloc %d", &number) == 1) {
			while (number-- > 0 && count < BLOCKS)
				block[count++] = keep();
		} else if (sscanf(command, "free %d", &number) == 1) {
			while (number-- > 0 && count > 0)
				free(block[--count]);
		} else if (sscanf(command, "pass %d", &number) == 1) {
			while (number-- > 0)
				free(keep());
		}
		target_say("%d blocks\n", count);
	}
	return 0;
}
