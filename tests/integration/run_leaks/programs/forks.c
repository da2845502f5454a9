// SPDX-License-Identifier: MIT
// Its child loses a block of its own, and one that it has inherited; of both, and by vfork.
// want: direct lose 60 1
#include <sys/wait.h>

#include "leaky.h"

static void *inherited;

static APART void keep(void)
{
	inherited = used(malloc(61));
}

static APART void lose(void)
{
	used(malloc(60));
}

static APART void lose_in_child(void)
{
	used(malloc(62));
	inherited = NULL;
	wipe();
	_exit(0);
}

int main(void)
{
	keep();
	used(&inherited);
	for (int i = 0; i < 3; i++) {
		const pid_t child = i ? fork() : vfork();

		if (child == 0 && i)
			lose_in_child();
		else if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	if (system("exit 0"))
		return 1;
	lose();
	wipe();
	return 0;
}
