/* SPDX-License-Identifier: MIT */
/* Keeps blocks of 64K as it is told: "alloc N". With an argument: so many, and ends. */
#include "../target.h"

#define BLOCK 65536

static __attribute__((noinline)) void *keep(void)
{
	void *one = malloc(BLOCK);

	if (one)
		memset(one, 1, BLOCK);
	return one;
}

int main(int argc, char **argv)
{
	static void *volatile last;
	char command[TARGET_COMMAND_MAX];
	int number;

	/* for `run`: all at once */
	if (argc > 1) {
		for (number = atoi(argv[1]); number > 0; number--)
			last = keep();
		target_say("%s\n", getenv("HEAPINJECT_PUSH_TOKEN") ? "secret" : "nothing");
		return 0;
	}
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "alloc %d", &number) == 1)
			while (number-- > 0)
				last = keep();
		target_say("done\n");
	}
	return last == NULL;
}
