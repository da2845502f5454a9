/* SPDX-License-Identifier: MIT */
/*
 * file_broker.h - opens files for the analyzer child, which may open none itself (hi_files.h says how it asks).
 *
 * The files of the target's objects are kept open from the moment the stream describes them: when the child asks, at the end, the target may have exited, and a
 * deleted file or one of another mount namespace cannot be found any more. Debug files are opened when they are asked for. The child may be in the hands of a
 * hostile target, so a request can only name an object of this session, and a debug file is opened with the rights of who may see the target's data, and within
 * the one root or the other whatever links say.
 */
#ifndef HI_FILE_BROKER_H
#define HI_FILE_BROKER_H

#include <pthread.h>

#include "elf_images.h"
#include "hi_files.h"
#include "identity.h"

/* One each for all objects that are mappings of it. */
struct kept_file {
	uint64_t device, inode;
	char *path; /* of the first such object */
	int fd;     /* -1 = could not be kept */
};

struct file_broker {
	pthread_mutex_t lock; /* of what is kept: one thread may keep files while another serves */
	struct kept_file *file;
	size_t file_count;
	uint32_t *file_of; /* by number of module, from 1 on */
	size_t module_count;

	struct identity reader, owner; /* with whose rights debug files are opened; of the target */
	pid_t ns_pid;
	pid_t pid;
	int own_root, target_root; /* -1 = not to be had */
};

/* status: of the target, through whose thread tid its root is opened. Nothing here fails: what cannot be opened is not found later. */
void file_broker_open(struct file_broker *broker, pid_t pid, pid_t tid, const struct proc_status *status);
void file_broker_close(struct file_broker *broker);
/* The image bears this number in the stream. Its descriptor is copied. */
void file_broker_keep(struct file_broker *broker, uint32_t module, const struct elf_image *image);
/*
 * Answers one request that waits on socket. -EPIPE: there is nobody any more; -EAGAIN: nothing waits; 1: it is none about objects (HI_FILE_DUMP_HEAP and those
 * after it), and the caller's to answer.
 */
must_check int file_broker_serve(struct file_broker *broker, int socket, struct hi_file_request *out_request);
/* fd: negative errno is the answer, too; stays the caller's. -EPIPE: nobody takes it. */
must_check int file_broker_answer(int socket, int fd);

#endif
