/* SPDX-License-Identifier: MIT */
/*
 * hooked.h - in words: what of each allocator of a process is hooked and how, and what is not and
 * why. unhooked.h has what is missing for a profile to be complete.
 */
#ifndef HI_HOOKED_H
#define HI_HOOKED_H

#include "entries.h"

/* How calls of a function are met. */
enum hooked_way {
	HOOKED_NONE, /* not at all, for the reason in entries.obstacle */
	HOOKED_ENTRY,
	HOOKED_COVERED, /* the same as another function, or jumps there at once */
	HOOKED_INSIDE,  /* in a function that it calls, which is hooked at its entry */
	HOOKED_SLOTS,   /* only those through slots, for the reason in entries.obstacle */
};

enum hooked_way hooked_way_of(const struct entries *entries, unsigned hook);
const char *hooked_family_name(enum allocator_family family);
const char *hooked_obstacle_text(enum entry_obstacle obstacle);
/*
 * Why no function of the allocator is hooked; "" if it may be hooked. prefix: printable, as in
 * struct allocator.
 */
const char *hooked_left_alone(enum allocator_family family, const char *prefix, bool is_left_alone);

/*
 * What is said of an allocator that hides functions; the words that follow "heapinject: " at
 * attach, and that stand for themselves in a list.
 */
#define HOOKED_HIDDEN_TEXT                                                                     \
	"the program is stripped: of its allocator only functions that it exports are known, " \
	"and what goes to others (mallocx, mi_malloc) is not seen; its debug symbols name them"

/*
 * One line about one allocator, printable: "glibc in /lib/libc.so.6: 12 functions at their entry, 2
 * that lead to these; by slots: calloc (its object may be unloaded)". entries: after nesting_find.
 * Returns text.
 */
#define HOOKED_TEXT_MAX 600u
char *hooked_describe(const struct allocators *allocators, const struct entries *entries,
		      size_t number, char text[HOOKED_TEXT_MAX]);

#endif
