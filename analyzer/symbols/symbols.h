/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for the frames of a profile: symtab names always, file:line and inlined calls where there is debug information.
 *
 * Files come from a file_source; which of them are tried, objfile.h says.
 * perf maps for addresses in no file. Everything in the files is hostile input.
 */
#ifndef HI_SYMBOLS_H
#define HI_SYMBOLS_H

#include "profile.h"

struct symbols_options {
	const char *binary; /* file to use for the main program (report -p); NULL = find it */
	bool full_names;    /* keep parameters and template arguments */
	int ask_fd;         /* who opens files, as in file_source.h; 0 = we do */
	size_t first_frame; /* those before it are left as they are */
};
/* Whether options.binary can be the profile's program. 0, -ESTALE: it is another build; -ENOEXEC: it is no ELF file; or what open() says. */
int symbols_check_binary(const struct profile *profile, const struct symbols_options *options);
/* Fills line[] of every frame that has none. What cannot be found stays empty; -ENOMEM is the only error. */
int symbols_resolve(struct profile *profile, const struct symbols_options *options);

#endif
