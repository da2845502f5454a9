/* SPDX-License-Identifier: MIT */
/*
 * hoarding.h - a target that keeps 20 MB more with every command, all from hoard().
 */
#ifndef HOARDING_H
#define HOARDING_H

#include "target.h"

__attribute__((noinline)) static void hoard(void)
{
	for (int i = 0; i < 2000; i++) {
		char *volatile block = malloc(10000);

		block[0] = 1;
	}
}

static inline int hoard_on_command(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command)) {
		hoard();
		target_say("done\n");
	}
	return 0;
}

#endif
