/* SPDX-License-Identifier: MIT */
/*
 * probes_file.h - the file of the probes (probes.h): where it lies, and when it has a name.
 *
 * A file system may answer late or never. So the file is created before a thread of the target is
 * held, and removed after that was let go; what is left to a held thread is to open it.
 *
 * The injector that created it holds a lock on it (flock). An injector that was killed holds none.
 * So an injector that finds the file later, by its name, knows whether it may go.
 */
#ifndef HI_ARENA_PROBES_FILE_H
#define HI_ARENA_PROBES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "roots.h"

#define PROBES_DIRECTORIES 4 /* the first that takes the file and lets code be mapped from it */
#define PROBES_REASONS 1024  /* bytes of a text */

struct probes_file {
	int fd; /* ours: while it is open, no other file has the inode's number; -1: no file */
	int directory; /* our descriptor of the target's directory; -1 */
	dev_t device;
	ino_t inode;
	char name[64], path[96]; /* path: in the target's root */
	size_t next;             /* the directory to try next */
	struct probes_refused {
		int err;           /* why it was not to be this directory; 0 = it was not tried */
		bool is_by_target; /* the file was created, and the target could not map it */
	} refused[PROBES_DIRECTORIES];
};
#define PROBES_FILE_NONE ((struct probes_file){.fd = -1, .directory = -1})

/*
 * Creates the file in the next directory of the target's root that takes it, after those that were
 * tried before, and removes there what killed injectors have left. Not to be called while a thread
 * of the target is held. -EROFS: there is no further directory; `refused` says why.
 */
must_check int probes_file_create(struct probes_file *file, const struct roots *roots, pid_t pid);
/*
 * The target could not map it, for a reason that may not hold of another directory: notes that, and
 * returns 0. Any other error is returned.
 */
must_check int probes_file_refuse(struct probes_file *file, int err);
/* Removes and closes it. Idempotent. Not to be called while a thread of the target is held. */
void probes_file_remove(struct probes_file *file);

/*
 * Removes the file that an injector has left that died while it attached to this process, and those
 * of processes that are gone. The caller holds the lock of the process. Returns whether the first
 * was there.
 */
bool probes_remove_files(const struct roots *roots, pid_t pid);
/* Why no directory was taken, as "/tmp: REASON; /run: REASON"; empty if none was tried. */
void probes_file_reasons(const struct probes_file *file, char text[PROBES_REASONS]);

#endif
