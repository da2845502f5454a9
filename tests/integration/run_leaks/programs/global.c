// SPDX-License-Identifier: MIT
// Variables with an initial value, without one, static in a function, and an array.
// want: direct overwrite 48 1
#include "leaky.h"

static void *nothing_at_first, *something = &nothing_at_first;
static struct {
	char name[24];
	void *block;
} table[50];

static APART void keep(void)
{
	static void *inside;

	nothing_at_first = malloc(40);
	something = malloc(41);
	inside = malloc(42);
	used(&inside);
	table[49].block = malloc(43);
}

static APART void overwrite(void)
{
	table[7].block = used(malloc(48));
	table[7].block = NULL;
}

int main(void)
{
	keep();
	overwrite();
	used(&table);
	used(&nothing_at_first);
	used(&something);
	wipe();
	return 0;
}
