/* SPDX-License-Identifier: MIT */
/*
 * The room symbols/: addresses to functions, files and lines. symbols.h: enter here; module_names.h puts together what one object's file, debug file, and
 * server (debuginfod.h) know; file_source.h opens files, or asks for them where nothing may be opened. Uses model/, io/, text/, libelf, libdw.
 */

/*
 * symbols.h - names for the frames of a profile: symtab names always, file:line and inlined calls where there is debug information.
 *
 * Files come from a file_source; which of them are tried, objfile.h says.
 * perf maps for addresses in no file. Everything in the files is hostile input.
 */
#ifndef HI_SYMBOLS_H
#define HI_SYMBOLS_H

#include "profile.h"

/* What symbols_resolve() did, and what would tell more. */
struct symbols_findings {
	size_t sought, found;       /* frames that had no name, and those of them that have one now */
	size_t bettered;            /* frames that had one, and have a source line or inlined calls now */
	size_t lacking;             /* frames whose inlined calls are in split debug information that could not be opened */
	char *lacked, *lacked_here; /* a file that it is in, and a package of such files that is here; NULL = none. Safe to print; for free() */
};
struct symbols_options {
	const char *binary;                /* file to use for the main program (report -p); NULL = find it */
	bool full_names;                   /* keep parameters and template arguments */
	bool complete;                     /* look for more than they have of frames with a name, too: source lines, inlined calls */
	int ask_fd;                        /* who opens files, as in file_source.h; 0 = we do */
	size_t first_frame;                /* those before it are left as they are */
	struct symbols_findings *findings; /* written to, all zero before; NULL = nobody wants to know */
};
/* Whether options.binary can be the profile's program. 0, -ESTALE: it is another build; -ENOEXEC: it is no ELF file; or what open() says. */
int symbols_check_binary(const struct profile *profile, const struct symbols_options *options);
/* Fills line[] of every frame that has none, and more if options say so. What cannot be found stays as it is; -ENOMEM is the only error. */
int symbols_resolve(struct profile *profile, const struct symbols_options *options);

#endif
