/* SPDX-License-Identifier: MIT */
/* control_socket.c - see control_socket.h. */
#include "control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "directory.h"
#include "hi_path.h"
#include "hi_units.h"
#include "identity.h"
#include "proc_file.h"
#include "procfs.h"

/*
 * Whether the directory belongs to this user. A runtime directory of another user, as after sudo,
 * must not be used.
 */
static bool is_owned(const char *directory, uid_t owner)
{
	struct stat status;
	return lstat(directory, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == owner;
}

/*
 * The path of the socket directory of that user's sessions. runtime: their XDG_RUNTIME_DIR, or
 * NULL.
 */
static int directory_path(const char *runtime, uid_t owner, char *path, size_t size)
{
	int length;
	if (runtime && *runtime == '/' && is_owned(runtime, owner))
		length = snprintf(path, size, "%s/heapinject", runtime);
	else if (owner == 0)
		length = snprintf(path, size, "/run/heapinject");
	else
		length = snprintf(path, size, "/tmp/heapinject-%u", (unsigned)owner);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/*
 * Opens the socket directory, with O_PATH. A directory that belongs to another user, or that others
 * may write to, is refused: a socket there could end sessions. All later steps use the descriptor
 * that was checked, whatever the path leads to by then.
 */
static int open_directory(const char *runtime, uid_t owner, bool create, int *out_directory)
{
	char path[PATH_MAX];
	struct stat status;
	int parent, err = directory_path(runtime, owner, path, sizeof(path));
	if (!err)
		err = directory_open(path, &parent);
	if (err)
		return err;
	const char *name = hi_base_name(path);
	if (create && mkdirat(parent, name, 0700) && errno != EEXIST)
		err = -errno;
	const int directory =
		err ? -1 : openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!err && directory < 0)
		err = -errno;
	close(parent);
	if (!err && (fstat(directory, &status) || status.st_uid != owner || status.st_mode & 022)) {
		close(directory);
		err = -EPERM;
	}
	if (!err)
		*out_directory = directory;
	return err;
}

static struct sockaddr_un socket_address(int directory, pid_t pid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%d.sock",
		 proc_path_of_fd(directory).text, (int)pid);
	return address;
}

/* Removes the socket directory. That fails if other sessions have sockets in it, as it should. */
static void remove_directory(void)
{
	char path[PATH_MAX];
	if (!directory_path(getenv("XDG_RUNTIME_DIR"), geteuid(), path, sizeof(path)))
		(void)rmdir(path);
}

static int listen_once(struct control_socket *listener, pid_t pid)
{
	*listener = (struct control_socket){.fd = -1, .directory = -1, .pid = pid};
	int err = open_directory(getenv("XDG_RUNTIME_DIR"), geteuid(), true, &listener->directory);
	if (err)
		return err;
	const struct sockaddr_un address = socket_address(listener->directory, pid);
	unlink(address.sun_path);
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd >= 0 &&
	    !bind(listener->fd, (const struct sockaddr *)&address, sizeof(address)) &&
	    !listen(listener->fd, CONTROL_CLIENTS_MAX))
		return 0;
	err = -errno;
	close(listener->directory);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
	return err;
}

int control_socket_listen(struct control_socket *listener, pid_t pid)
{
	const int err = listen_once(listener, pid);
	/* another session has ended, and has just removed the directory */
	return err == -ENOENT ? listen_once(listener, pid) : err;
}

/*
 * Whether the peer is that user or root. Only these may send requests, and only their answers are
 * believed.
 */
static bool is_welcome(int connection, uid_t user)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == user || peer.uid == 0);
}

int control_socket_accept(struct control_socket *listener, char *request, size_t size)
{
	int connection;
	/* no more at once than there is room for: the others are let in next time */
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		connection = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
		if (connection < 0)
			break;
		if (is_welcome(connection, geteuid()))
			control_clients_add(&listener->clients, connection);
		else
			close(connection);
	}
	return control_clients_next(&listener->clients, request, size);
}

