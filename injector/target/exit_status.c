/* SPDX-License-Identifier: MIT */
/* exit_status.c - see exit_status.h. */
#include "exit_status.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "proc_file.h"
#include "procfs.h"

/* struct pidfd_info of linux/pidfd.h, in its first size; older headers do not have it. */
struct end_info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define GET_INFO _IOWR(0xff, 11, struct end_info)
#define INFO_EXIT (1ull << 3)
_Static_assert(sizeof(struct end_info) == 64, "the kernel's struct pidfd_info");

/*
 * Field 52, which is 0 also where it is not to be seen. It is set before a process gives its memory
 * back, which may take a while. Of one that lives it says something else.
 */
static int read_stat(pid_t pid, int *out_status)
{
	enum { EXIT_CODE = 52 };
	struct proc_status process;
	uint64_t status;
	char *text;
	int err = proc_status_read(pid, 0, &process);

	if (!err && process.size_bytes)
		err = -ESRCH;
	if (!err)
		err = proc_file_read(pid, 0, "stat", &text, NULL);
	if (err)
		return err;
	err = proc_stat_field(text, EXIT_CODE, &status);
	free(text);
	if (err || !status)
		return -ESRCH;
	*out_status = (int)status;
	return 0;
}

int exit_status_read(pid_t pid, int pidfd, int *out_status)
{
	struct end_info info = {.mask = INFO_EXIT};

	if (!read_stat(pid, out_status))
		return 0;
	if (ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return -ESRCH;
	*out_status = info.exit_code;
	return 0;
}
