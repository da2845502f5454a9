/* SPDX-License-Identifier: MIT */
/* dwarf_scopes.c - see dwarf_scopes.h. */
#include "dwarf_scopes.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "table.h"

#define NEST_MAX 256 /* entries below this depth of the tree are passed over */

static int compare_scopes(const void *left, const void *right)
{
	const struct dwarf_scope *a = left, *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return (int)a->depth - (int)b->depth;
}

/* Entries that own code, or that hold such entries. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static int add_scopes(struct dwarf_scopes *scopes, Dwarf_Die *die, int tag, size_t depth)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo >= hi || lo == 0)
			continue;
		if (array_reserve(&scopes->scope, &scopes->room, scopes->count,
				  sizeof(*scopes->scope)))
			return -ENOMEM;
		scopes->scope[scopes->count++] =
			(struct dwarf_scope){.lo = lo,
					     .hi = hi,
					     .die = dwarf_dieoffset(die),
					     .outer = DWARF_NO_SCOPE,
					     .depth = (uint16_t)depth,
					     .is_inlined = tag == DW_TAG_inlined_subroutine};
	}
	return 0;
}

/*
 * Links every scope to the one around it, with one pass over the sorted array. Ranges that overlap
 * without nesting are linked as well: dwarf_lines_find() checks each range.
 */
static void link_scopes(struct dwarf_scopes *scopes)
{
	for (size_t i = 1; i < scopes->count; i++) {
		uint32_t outer = (uint32_t)(i - 1);
		while (outer != DWARF_NO_SCOPE && scopes->scope[outer].hi <= scopes->scope[i].lo)
			outer = scopes->scope[outer].outer;
		scopes->scope[i].outer = outer;
	}
}

/*
 * Moves to the first child or else to the next entry after this one. Offsets must grow. False at
 * the end.
 */
static bool walk_on(Dwarf_Die *path, size_t *depth, bool descend)
{
	Dwarf_Off last = dwarf_dieoffset(&path[*depth]);
	Dwarf_Die next;

	if (descend && *depth + 1 < NEST_MAX && dwarf_child(&path[*depth], &next) == 0 &&
	    dwarf_dieoffset(&next) > last) {
		path[++*depth] = next;
		return true;
	}
	for (; *depth > 0; (*depth)--) {
		if (dwarf_siblingof(&path[*depth], &next) == 0 && dwarf_dieoffset(&next) > last) {
			path[*depth] = next;
			return true;
		}
	}
	return false;
}

int dwarf_scopes_walk(struct dwarf_scopes *scopes, const Dwarf_Die *tree)
{
	Dwarf_Die path[NEST_MAX];
	size_t depth = 0;
	bool descend = true;

	path[0] = *tree;
	while (walk_on(path, &depth, descend) && scopes->count < DWARF_NO_SCOPE) {
		const int tag = dwarf_tag(&path[depth]);
		descend = may_hold_code(tag);
		if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) &&
		    add_scopes(scopes, &path[depth], tag, depth))
			return -ENOMEM;
	}
	if (scopes->count > 1)
		qsort(scopes->scope, scopes->count, sizeof(*scopes->scope), compare_scopes);
	link_scopes(scopes);
	return 0;
}

void dwarf_scopes_close(struct dwarf_scopes *scopes)
{
	free(scopes->scope);
}

uint32_t dwarf_scopes_last(const struct dwarf_scopes *scopes, uint64_t address)
{
	size_t low = 0, high = scopes->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (scopes->scope[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)(low - 1) : DWARF_NO_SCOPE;
}
