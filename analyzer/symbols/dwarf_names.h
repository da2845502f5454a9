/* SPDX-License-Identifier: MIT */
/*
 * dwarf_names.h - the name of a function, from its DWARF entry: as in a symbol table, or else as in
 * the source, with the namespaces and classes around it.
 */
#ifndef HI_DWARF_NAMES_H
#define HI_DWARF_NAMES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "table.h"

/* "ns::Class::function", for a function whose entry has no linkage name. */
struct dwarf_name {
	Dwarf *dwarf; /* the entry's file: split units are in files of their own */
	Dwarf_Off die;
	char *text;
};

/* The names that were put together so far. Zero-initialized = empty. */
struct dwarf_names {
	struct dwarf_name *name;
	size_t count, room;
	struct table by_die;
};

/* True if the unit, which holds the function, is C++. */
bool dwarf_names_is_cxx(Dwarf_Die *unit);
/*
 * The name of a function or inlined call, NULL if it has none. out_is_linkage: the name is as in a
 * symbol table, perhaps mangled; else as in the source, in C++ with its scopes. The name lives
 * until close, but not longer than the Dwarf. 0, or -ENOMEM.
 */
int dwarf_names_find(struct dwarf_names *names, Dwarf_Die *die, bool is_cxx, const char **out_name,
		     bool *out_is_linkage);
void dwarf_names_close(struct dwarf_names *names);

#endif
