// SPDX-License-Identifier: MIT
// Blocks that refer to each other, and one that refers to itself.
// want: indirect link_to 72 3, direct mirror 56 1, indirect hang 20 1
#include "leaky.h"

struct link {
	struct link *next;
	void *more[2];
};

static APART struct link *link_to(struct link *next)
{
	struct link *made = used(malloc(sizeof(*made)));

	*made = (struct link){.next = next};
	return made;
}

static APART void *hang(void)
{
	return used(malloc(20));
}

static APART void ring(void)
{
	struct link *first = link_to(NULL);

	first->next = link_to(link_to(first));
	first->next->more[1] = hang();
}

static APART void mirror(void)
{
	void **block = used(calloc(1, 56));

	block[3] = block;
	used(block);
}

int main(void)
{
	ring();
	mirror();
	wipe();
	return 0;
}
