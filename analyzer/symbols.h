/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for the frames of a profile: symtab names always, file:line and inlined calls where there is debug information.
 *
 * The only module that includes libdw. Files: the module's open path (checked by build-id), /proc/PID/root/PATH, PATH, /usr/lib/debug/.build-id, .gnu_debuglink.
 * perf maps for addresses in no file. Everything in the files is hostile input.
 */
#ifndef HI_SYMBOLS_H
#define HI_SYMBOLS_H

#include "profile.h"

struct symbols_options {
	const char *binary; /* file to use for the main program (report -p); NULL = find it */
	bool full_names;    /* keep parameters and template arguments */
};
/* Fills line[] of every frame that has none. What cannot be found stays empty; -ENOMEM is the only error. */
int symbols_resolve(struct profile *profile, const struct symbols_options *options);

#endif
