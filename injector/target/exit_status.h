/* SPDX-License-Identifier: MIT */
/*
 * exit_status.h - how a process has ended that is no child of this one: as long as its parent has
 * not waited for it, by /proc; after that by its pidfd, since Linux 6.15.
 */
#ifndef HI_EXIT_STATUS_H
#define HI_EXIT_STATUS_H

#include <sys/types.h>

#include "must_check.h"

/*
 * pidfd: opened while the process lived. out_status: as of waitpid. -ESRCH: it is not known, or the
 * process has not ended.
 */
must_check int exit_status_read(pid_t pid, int pidfd, int *out_status);

#endif
