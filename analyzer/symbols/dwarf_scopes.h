/* SPDX-License-Identifier: MIT */
/*
 * dwarf_scopes.h - the code ranges of a compilation unit's functions and inlined calls, in a sorted
 * array.
 *
 * The file is untrusted. The walk is a loop with a stack of bounded depth. It goes on only to
 * higher offsets, so it ends.
 */
#ifndef HI_DWARF_SCOPES_H
#define HI_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_NO_SCOPE UINT32_MAX

/* Code of one function or of one inlined call. */
struct dwarf_scope {
	uint64_t lo, hi;
	Dwarf_Off die;
	/* index of the scope around it in the sorted array, DWARF_NO_SCOPE = none */
	uint32_t outer;
	/* in the tree: of two scopes with the same range the deeper one is the inner one */
	uint16_t depth;
	bool is_inlined;
};

/* Zero-initialized = empty. */
struct dwarf_scopes {
	struct dwarf_scope *scope; /* sorted by lo, the outer before the inner */
	size_t count, room;
};

/* Finds the scopes below the entry `tree`. scopes: empty. 0 or -ENOMEM. */
int dwarf_scopes_walk(struct dwarf_scopes *scopes, const Dwarf_Die *tree);
void dwarf_scopes_close(struct dwarf_scopes *scopes);
/*
 * The innermost scope that begins at or before address; a scope that covers the address is this one
 * or outside it. DWARF_NO_SCOPE: there is none.
 */
uint32_t dwarf_scopes_last(const struct dwarf_scopes *scopes, uint64_t address);

#endif
