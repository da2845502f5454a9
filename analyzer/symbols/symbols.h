/* SPDX-License-Identifier: MIT */
/*
 * Room symbols/: addresses to functions, files and lines. Start at symbols.h. module_names.h
 * puts together what one object's file, debug file, and server (debuginfod.h) know. file_source.h
 * opens files, or asks the injector for them where the analyzer may open none. dwarf_signature.h
 * has the parameters of a function. Uses model/, io/,
 * text/, libelf, libdw.
 */

/*
 * symbols.h - names for the frames of a profile: symtab names always, file:line and inlined calls
 * where there is debug information.
 *
 * Files come from a file_source; objfile.h says which files are tried. Addresses in no file get
 * their names from perf maps, or from the record stream. Everything in the files is hostile input.
 */
#ifndef HI_SYMBOLS_H
#define HI_SYMBOLS_H

#include "file_source.h"
#include "profile.h"

/* What symbols_resolve() did, and which files would give more names. */
struct symbols_findings {
	size_t sought, found; /* frames that had no name, and those of them that have one now */
	size_t bettered;      /* named frames that have a source line or inlined calls now */
	/* frames whose inlined calls are in split debug information that could not be opened */
	size_t lacking;
	/*
	 * a split file that could not be opened, and a package of such files that exists here; NULL
	 * = none. Safe to print; the caller frees them
	 */
	char *lacked, *lacked_here;
};
struct symbols_options {
	struct file_wish files;
	bool full_names;    /* keep parameters and template arguments */
	bool complete;      /* also look for source lines and inlined calls of named frames */
	int ask_fd;         /* socket to ask for files (file_source.h); 0 = open them here */
	size_t first_frame; /* frames before this one are left as they are */
	/* filled in, must be all zero before; NULL = not wanted */
	struct symbols_findings *findings;
};
/*
 * Checks whether options->files.binary can be the profile's program. 0; -ESTALE: it is another
 * build; -ENOEXEC: it is no ELF file; or the negative errno of open().
 */
int symbols_check_binary(const struct profile *profile, const struct symbols_options *options);
/*
 * Fills line[] of every frame that has none, and improves others if options->complete is set. What
 * cannot be found stays as it is; -ENOMEM is the only error.
 */
int symbols_resolve(struct profile *profile, const struct symbols_options *options);

#endif
