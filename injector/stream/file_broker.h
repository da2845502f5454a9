/* SPDX-License-Identifier: MIT */
/*
 * file_broker.h - opens files for the analyzer child, which may open none itself (hi_files.h
 * describes the requests).
 *
 * The files of the target's objects are kept open from the moment when the stream describes them:
 * when the child asks, at the end, the target may have exited, and a deleted file or one of another
 * mount namespace can no longer be found. Debug files are opened on request. A hostile target may
 * control the child. So a request can only name an object of this session, and a debug file is
 * opened with the rights of the user who may see the target's data, and inside one of the two
 * roots, whatever links say.
 */
#ifndef HI_FILE_BROKER_H
#define HI_FILE_BROKER_H

#include <pthread.h>

#include "elf_images.h"
#include "hi_files.h"
#include "roots.h"

/* One file, shared by all objects that are mappings of it. */
struct kept_file {
	uint64_t device, inode;
	char *path; /* of the first such object */
	int fd;     /* -1 = could not be kept */
};

struct file_broker {
	/* protects the kept files: one thread may keep files while another serves requests */
	pthread_mutex_t lock;
	struct kept_file *file;
	size_t file_count;
	uint32_t *file_of; /* index into file by module number, which starts at 1 */
	size_t module_count;

	struct roots roots;
	uid_t owner_uid; /* the target's */
	pid_t ns_pid;
	pid_t pid;
};
#define FILE_BROKER_CLOSED \
	((struct file_broker){.lock = PTHREAD_MUTEX_INITIALIZER, .roots = ROOTS_CLOSED})

/*
 * status: of the target; its root is opened through its thread tid. Never fails: a file that cannot
 * be opened is later reported as not found.
 */
void file_broker_open(struct file_broker *broker, pid_t pid, pid_t tid,
		      const struct proc_status *status);
void file_broker_close(struct file_broker *broker);
/*
 * Keeps the file of the image that has this module number in the stream. Duplicates its descriptor.
 */
void file_broker_keep(struct file_broker *broker, uint32_t module, const struct elf_image *image);
/*
 * Answers one pending request on socket. -EPIPE: the other end is closed; -EAGAIN: no request is
 * pending; 1: the request is not about objects (HI_FILE_DUMP_HEAP and those after it), and the
 * caller must answer it.
 */
must_check int file_broker_serve(struct file_broker *broker, int socket,
				 struct hi_file_request *out_request);
/*
 * fd: a descriptor, or a negative errno as the answer; the caller keeps ownership. -EPIPE: the
 * other end is closed.
 */
must_check int file_broker_answer(int socket, int fd);

#endif
