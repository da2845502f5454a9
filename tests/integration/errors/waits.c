/* SPDX-License-Identifier: MIT */
/*
 * Waits for a child, after vfork, as nobody can be stopped who does; attach looks at it for a while
 * before it refuses.
 */
#include "../target.h"

int main(void)
{
	target_say("ready\n");
	if (vfork() == 0) {
		sleep(20);
		_exit(0);
	}
	return 0;
}
