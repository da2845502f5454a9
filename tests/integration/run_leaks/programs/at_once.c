// SPDX-License-Identifier: MIT
// _exit() leaves without exit handlers.
// want: direct lose 81 1
// lsan: it reports from an exit handler, and _exit() calls none
#include "leaky.h"

static APART void lose(void)
{
	used(malloc(81));
}

int main(void)
{
	lose();
	wipe();
	_exit(0);
}
