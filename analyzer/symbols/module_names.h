/* SPDX-License-Identifier: MIT */
/*
 * module_names.h - the open files and tables of one module of a profile, which give the names of
 * its code: its file, the debug files that belong to it, and the tables read from them.
 *
 * All callers open them in this way: for the frames of a profile, and for a view of machine code.
 * Everything in the files is hostile input.
 */
#ifndef HI_MODULE_NAMES_H
#define HI_MODULE_NAMES_H

#include "dwarf_lines.h"
#include "go_functions.h"
#include "mini_debug.h"
#include "objfile.h"
#include "profile.h"
#include "symtab.h"
#include "unwind_bounds.h"

struct module_names {
	struct objfile file, debug, alternate;
	struct symtab table;
	struct mini_debug mini;
	struct symtab mini_table;    /* of a stripped file: the symbols that `table` lacks */
	struct hi_go_table go;       /* of a stripped file, in it; no functions: none */
	struct unwind_bounds bounds; /* of a stripped file */
	struct dwarf_lines *lines;   /* NULL = no debug information */
	bool is_vdso;
};
#define MODULE_NAMES_CLOSED     \
	((struct module_names){ \
		.file = OBJFILE_CLOSED, .debug = OBJFILE_CLOSED, .alternate = OBJFILE_CLOSED})

/*
 * The module of the program itself: found by its path or, if that is unknown, the module that is
 * mapped first. -1 = there is none.
 */
int32_t module_names_main(const struct profile *profile);
/*
 * True if a and b are the same module, or mappings of one file. Either may be -1, which is no
 * module.
 */
bool module_names_is_same(const struct profile *profile, int32_t a, int32_t b);
/*
 * binary: the program's file, as the user gives it (NULL = find it); ignored for other modules. 0;
 * -ENOENT: no such file, or only other builds of that name; -ENOMEM.
 */
int module_names_open(const struct file_source *source, const struct profile *profile,
		      int32_t module, const char *binary, struct module_names *out_names);
void module_names_close(struct module_names *names);
/*
 * The address to look up for a return address of the file: the last byte of the call before it. But
 * code that a signal has interrupted is no call, and may be the first instruction of a function. In
 * the vdso, where no function ends with a call, this can be recognized, and so can the address that
 * Go puts where C has called it: then the result is the address itself.
 */
uint64_t module_names_code(const struct module_names *names, uint64_t return_address);
/*
 * The function that covers an address of the file, by the symbol tables; NULL if none does. Lives
 * as long as they are open.
 */
const char *module_names_symbol(const struct module_names *names, uint64_t address);
/* The same, and the addresses that the function takes up, as in symtab.h. */
const char *module_names_extent(const struct module_names *names, uint64_t address,
				uint64_t *out_begin, uint64_t *out_end);
/*
 * Where the function begins that has an address of a stripped file, by the unwind information; for
 * code without a name. 0 or -ENOENT.
 */
int module_names_begin(const struct module_names *names, uint64_t address, uint64_t *out_begin);

#endif
