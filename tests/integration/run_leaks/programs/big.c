// SPDX-License-Identifier: MIT
// Blocks that are mapped alone: one that is nearly all untouched and has a pointer at its end, one
// that is lost.
// want: direct lose 30000000 1, indirect hang 88 1
#include "leaky.h"

#define HUGE ((size_t)1 << 32)
#define LARGE 30000000u

static char *huge;

static APART void *small(void)
{
	return used(malloc(87));
}

static APART void *hang(void)
{
	return used(malloc(88));
}

static APART void keep(void)
{
	huge = used(calloc(1, HUGE));
	if (huge)
		*(void **)(void *)(huge + HUGE - 16) = small();
}

static APART void lose(void)
{
	char *block = used(malloc(LARGE));

	memset(block, 0, LARGE / 2);
	*(void **)(void *)(block + LARGE / 32 * 16) = hang();
	used(block);
}

int main(void)
{
	keep();
	lose();
	used(&huge);
	wipe();
	return 0;
}
