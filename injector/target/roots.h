/* SPDX-License-Identifier: MIT */
/*
 * roots.h - files by their path, in the target's root, which may be that of a container, or in the
 * injector's own.
 *
 * The target chooses paths, and what lies there. So a file is opened with the rights of the user
 * who may see the target's data, and inside its root, whatever links say.
 */
#ifndef HI_ROOTS_H
#define HI_ROOTS_H

#include <sys/stat.h>

#include "identity.h"
#include "procfs.h"

struct roots {
	struct identity reader; /* the user with whose rights files are opened */
	int own, target;        /* -1 = not available */
};
#define ROOTS_CLOSED ((struct roots){.own = -1, .target = -1})

/*
 * status: of the target; its root is opened through its thread tid. Never fails: in a root that
 * cannot be opened no file is found.
 */
void roots_open(struct roots *roots, pid_t pid, pid_t tid, const struct proc_status *status);
void roots_close(struct roots *roots);
/*
 * A descriptor of the regular file at an absolute path within a root, or a negative errno. flags: 0
 * or O_NOFOLLOW. Changes the rights of the thread between begin and end only, see identity.h.
 */
must_check int roots_file(const struct roots *roots, bool is_in_target, const char *path,
			  uint64_t flags, struct stat *out_status);
/*
 * An O_PATH descriptor of the directory at an absolute path within the target's root, or a negative
 * errno. What is created there needs an identity window (identity.h).
 */
must_check int roots_target_directory(const struct roots *roots, const char *path);

#endif
