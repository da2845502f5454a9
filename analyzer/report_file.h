/* SPDX-License-Identifier: MIT */
/*
 * report_file.h - one file or URL for a report: read, checked, its addresses named.
 *
 * The format of a file is detected from its first bytes. Each file is resolved by itself, with its
 * own modules: in another file other code may be at the same addresses. What is wrong is printed
 * here.
 */
#ifndef HI_REPORT_FILE_H
#define HI_REPORT_FILE_H

#include "known_names.h"
#include "profile.h"
#include "report_options.h"

/*
 * Loads a file and resolves its symbols. profile: open and empty. names: those of the files before;
 * NULL = there is no other file. 0 or negative errno.
 */
int report_file_load(const struct report_options *options, const char *file,
		     struct known_names *names, struct profile *profile);
/* What a page calls it: the file without directories, a URL as it may be shown. */
const char *report_file_name(const char *file);
/*
 * True if the file, for which report_file_load() has returned `err`, is left out, as there are
 * others. While a session runs, the file for its final profile exists already. It is empty
 * (-EINPROGRESS; -ENODATA if nobody will write it), and for a moment incomplete. As the last
 * snapshot of --growth it would show that all memory is gone.
 */
bool report_file_is_left_out(const struct report_options *options, const char *file, int err,
			     const struct profile *profile);

#endif
