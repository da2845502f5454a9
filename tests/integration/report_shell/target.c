// SPDX-License-Identifier: MIT
//
// Allocates in functions whose names the shell completes, until told to stop.
#include "../target.h"

__attribute__((noinline)) void keep_apples(size_t size)
{
	void *item = malloc(size); /* mark: apples */
	__asm__ volatile("" : : "r"(item));
}

__attribute__((noinline)) void keep_pears(size_t size)
{
	void *item = malloc(size);
	__asm__ volatile("" : : "r"(item));
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command) && strcmp(command, "end") != 0) {
		for (int i = 0; i < 100; i++) {
			keep_apples(3000);
			keep_pears(1000);
		}
		target_say("done\n");
	}
	target_say("ended\n");
}
