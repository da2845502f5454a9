// SPDX-License-Identifier: MIT
// The only pointers to blocks are to their last word, which is the address of the chunk that
// follows: of lists, and in arrays that were free before and are written to in part.
// want: nothing
#include "leaky.h"

#define ITEMS 100

struct link {
	struct link *next;
};
struct item {
	long value[2];
	struct link link;
};
struct list {
	struct link *first, *last;
};
static struct list *list;
static struct link **some[ITEMS];

static APART void *make(size_t bytes)
{
	return used(malloc(bytes));
}

static APART struct link *make_item(void)
{
	struct item *item = make(sizeof(*item));

	memset(item, 0, sizeof(*item));
	return &item->link;
}

static APART struct list *make_list(void)
{
	struct list *made = make(sizeof(*made));

	*made = (struct list){make_item(), NULL};
	made->last = made->first;
	for (int i = 0; i < ITEMS; i++)
		made->last = made->last->next = make_item();
	return made;
}

// Each array is a block of its own list of free ones, and its first words are written to.
static APART void fill(void)
{
	struct link *item[ITEMS];

	for (int i = 0; i < ITEMS; i++) {
		item[i] = make_item();
		some[i] = make(1200);
	}
	for (int i = 0; i < ITEMS; i++)
		free(some[i]);
	for (int i = 0; i < ITEMS; i++) {
		some[i] = make(1200);
		some[i][0] = item[i];
		some[i][1] = item[ITEMS - 1 - i];
		some[i][2] = item[i];
		some[i][3] = item[i];
	}
}

int main(void)
{
	list = make_list();
	fill();
	used(&list);
	used(some);
	wipe();
	return 0;
}
