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

/* What split debug information that could not be opened leaves out: inlined calls. */
struct dwarf_lacks {
	size_t addresses; /* that were looked for in such units */
	char *file;       /* the .dwo file that one of these names; NULL = none */
	char *package;    /* the .dwp file that is there in its place, which this libdw cannot read; NULL = none */
};

/*
 * alternate: what file shares with other debug files; may be closed: nothing, or not found. Both must stay open. may_open_split: open the .dwo files that file
 * names, or the package of them beside it, which is done by path; without them inlined calls are missing. libdw reads packages from elfutils 0.191 on.
 * 0, -ENOENT without debug information, -ENOMEM.
 */
int dwarf_lines_open(const struct objfile *file, const struct objfile *alternate, bool may_open_split, struct dwarf_lines **out_lines);
void dwarf_lines_close(struct dwarf_lines *lines);
/*
 * The calls at an address of the file, innermost first; the last one is the function that owns the code. Names live until close.
 * 0 with *out_count at least 1, -ENOENT if nothing is known, -ENOMEM.
 */
int dwarf_lines_find(struct dwarf_lines *lines, uint64_t address, struct dwarf_call out_calls[DWARF_CALLS_MAX], size_t *out_count);
/* The file with its folder, as one opens it; to be freed. NULL = out of memory. Of calls whose file is known. */
char *dwarf_call_path(const struct dwarf_call *call);
/* So far. Lives until close. */
const struct dwarf_lacks *dwarf_lines_lacks(const struct dwarf_lines *lines);

#endif
