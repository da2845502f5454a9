/* SPDX-License-Identifier: MIT */
/*
 * unhooked.h - allocators of a process of which not every function is hooked, each by the name of
 * the first function that allocates, and of the first that frees: what is allocated there is not
 * seen, and what is freed there counts as in use.
 */
#ifndef HI_UNHOOKED_H
#define HI_UNHOOKED_H

#include "entries.h"
#include "hi_unhooked.h"

#define UNHOOKED_MAX (3 * ALLOCATORS_MAX + 1)
#define UNHOOKED_TEXT_MAX 1024u

struct unhooked {
	enum hi_unhooked how;
	bool is_main;                         /* in the main program */
	char function[HI_ALLOCATOR_NAME_MAX]; /* printable */
	char path[256];                       /* path of the object; printable */
};
struct unhooked_list {
	struct unhooked unhooked[UNHOOKED_MAX];
	size_t count; /* at most one of each kind per object */
};

/* entries: the functions that are hooked at their entry, after nesting_find. */
void unhooked_find(const struct allocators *allocators, const struct entries *entries,
		   struct unhooked_list *out_list);
/* Adds those from number `first` on, none of which is hooked. Those that are in the list stay. */
void unhooked_add(const struct allocators *allocators, size_t first, struct unhooked_list *list);
/*
 * "je_malloc in the program itself", "malloc in /opt/lib/libx.so and je_malloc in ...": those that
 * free, or those that allocate. Returns text, which is empty if there are none.
 */
char *unhooked_describe(const struct unhooked_list *list, bool of_frees, char *text, size_t size);

#endif
