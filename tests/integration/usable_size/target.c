/* SPDX-License-Identifier: MIT */
/* Allocates a thousand blocks of 100 bytes at the word "go". */
#include "../target.h"

int main(void)
{
	static void *volatile kept[1000];
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		for (size_t i = 0; i < 1000; i++)
			kept[i] = malloc(100);
		target_say("done\n");
	}
	return 0;
}
