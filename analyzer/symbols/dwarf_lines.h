/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.h - source lines and inlined calls by address, from DWARF. Only its .c and dwarf_names know libdw.
 */
#ifndef HI_DWARF_LINES_H
#define HI_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objfile.h"

struct dwarf_lines;

/* One source-level function at an address. */
struct dwarf_call {
	const char *name;     /* NULL = unknown */
	bool is_linkage_name; /* name is as in a symbol table, perhaps mangled; else as in the source, qualified in C++ */
	bool is_cxx;
	const char *file;   /* NULL = unknown */
	const char *folder; /* that of the compiler, from which a relative file counts; NULL = unknown, or the file needs none */
	uint32_t line;      /* 0 = unknown */
};

#define DWARF_CALLS_MAX 64 /* inlining deeper than this is cut off on the outside */

/*
 * alternate: what file shares with other debug files; may be closed: nothing, or not found. Both must stay open. may_open_split: open the .dwo files that file
 * names, which is done by path; without them inlined calls are missing. 0, -ENOENT without debug information, -ENOMEM.
 */
int dwarf_lines_open(const struct objfile *file, const struct objfile *alternate, bool may_open_split, struct dwarf_lines **out_lines);
void dwarf_lines_close(struct dwarf_lines *lines);
/*
 * The calls at an address of the file, innermost first; the last one is the function that owns the code. Names live until close.
 * 0 with *out_count at least 1, -ENOENT if nothing is known, -ENOMEM.
 */
int dwarf_lines_find(struct dwarf_lines *lines, uint64_t address, struct dwarf_call out_calls[DWARF_CALLS_MAX], size_t *out_count);

#endif
