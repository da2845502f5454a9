/* SPDX-License-Identifier: MIT */
/*
 * spool.h - requests that wait in a directory until a server has taken them. An entry is a file,
 * complete from the moment that it has its name; it is removed once the server has answered. What
 * is there when a session begins, from one that was killed or whose server was away, is sent by
 * that session.
 *
 * The name of an entry is DESTINATION.TIME.ID.push: a number for where it goes, by which processes
 * find their own, nanoseconds since 1970, and an id. So the oldest has the least name. Several
 * processes may use a directory at a time: who sends an entry holds a lock on it (flock).
 */
#ifndef HI_SPOOL_H
#define HI_SPOOL_H

#include <limits.h>
#include <stdint.h>

#include "identity.h"

#define SPOOL_ID_MAX 40u
#define SPOOL_NAME_MAX 96u
#define SPOOL_DIRECTORY "heapinject-push"

struct spool {
	int fd; /* of the directory */
	uint64_t destination;
	uint64_t bytes_max; /* of all entries in the directory */
};

struct spool_entry {
	char name[SPOOL_NAME_MAX];
	int fd;
	uint64_t size;
};

/*
 * Opens the directory at path with the rights of the caller, and creates it for `user`, who is to
 * use it, if it is not there. *out_owner: who owns it then; the caller, where it could not be given
 * to the user. Negative errno; -EPERM: others than these two own it, or may write to it.
 */
must_check int spool_open(const char *path, struct identity user, int *out_fd,
			  struct identity *out_owner);

/*
 * Adds an entry. If there is no room, the oldest
 * entries are removed; out_removed counts them. -EFBIG: it alone is larger than the spool.
 */
struct spool_bytes {
	const void *bytes;
	size_t size;
};
must_check int spool_add(const struct spool *spool, uint64_t unix_ns, const char *id,
			 struct spool_bytes bytes, unsigned *out_removed);
/* The oldest entry of this destination that no other process sends. -ENOENT: there is none. */
must_check int spool_take(const struct spool *spool, struct spool_entry *out_entry);
/* The server has it, or will never: removes it. */
void spool_remove(const struct spool *spool, struct spool_entry *entry);
/* It stays. */
void spool_put_back(struct spool_entry *entry);
/* How many entries of this destination there are, also such that others send. */
unsigned spool_count(const struct spool *spool);
/* Removes what processes that were killed had not completed. */
void spool_sweep(const struct spool *spool);

#endif
