/* SPDX-License-Identifier: MIT */
/*
 * file_source.h - where files come from that tell the names: opened by ourselves with the user's rights or, as the child of an attach, which may open nothing,
 * asked for (hi_files.h).
 */
#ifndef HI_FILE_SOURCE_H
#define HI_FILE_SOURCE_H

#include "hi_files.h"
#include "profile.h"

struct file_source {
	int ask_fd;      /* 0 = by ourselves */
	uint32_t pid;    /* of the target, which may have gone */
	const char *exe; /* its program, to tell it from another that bears the number now; NULL = unknown */
};

/*
 * A descriptor on a regular file, or negative errno. module may be NULL for PERF_MAP; its number goes into the request. Whether it is the right file is for the
 * caller to find out, but for perf maps: these belong to the process's owner or to root.
 */
int file_source_open(const struct file_source *source, const struct profile_module *module, const struct hi_file_request *request);
/* What has no answer. 0, or -EPIPE: there is nobody. */
int file_source_tell(int ask_fd, const struct hi_file_request *request);

#endif
