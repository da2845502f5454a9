/* SPDX-License-Identifier: MIT */
/* control_socket.c - see control_socket.h. */
#include "control_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_DEADLINE_MS 1000

static int folder_path(char *path, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int length;
	if (runtime && *runtime == '/')
		length = snprintf(path, size, "%s/heapinject", runtime);
	else if (geteuid() == 0)
		length = snprintf(path, size, "/run/heapinject");
	else
		length = snprintf(path, size, "/tmp/heapinject-%u", (unsigned)geteuid());
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* A folder that somebody else owns or may write is no place for a socket that ends sessions. */
static int check_folder(const char *path)
{
	struct stat status;
	if (lstat(path, &status))
		return -errno;
	return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 022) ? 0 : -EPERM;
}

static int socket_address(struct sockaddr_un *address, pid_t pid)
{
	char folder[sizeof address->sun_path - 16];
	int err = folder_path(folder, sizeof folder);
	if (err)
		return err;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	const int length = snprintf(address->sun_path, sizeof address->sun_path, "%s/%d.sock", folder, (int)pid);
	return length < 0 || (size_t)length >= sizeof address->sun_path ? -ENAMETOOLONG : 0;
}

int control_socket_listen(struct control_socket *listener, pid_t pid)
{
	char folder[sizeof listener->path - 16];
	struct sockaddr_un address;
	int err = folder_path(folder, sizeof folder);
	if (err)
		return err;
	if (mkdir(folder, 0700) && errno != EEXIST)
		return -errno;
	err = check_folder(folder);
	if (!err)
		err = socket_address(&address, pid);
	if (err)
		return err;
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		return -errno;
	unlink(address.sun_path);
	if (bind(listener->fd, (struct sockaddr *)&address, sizeof address) || listen(listener->fd, 4)) {
		err = -errno;
		close(listener->fd);
		listener->fd = -1;
		return err;
	}
	memcpy(listener->path, address.sun_path, sizeof listener->path);
	return 0;
}

static int is_welcome(int connection)
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
	unlink(listener->path);
	close(listener->fd);
	listener->fd = -1;
}

int control_socket_request(pid_t pid, const char *request)
{
	struct sockaddr_un address;
	int err = socket_address(&address, pid);
	if (err)
		return err;
	const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0)
		return -errno;
	const size_t size = strlen(request);
	if (connect(connection, (struct sockaddr *)&address, sizeof address) || send(connection, request, size, MSG_NOSIGNAL) != (ssize_t)size) {
		err = -errno;
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
