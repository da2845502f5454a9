/* SPDX-License-Identifier: MIT */
/*
 * pagemap_file.h - /proc/PID/pagemap, opened for a process that may know which pages the target
 * has, and nothing else.
 *
 * The kernel decides by the capabilities of who opens the file whether its words hold physical
 * addresses (Documentation/admin-guide/mm/pagemap.rst). So it is opened without CAP_SYS_ADMIN. The
 * descriptor stays one of the memory that the process had at that moment: after an exec, and after
 * its end, nothing can be read from it.
 */
#ifndef HI_PAGEMAP_FILE_H
#define HI_PAGEMAP_FILE_H

#include <sys/types.h>

#include "must_check.h"

/* The descriptor, close-on-exec, or negative errno. The capabilities are as before. */
must_check int pagemap_file_open(pid_t pid, pid_t tid);

#endif
