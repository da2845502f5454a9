/* SPDX-License-Identifier: MIT */
/* pagemap_file.c - see pagemap_file.h. */
#include "pagemap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_file.h"

struct capabilities {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

#define ADMIN_SET (CAP_SYS_ADMIN / 32)
#define ADMIN_BIT (1u << (CAP_SYS_ADMIN % 32))

static int capabilities_get(struct capabilities *out_now)
{
	*out_now = (struct capabilities){.header.version = _LINUX_CAPABILITY_VERSION_3};
	return syscall(SYS_capget, &out_now->header, out_now->data) ? -errno : 0;
}

/* Of this thread. What it may take back stays permitted. */
static int capabilities_set(const struct capabilities *wanted)
{
	struct __user_cap_header_struct header = wanted->header;

	return syscall(SYS_capset, &header, wanted->data) ? -errno : 0;
}

int pagemap_file_open(pid_t pid, pid_t tid)
{
	struct capabilities before, lesser;
	int err = capabilities_get(&before), fd = -1;

	if (err)
		return err;
	const bool is_admin = before.data[ADMIN_SET].effective & ADMIN_BIT;
	lesser = before;
	lesser.data[ADMIN_SET].effective &= ~ADMIN_BIT;
	if (is_admin)
		err = capabilities_set(&lesser);
	if (err)
		return err;
	err = proc_open(pid, tid, "pagemap", O_RDONLY, &fd);
	const int back = is_admin ? capabilities_set(&before) : 0;
	if (!err && back)
		close(fd);
	return err ? err : back ? back : fd;
}
