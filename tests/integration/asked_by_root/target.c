/* SPDX-License-Identifier: MIT */
/* Command: work = 2 MB that stay. */
#include "../target.h"

__attribute__((noinline)) static void hoard(void)
{
	for (int i = 0; i < 200; i++) {
		char *volatile block = malloc(10000);

		block[0] = 1;
	}
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		hoard();
		target_say("done\n");
	}
	return 0;
}
