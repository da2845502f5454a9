// SPDX-License-Identifier: MIT
// Its own failure says more than that it leaks. LeakSanitizer puts its status in the place of any.
// want: direct lose 83 1
// status: 3
#include "leaky.h"

static APART void lose(void)
{
	used(malloc(83));
}

int main(void)
{
	lose();
	wipe();
	return 3;
}
