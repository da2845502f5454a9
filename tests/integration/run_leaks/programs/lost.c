// SPDX-License-Identifier: MIT
// The pointer is lost at once.
// want: direct lose 300 3, direct lose_another 77 1
#include "leaky.h"

static APART void lose(void)
{
	used(malloc(100));
}

static APART void lose_another(void)
{
	used(calloc(7, 11));
}

static APART void free_it(void)
{
	free(used(malloc(1000)));
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		lose();
	lose_another();
	free_it();
	wipe();
	return 0;
}
