/* SPDX-License-Identifier: MIT */
/*
 * file_source.h - opens the files that the names come from. A report opens them itself, with the
 * user's rights. The analyzer child of an attach may open no files and asks the injector for them
 * (hi_files.h).
 */
#ifndef HI_FILE_SOURCE_H
#define HI_FILE_SOURCE_H

#include "hi_files.h"
#include "profile.h"

struct file_source {
	int ask_fd;   /* 0 = the analyzer opens files itself */
	uint32_t pid; /* of the target, which may have exited */
	/*
	 * its program, to tell the target from another process that has the same pid now; NULL =
	 * unknown
	 */
	const char *exe;
	/* directory that has the files of the target's machine, by their paths there; NULL = none
	 */
	const char *sysroot;
};

/* What the user says of the files that a report needs. NULL = nothing. */
struct file_wish {
	const char *binary;  /* file to use for the main program; other modules ignore it */
	const char *sysroot; /* as above */
};
/* That of a report. It is valid as long as the profile. */
struct file_source file_source_here(const struct profile *profile, const struct file_wish *wish);

/*
 * A descriptor of a regular file, or negative errno. module may be NULL for PERF_MAP; its number
 * goes into the request. The caller has to check that it is the right file, except for perf maps:
 * these belong to the process's owner or to root.
 */
int file_source_open(const struct file_source *source, const struct profile_module *module,
		     const struct hi_file_request *request);
/* Sends a request without waiting for an answer. 0, or -EPIPE: nobody receives it. */
int file_source_notify(int ask_fd, const struct hi_file_request *request);

#endif
