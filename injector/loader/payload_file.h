/* SPDX-License-Identifier: MIT */
/*
 * payload_file.h - the payload's image as a file in the target: a sealed memfd, from which the
 * target's dynamic linker can load it. Its name is LOADER_DLOPEN_MEMFD.
 */
#ifndef HI_PAYLOAD_FILE_H
#define HI_PAYLOAD_FILE_H

#include "loader.h"

/*
 * Creates the file in the target and fills it with target->payload. out_fd: its descriptor in the
 * target, to be closed with payload_file_close. -EBADMSG: another process has written to it.
 */
must_check int payload_file_create(const struct loader_target *target, struct remote *remote,
				   int *out_fd, uint64_t *out_inode);
/* Closes the target's descriptor, if it is still one of this file. */
must_check int payload_file_close(struct remote *remote, int fd);
/* Closes descriptors on such files that an injector which died has left open. */
must_check int payload_file_close_leftovers(struct remote *remote);

#endif
