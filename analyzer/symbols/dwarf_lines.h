/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.h - source lines and inlined calls by address, from DWARF. Only this and the other
 * files that begin with dwarf_ use libdw.
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
	const char *name; /* NULL = unknown */
	/* name is as in a symbol table, perhaps mangled; else as in the source, qualified in C++ */
	bool is_linkage_name;
	bool is_cxx;
	const char *file; /* NULL = unknown */
	/*
	 * the compiler's directory, to which a relative file name refers; NULL = unknown, or the
	 * file name is absolute
	 */
	const char *directory;
	uint32_t line; /* 0 = unknown */
};

#define DWARF_CALLS_MAX 64 /* inlining deeper than this is cut off on the outside */

/* What is missing because split debug information could not be opened: inlined calls. */
struct dwarf_lacks {
	size_t addresses; /* addresses that were looked up in units whose split part is missing */
	char *file;       /* the .dwo file that one of these units names; NULL = none */
	/* the .dwp file that exists in its place, which this libdw cannot read; NULL = none */
	char *package;
};

/*
 * alternate: the file with what `file` shares with other debug files; may be closed if there is
 * none or it was not found. Both must stay open. may_open_split: open the .dwo files that `file`
 * names, or the package of them beside it. This is done by path; without them inlined calls are
 * missing. libdw reads packages from elfutils 0.191 on. 0, -ENOENT without debug information,
 * -ENOMEM.
 */
int dwarf_lines_open(const struct objfile *file, const struct objfile *alternate,
		     bool may_open_split, struct dwarf_lines **out_lines);
void dwarf_lines_close(struct dwarf_lines *lines);
/*
 * The calls at an address of the file, innermost first; the last one is the function that owns the
 * code. Names live until close. 0 with *out_count at least 1, -ENOENT if nothing is known, -ENOMEM.
 */
int dwarf_lines_find(struct dwarf_lines *lines, uint64_t address,
		     struct dwarf_call out_calls[DWARF_CALLS_MAX], size_t *out_count);
/*
 * The path of the call's file with its directory, as for open(); call->file must be known. The
 * caller frees it. NULL = out of memory.
 */
char *dwarf_call_path(const struct dwarf_call *call);
/*
 * The call's name as views show it, demangled; full: with parameters and template arguments.
 * call->name must be known. The caller frees it. NULL = out of memory.
 */
char *dwarf_call_name(const struct dwarf_call *call, bool full);
/* What is missing so far. Lives until close. */
const struct dwarf_lacks *dwarf_lines_lacks(const struct dwarf_lines *lines);

#endif
