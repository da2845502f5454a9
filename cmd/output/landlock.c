/* SPDX-License-Identifier: MIT */
/* landlock.c - see landlock.h. libc has no functions for these three calls. */
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITES                                                            \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_MAKE_REG)
/* all that the first version knows; what later ones have added is of no use without these */
#define HANDLED                                                                        \
	(READS | WRITES | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |                  \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |                 \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

static int allow(int rules, int fd, uint64_t access)
{
	struct stat status;
	struct landlock_path_beneath_attr beneath = {.allowed_access = access, .parent_fd = fd};

	/* a file has no rights of directories */
	if (!fstat(fd, &status) && !S_ISDIR(status.st_mode))
		beneath.allowed_access &=
			LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0)
		       ? -errno
		       : 0;
}

int landlock_restrict(const char *const *readable, int writable)
{
	const struct landlock_ruleset_attr attributes = {.handled_access_fs = HANDLED};
	const int rules =
		(int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
	int err = rules < 0 ? -errno : allow(rules, writable, READS | WRITES);

	for (; !err && *readable; readable++) {
		const int fd = open(*readable, O_PATH | O_CLOEXEC);

		if (fd < 0)
			continue;
		err = allow(rules, fd, READS);
		close(fd);
	}
	if (!err && syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	if (rules >= 0)
		close(rules);
	return err;
}
