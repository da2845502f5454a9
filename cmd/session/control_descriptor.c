/* SPDX-License-Identifier: MIT */
/* control_descriptor.c - see control_descriptor.h. */
#include "control_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proc_file.h"

union descriptor_room {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

int control_descriptor_give(int connection, int fd)
{
	static char text[] = "ok\n";
	union descriptor_room control = {
		.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {.iov_base = text, .iov_len = strlen(text)};
	const struct msghdr message = {.msg_iov = &part,
				       .msg_iovlen = 1,
				       .msg_control = &control,
				       .msg_controllen = sizeof(control)};

	control.header.cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/*
 * Whether it is memory that nobody can change. A session of another user may give any descriptor,
 * also one that leads to what only the caller may open.
 */
static bool is_sealed(int fd)
{
	const int wanted = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & wanted) == wanted;
}

int control_descriptor_take(int connection, char *text, size_t size)
{
	union descriptor_room control;
	struct iovec part = {.iov_base = text, .iov_len = size - 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	const ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd;

	text[got > 0 ? got : 0] = 0;
	if (got < 0)
		return -errno;
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -EREMOTEIO;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	const bool is_safe = is_sealed(fd);
	const int own = is_safe ? open(proc_path_of_fd(fd).text, O_RDONLY | O_CLOEXEC) : -1;
	const int err = !is_safe ? -EPERM : own < 0 ? -errno : 0;
	close(fd);
	return err ? err : own;
}
