/* SPDX-License-Identifier: MIT */
/*
 * file_source.c - see file_source.h.
 */
#include "file_source.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_SIZE 32

/* ---- asked for ------------------------------------------------------------------------------- */

union fd_message {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static int receive_answer(int ask_fd)
{
	struct hi_file_answer answer;
	struct iovec part = {.iov_base = &answer, .iov_len = sizeof(answer)};
	union fd_message control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t got;
	int fd = -EPIPE;

	do
		got = recvmsg(ask_fd, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(answer))
		return fd;
	const struct cmsghdr *found = CMSG_FIRSTHDR(&message);
	if (answer.status == 0 && found && found->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(found), sizeof(fd));
	return answer.status ? answer.status : fd;
}

int file_source_notify(int ask_fd, const struct hi_file_request *request)
{
	struct hi_file_request copy = *request;
	struct iovec part = {.iov_base = &copy, .iov_len = sizeof(copy)};
	const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	do
		sent = sendmsg(ask_fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(copy) ? 0 : -EPIPE;
}

static int ask(int ask_fd, const struct profile_module *module,
	       const struct hi_file_request *request)
{
	struct hi_file_request numbered = *request;

	numbered.module = module ? module->number : 0;
	return file_source_notify(ask_fd, &numbered) ? -EPIPE : receive_answer(ask_fd);
}

struct file_source file_source_here(const struct profile *profile, const struct file_wish *wish)
{
	return (struct file_source){
		.pid = profile->meta.pid, .exe = profile->meta.exe, .sysroot = wish->sysroot};
}

/* ---- by ourselves ---------------------------------------------------------------------------- */

/* The analyzer reaches into no code of the injector, so it has its own paths of /proc. */

/* The length of the path of a program; it may have been deleted since, or be known as deleted. */
static size_t program_size(const char *exe)
{
	static const char deleted[] = " (deleted)";
	const size_t size = strlen(exe), ending = sizeof(deleted) - 1;

	return size > ending && strcmp(exe + size - ending, deleted) == 0 ? size - ending : size;
}

/*
 * True if the pid is still that of the target. It was recorded earlier, and another process may
 * have it now.
 */
static bool is_still_there(const struct file_source *source)
{
	char link[64], exe[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%u/exe", source->pid);
	const ssize_t size = readlink(link, exe, sizeof(exe) - 1);
	if (size <= 0)
		return false;
	exe[size] = 0;
	if (!source->exe)
		return true;
	const size_t length = program_size(exe);
	return length == program_size(source->exe) && strncmp(exe, source->exe, length) == 0;
}

/* The pid by which the process knows itself: the last one of NSpid. */
static uint32_t own_pid_of(uint32_t pid)
{
	char path[64], line[256];
	uint32_t own = pid;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	FILE *status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		const char *last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
		if (last)
			own = (uint32_t)strtoul(last, NULL, 10);
	}
	if (status)
		fclose(status);
	return own;
}

static int open_regular(const char *path, int flags, struct stat *out_status)
{
	/* Without O_NONBLOCK a fifo of that name would block us forever. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);

	if (fd < 0)
		return -errno;
	if (fstat(fd, out_status) == 0 && S_ISREG(out_status->st_mode))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Any user can put a file into /tmp. So a perf map is accepted only if it belongs to the owner of
 * the process or to root.
 */
static int open_perf_map(const struct file_source *source, const char *path)
{
	struct stat process, status;
	char directory[ROOT_SIZE];

	snprintf(directory, sizeof(directory), "/proc/%u", source->pid);
	if (!is_still_there(source) || stat(directory, &process))
		return -ENOENT;
	const int fd = open_regular(path, O_NOFOLLOW, &status);
	if (fd < 0 || status.st_uid == process.st_uid || status.st_uid == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Formats the target's root, which ends without a slash. Returns its length, or -ENOENT: it is not
 * there.
 */
static int format_root(const struct file_source *source, enum hi_file_kind kind, char *out_root,
		       size_t size)
{
	/* what a compiler at run time has written is on no other machine */
	if (source->sysroot && kind != HI_FILE_PERF_MAP)
		return strlen(source->sysroot) < size
			       ? snprintf(out_root, size, "%s", source->sysroot)
			       : -ENOENT;
	return is_still_there(source) ? snprintf(out_root, size, "/proc/%u/root", source->pid)
				      : -ENOENT;
}

static int open_here(const struct file_source *source, const struct profile_module *module,
		     const struct hi_file_request *request)
{
	const bool in_target = hi_file_is_in_target(request->place);
	const char *object_path = module && module->path ? module->path : "";
	char path[2 * PATH_MAX];
	struct stat status;
	int root = 0;

	/* a path in the target's root may lead to another file by now: that is HI_FILE_NAMED */
	if (request->kind == HI_FILE_MAPPED)
		return module->open_path && strstr(module->open_path, "/map_files/") &&
				       !source->sysroot && is_still_there(source)
			       ? open_regular(module->open_path, 0, &status)
			       : -ENOENT;
	if (in_target)
		root = format_root(source, (enum hi_file_kind)request->kind, path, PATH_MAX);
	if (root < 0)
		return root;
	const uint32_t pid = request->kind == HI_FILE_PERF_MAP && in_target
				     ? own_pid_of(source->pid)
				     : source->pid;
	const int err = hi_file_path(request, object_path, pid, path + root, sizeof(path) - root);
	if (err)
		return err;
	return request->kind == HI_FILE_PERF_MAP ? open_perf_map(source, path)
						 : open_regular(path, 0, &status);
}

int file_source_open(const struct file_source *source, const struct profile_module *module,
		     const struct hi_file_request *request)
{
	return source->ask_fd ? ask(source->ask_fd, module, request)
			      : open_here(source, module, request);
}
