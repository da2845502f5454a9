// SPDX-License-Identifier: MIT
// Pointers into a block count, and those to its end do not; nor does one that is not aligned.
// want: direct past 64 1, direct odd 96 1
#include "leaky.h"

static char *middle, *last, *end;
static struct __attribute__((packed)) {
	char before;
	void *block;
} unaligned;

static APART void inside(void)
{
	middle = (char *)used(malloc(500)) + 250;
	last = (char *)used(malloc(501)) + 500;
}

static APART void past(void)
{
	end = (char *)used(malloc(64)) + 64;
}

static APART void odd(void)
{
	unaligned.block = used(malloc(96));
}

int main(void)
{
	inside();
	past();
	odd();
	used(&middle);
	used(&last);
	used(&end);
	used(&unaligned);
	wipe();
	return 0;
}
