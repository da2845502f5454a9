/* SPDX-License-Identifier: MIT */
/*
 * file_broker.c - see file_broker.h. Enter at file_broker_serve.
 */
#include "file_broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES_MAX 65536u /* as many as the analyzer knows */

void file_broker_open(struct file_broker *broker, pid_t pid, pid_t tid,
		      const struct proc_status *status)
{
	*broker = (struct file_broker){.lock = PTHREAD_MUTEX_INITIALIZER,
				       .pid = pid,
				       .ns_pid = status->ns_pid ? status->ns_pid : pid};
	broker->owner_uid = status->uid_effective;
	roots_open(&broker->roots, pid, tid, status);
}

void file_broker_close(struct file_broker *broker)
{
	for (size_t i = 0; i < broker->file_count; i++) {
		if (broker->file[i].fd >= 0)
			close(broker->file[i].fd);
		free(broker->file[i].path);
	}
	free(broker->file);
	free(broker->file_of);
	roots_close(&broker->roots);
	*broker = FILE_BROKER_CLOSED;
}

/* ---- keeping --------------------------------------------------------------------------------- */

/*
 * Finds the kept file of an image. A library that is loaded repeatedly gets a new module number
 * each time, but not a new file: while the file is kept open, its inode cannot be reused for
 * another.
 */
static int find_file(const struct file_broker *broker, const struct elf_image *image,
		     size_t *out_index)
{
	for (size_t i = 0; image->inode && i < broker->file_count; i++)
		if (broker->file[i].fd >= 0 && broker->file[i].inode == image->inode &&
		    broker->file[i].device == image->device) {
			*out_index = i;
			return 0;
		}
	return -ENOENT;
}

static int add_file(struct file_broker *broker, const struct elf_image *image, size_t *out_index)
{
	struct kept_file *grown =
		reallocarray(broker->file, broker->file_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	broker->file = grown;
	struct kept_file file = {.device = image->device,
				 .inode = image->inode,
				 .path = strdup(image->path),
				 .fd = -1};
	if (!file.path)
		return -ENOMEM;
	if (image->fd >= 0)
		/* if no descriptors are left, this object gets no names */
		file.fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	*out_index = broker->file_count;
	broker->file[broker->file_count++] = file;
	return 0;
}

static void keep(struct file_broker *broker, uint32_t module, const struct elf_image *image)
{
	size_t index;
	/* numbers are dense, so this module is known already, from another of its mappings */
	if (module != broker->module_count + 1 || module > MODULES_MAX)
		return;
	uint32_t *grown = reallocarray(broker->file_of, module, sizeof(*grown));
	if (!grown)
		return;
	broker->file_of = grown;
	if (find_file(broker, image, &index) && add_file(broker, image, &index))
		return;
	broker->file_of[broker->module_count++] = (uint32_t)index;
}

void file_broker_keep(struct file_broker *broker, uint32_t module, const struct elf_image *image)
{
	pthread_mutex_lock(&broker->lock);
	keep(broker, module, image);
	pthread_mutex_unlock(&broker->lock);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_place(const struct file_broker *broker, const struct hi_file_request *request,
		      const char *object_path)
{
	const bool is_in_target = hi_file_is_in_target(request->place),
		   is_perf_map = request->kind == HI_FILE_PERF_MAP;
	const pid_t pid = is_in_target ? broker->ns_pid : broker->pid;
	struct stat status;
	char path[PATH_MAX];
	int err = hi_file_path(request, object_path, (uint32_t)pid, path, sizeof(path));
	if (err)
		return err;
	const int fd = roots_file(&broker->roots, is_in_target, path, is_perf_map ? O_NOFOLLOW : 0,
				  &status);
	/*
	 * Any user can put a file into /tmp: it is accepted only if it belongs to the target's user
	 * or to root.
	 */
	if (fd >= 0 && is_perf_map && status.st_uid != broker->owner_uid && status.st_uid != 0) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

/*
 * Returns copies of the object's path and of its descriptor (-1 = none): the array of kept files
 * may move as soon as the lock is released.
 */
static int find_object(struct file_broker *broker, uint32_t module, char **out_path, int *out_fd)
{
	int err = -EINVAL;
	pthread_mutex_lock(&broker->lock);
	if (module && module <= broker->module_count) {
		const struct kept_file *file = &broker->file[broker->file_of[module - 1]];
		*out_path = strdup(file->path);
		*out_fd = *out_path && file->fd >= 0 ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) : -1;
		err = *out_path ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&broker->lock);
	return err;
}

/* Returns a descriptor that the caller owns, or a negative errno. */
static int open_requested(struct file_broker *broker, const struct hi_file_request *request)
{
	char *path;
	int mapped;
	if (request->kind == HI_FILE_PERF_MAP)
		return open_place(broker, request, "");
	int fd = find_object(broker, request->module, &path, &mapped);
	if (fd)
		return fd;
	if (request->kind == HI_FILE_MAPPED) {
		fd = mapped < 0 ? -ENOENT : mapped;
	} else {
		fd = open_place(broker, request, path);
		if (mapped >= 0)
			close(mapped);
	}
	free(path);
	return fd;
}

/* ---- answering ------------------------------------------------------------------------------- */

union fd_message {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

int file_broker_answer(int socket, int fd)
{
	struct hi_file_answer answer = {.status = fd < 0 ? fd : 0};
	struct iovec part = {.iov_base = &answer, .iov_len = sizeof(answer)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union fd_message control = {.room = {0}};
	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(sizeof(fd))};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	/*
	 * A client that keeps asking without reading the answers gets none: the send must not
	 * block.
	 */
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -EPIPE : 0;
}

static bool is_about_objects(const struct hi_file_request *request)
{
	return request->kind < HI_FILE_DUMP_HEAP || request->kind > HI_FILE_DUMP_DONE;
}

int file_broker_serve(struct file_broker *broker, int socket, struct hi_file_request *out_request)
{
	struct hi_file_request request = {0};
	const ssize_t got = recv(socket, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
	if (got == 0)
		return -EPIPE;
	const bool is_whole = got == (ssize_t)sizeof(request);
	if (is_whole && !is_about_objects(&request)) {
		*out_request = request;
		return 1;
	}
	const int fd = is_whole ? open_requested(broker, &request) : -EINVAL;
	int err = file_broker_answer(socket, fd);
	if (fd >= 0)
		close(fd);
	return err;
}