void control_socket_close(struct control_socket *listener)
{
	if (listener->fd < 0)
		return;
	control_clients_close(&listener->clients);
	unlink(socket_address(listener->directory, listener->pid).sun_path);
	close(listener->fd);
	close(listener->directory);
	remove_directory();
	listener->fd = -1;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/*
 * Opens the socket itself, with O_PATH. A symbolic link in its place, which might lead to any
 * socket of this machine, is not followed.
 */
static int open_socket(const char *runtime, uid_t owner, pid_t pid, int *out_socket)
{
	char name[32];
	struct stat status;
	int directory, err = open_directory(runtime, owner, false, &directory);
	if (err)
		return err;
	snprintf(name, sizeof(name), "%d.sock", (int)pid);
	const int found = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	err = found < 0 ? -errno : 0;
	close(directory);
	if (!err &&
	    (fstat(found, &status) || !S_ISSOCK(status.st_mode) || status.st_uid != owner)) {
		close(found);
		err = -EPERM;
	}
	if (!err)
		*out_socket = found;
	return err;
}

static int connect_to(int found, uid_t owner)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err = 0;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", proc_path_of_fd(found).text);
	const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0 ||
	    connect(connection, (const struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else if (!is_welcome(connection, owner))
		err = -EPERM;
	if (err && connection >= 0)
		close(connection);
	return err ? err : connection;
}

/* Sends the request, and closes `found`. Returns the connection or negative errno. */
static int ask(int found, uid_t owner, const char *request)
{
	const int connection = connect_to(found, owner);
	close(found);
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

int control_socket_request(pid_t pid, const char *request)
{
	int found;
	const int err = open_socket(getenv("XDG_RUNTIME_DIR"), geteuid(), pid, &found);
	return err ? err : ask(found, geteuid(), request);
}

/* XDG_RUNTIME_DIR in the environment with which the session was started; NULL: not set. */
static const char *runtime_in(const char *environment, size_t size)
{
	static const char name[] = "XDG_RUNTIME_DIR=";
	for (size_t at = 0; at < size; at += strlen(environment + at) + 1)
		if (!strncmp(environment + at, name, sizeof(name) - 1))
			return environment + at + sizeof(name) - 1;
	return NULL;
}

/*
 * Opens the socket with the rights of the session's user. So nothing that this user created can
 * lead root to where the user cannot go.
 */
static int open_socket_as(struct identity owner, const char *runtime, pid_t pid, int *out_socket)
{
	struct identity_window window;
	int err = identity_begin(owner, &window);
	if (err)
		return err;
	err = open_socket(runtime, owner.uid, pid, out_socket);
	identity_end(&window);
	return err;
}

/* environment: owned by the caller, also if there is none (NULL) on negative errno */
static int read_owner(pid_t session, struct identity *out_owner, char **out_environment,
		      size_t *out_size)
{
	struct proc_status status;
	const int err = proc_status_read(session, session, &status);
	*out_environment = NULL;
	if (err)
		return err;
	*out_owner = (struct identity){.uid = status.uid_effective, .gid = status.gid_effective};
	if (geteuid() != 0 && geteuid() != out_owner->uid)
		return -EPERM;
	return proc_file_read(session, 0, "environ", out_environment, out_size);
}

int control_socket_request_of(pid_t session, pid_t pid, const char *request)
{
	struct identity owner;
	char *environment;
	size_t size;
	int found, err = read_owner(session, &owner, &environment, &size);
	if (err)
		return err;
	err = open_socket_as(owner, runtime_in(environment, size), pid, &found);
	free(environment);
	return err ? err : ask(found, owner.uid, request);
}

/* Reads the directory with the rights of its owner, as open_socket_as(). */
static DIR *list_as(struct identity owner, const char *runtime)
{
	struct identity_window window;
	int directory, listed = -1;
	if (identity_begin(owner, &window))
		return NULL;
	if (!open_directory(runtime, owner.uid, false, &directory)) {
		listed = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(directory);
	}
	identity_end(&window);
	DIR *list = listed < 0 ? NULL : fdopendir(listed);
	if (!list && listed >= 0)
		close(listed);
	return list;
}

/* 0: no name of a socket */
static pid_t pid_of_socket(const char *name)
{
	uint64_t pid;
	const char *end;
	return !hi_parse_digits(name, &pid, &end) && !strcmp(end, ".sock") && pid <= INT32_MAX
		       ? (pid_t)pid
		       : 0;
}

size_t control_socket_list(pid_t session, pid_t *out_pids, size_t max)
{
	struct identity owner = {.uid = geteuid(), .gid = getegid()};
	char *environment = NULL;
	size_t size, count = 0;
	const struct dirent *entry;
	if (session && read_owner(session, &owner, &environment, &size))
		return 0;
	DIR *list =
		list_as(owner, session ? runtime_in(environment, size) : getenv("XDG_RUNTIME_DIR"));
	free(environment);
	while (list && count < max && (entry = readdir(list))) {
		const pid_t pid = pid_of_socket(entry->d_name);
		if (pid)
			out_pids[count++] = pid;
	}
	if (list)
		closedir(list);
	return count;
}

void control_socket_forget(pid_t pid)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int found, directory;
	if (open_socket(runtime, geteuid(), pid, &found))
		return;
	const int connection = connect_to(found, geteuid());
	close(found);
	if (connection >= 0)
		close(connection);
	if (connection != -ECONNREFUSED || open_directory(runtime, geteuid(), false, &directory))
		return;
	unlink(socket_address(directory, pid).sun_path);
	close(directory);
	remove_directory();
}

void control_socket_sweep(void)
{
	const struct dirent *entry;
	DIR *list = list_as((struct identity){.uid = geteuid(), .gid = getegid()},
			    getenv("XDG_RUNTIME_DIR"));
	while (list && (entry = readdir(list))) {
		const pid_t pid = pid_of_socket(entry->d_name);
		if (pid && kill(pid, 0) && errno == ESRCH)
			control_socket_forget(pid);
	}
	if (list)
		closedir(list);
}

pid_t control_socket_peer(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}
