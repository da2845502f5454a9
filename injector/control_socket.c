/* SPDX-License-Identifier: MIT */
/* control_socket.c - see control_socket.h. */
#include "control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_DEADLINE_MS 1000

/* A runtime directory that is not ours, as after sudo, is not for us to put things into. */
static bool is_own(const char *folder)
{
	struct stat status;
	return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

static int folder_path(char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int length;
	if (runtime && *runtime == '/' && is_own(runtime))
		length = snprintf(path, size, "%s/heapinject", runtime);
	else if (geteuid() == 0)
		length = snprintf(path, size, "/run/heapinject");
	else
		length = snprintf(path, size, "/tmp/heapinject-%u", (unsigned)geteuid());
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/*
 * Opens the folder, with O_PATH. One that somebody else owns or may write is no place for a socket that ends sessions; and what was looked at is what is used
 * from here on, whatever its name leads to by then.
 */
static int open_folder(bool create, int *out_folder)
{
	char path[PATH_MAX];
	struct stat status;
	int err = folder_path(path, sizeof path);
	if (err)
		return err;
	if (create && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	const int folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	if (fstat(folder, &status) || status.st_uid != geteuid() || status.st_mode & 022) {
		close(folder);
		return -EPERM;
	}
	*out_folder = folder;
	return 0;
}

static struct sockaddr_un socket_address(int folder, pid_t pid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%d.sock", folder, (int)pid);
	return address;
}

int control_socket_listen(struct control_socket *listener, pid_t pid)
{
	*listener = (struct control_socket){.fd = -1, .folder = -1, .pid = pid};
	int err = open_folder(true, &listener->folder);
	if (err)
		return err;
	const struct sockaddr_un address = socket_address(listener->folder, pid);
	unlink(address.sun_path);
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener->fd >= 0 && !bind(listener->fd, (const struct sockaddr *)&address, sizeof address) && !listen(listener->fd, 4))
		return 0;
	err = -errno;
	close(listener->folder);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
	return err;
}

/* Of the same user, or root: who may give us orders, and whose word we take for an answer. */
static bool is_welcome(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) && (peer.uid == geteuid() || peer.uid == 0);
}

int control_socket_accept(const struct control_socket *listener, char *request, size_t size)
{
	const int connection = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
	if (connection < 0)
		return -errno;
	struct pollfd readable = {.fd = connection, .events = POLLIN};
	ssize_t got = -1;
	if (is_welcome(connection) && poll(&readable, 1, REQUEST_DEADLINE_MS) > 0)
		got = read(connection, request, size - 1);
	if (got <= 0) {
		close(connection);
		return -EPROTO;
	}
	request[got] = 0;
	request[strcspn(request, "\n")] = 0;
	return connection;
}

void control_socket_close(struct control_socket *listener)
{
	if (listener->fd < 0)
		return;
	unlink(socket_address(listener->folder, listener->pid).sun_path);
	close(listener->fd);
	close(listener->folder);
	listener->fd = -1;
}

static int connect_to(pid_t pid)
{
	int folder;
	int err = open_folder(false, &folder);
	if (err)
		return err;
	const struct sockaddr_un address = socket_address(folder, pid);
	const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0 || connect(connection, (const struct sockaddr *)&address, sizeof address))
		err = -errno;
	else if (!is_welcome(connection))
		err = -EPERM;
	close(folder);
	if (err && connection >= 0)
		close(connection);
	return err ? err : connection;
}

int control_socket_request(pid_t pid, const char *request)
{
	const int connection = connect_to(pid);
	if (connection < 0)
		return connection;
	const size_t size = strlen(request);
	if (send(connection, request, size, MSG_NOSIGNAL) != (ssize_t)size) {
		const int err = -errno;
		close(connection);
		return err;
	}
	return connection;
}

pid_t control_socket_peer(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}
