// SPDX-License-Identifier: MIT
// exit() is called where main and another function still have pointers.
// want: direct lose 64 1
#include "leaky.h"

static APART void *make(size_t bytes)
{
	return used(malloc(bytes));
}

static APART void lose(void)
{
	used(malloc(64));
}

static APART void leave(void)
{
	void *volatile here = make(80);

	wipe();
	exit(here == NULL);
}

int main(void)
{
	void *volatile in_main = make(90);

	lose();
	leave();
	return in_main == NULL;
}
