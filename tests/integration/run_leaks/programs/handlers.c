// SPDX-License-Identifier: MIT
// Exit handlers and destructors free, and lose, what they can.
// want: direct at_exit 210 1, direct at_the_end 220 1
#include "leaky.h"

static void *to_free, *to_free_later;

static APART void make(void)
{
	to_free = malloc(200);
	to_free_later = malloc(205);
}

static void at_exit(void)
{
	free(to_free);
	to_free = NULL;
	used(malloc(210));
	wipe();
}

static __attribute__((destructor)) void at_the_end(void)
{
	free(to_free_later);
	to_free_later = NULL;
	used(malloc(220));
	wipe();
}

int main(void)
{
	atexit(at_exit);
	make();
	wipe();
	return 0;
}
