/* SPDX-License-Identifier: MIT */
/*
 * unhooked.h - allocators in a process whose functions are not hooked, by their names: their
 * allocations are not seen.
 *
 * Three kinds:
 *   - An allocator under names of its own (je_malloc, _rjem_malloc, tc_malloc, mi_malloc), in any
 *     object.
 *   - malloc itself, where the object that defines it calls it without a slot, and its entry is not
 *     hooked: the main program, or a library that keeps its malloc to itself.
 *   - A second malloc, to which slots of other objects lead (RTLD_DEEPBIND, dlmopen).
 *
 * Names are looked up in .dynsym and .symtab; in a file without names, nothing is found. The files
 * are chosen by the target and are read within bounds. Nothing here writes, or stops the target.
 */
#ifndef HI_UNHOOKED_H
#define HI_UNHOOKED_H

#include "hi_allocator_names.h"
#include "hi_stream.h"
#include "slots.h"

#define UNHOOKED_MAX 8u
#define UNHOOKED_TEXT_MAX 1024u

struct unhooked {
	enum hi_unhooked how;
	bool is_main;                         /* in the main program */
	remote_addr address;                  /* of the function */
	char function[HI_ALLOCATOR_NAME_MAX]; /* the allocating function; printable */
	char path[256];                       /* path of the object; printable */
};
struct unhooked_list {
	struct unhooked unhooked[UNHOOKED_MAX];
	size_t count; /* at most one of each kind per object; those that do not fit are left out */
};

/*
 * Adds to the list. allocator: the one whose functions are hooked. entry: that of its malloc if it
 * is hooked at its entry, so that direct calls are seen too; else 0.
 */
void unhooked_find(const struct elf_images *images, const struct allocator *allocator,
		   remote_addr entry, struct unhooked_list *list);
/* Adds those to which slots lead: allocators beside the hooked one. */
void unhooked_add_bound(const struct slots *slots, struct unhooked_list *list);
/*
 * "je_malloc in the program itself", "malloc in /opt/lib/libx.so and je_malloc in ..." Returns
 * text.
 */
char *unhooked_describe(const struct unhooked_list *list, char *text, size_t size);

#endif
