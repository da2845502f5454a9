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

#include "control_place.h"
#include "hi_units.h"
#include "namespaces.h"
#include "proc_file.h"
#include "procfs.h"

static struct sockaddr_un socket_address(int directory, pid_t pid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%d.sock",
		 proc_path_of_fd(directory).text, (int)pid);
	return address;
}

static int listen_once(struct control_socket *listener, pid_t pid)
{
	*listener = (struct control_socket){.fd = -1, .directory = -1, .pid = pid};
	const struct control_place own = control_place_own();
	int err = control_place_open(&own, true, &listener->directory);
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
	control_place_remove();
	listener->fd = -1;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/*
 * Opens the socket itself, with O_PATH. A symbolic link in its place, which might lead to any
 * socket of this machine, is not followed. pid: as the session knows the process.
 */
static int open_socket(const struct control_place *place, pid_t pid, int *out_socket)
{
	char name[32];
	struct stat status;
	int directory, err = control_place_open(place, false, &directory);
	if (err)
		return err;
	snprintf(name, sizeof(name), "%d.sock", (int)pid);
	const int found = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	err = found < 0 ? -errno : 0;
	close(directory);
	if (!err && (fstat(found, &status) || !S_ISSOCK(status.st_mode) ||
		     status.st_uid != place->owner.uid)) {
		close(found);
		err = -EPERM;
	}
	if (!err)
		*out_socket = found;
	return err;
}

/*
 * In a container's /run, and in one that containers share, a number is a process of another pid
 * namespace: the answer must come from the session that is meant, or from this namespace.
 */
static bool is_meant(const struct control_place *place, int connection)
{
	const pid_t peer = control_socket_peer(connection);

	return place->is_elsewhere ? peer == place->session
				   : peer && !namespaces_differ(peer, "pid");
}

static int connect_to(const struct control_place *place, int found)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err = 0;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", proc_path_of_fd(found).text);
	const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0 ||
	    connect(connection, (const struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else if (!is_welcome(connection, place->owner.uid))
		err = -EPERM;
	else if (!is_meant(place, connection))
		err = -ENOENT;
	if (err && connection >= 0)
		close(connection);
	return err ? err : connection;
}

/* A user namespace may have no number for root: then root asks as the session's user. */
static int connect_as_welcome(const struct control_place *place, int found)
{
	const bool changes = geteuid() == 0 && place->owner.uid != place->uid;

	if (changes && seteuid(place->owner.uid))
		return -errno;
	const int connection = connect_to(place, found);
	if (changes && seteuid(0)) {
		if (connection >= 0)
			close(connection);
		return -EPERM;
	}
	return connection;
}

/* Sends the request, and closes `found`. Returns the connection or negative errno. */
static int ask(const struct control_place *place, int found, const char *request)
{
	const int connection = connect_as_welcome(place, found);
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
	const struct control_place own = control_place_own();
	int found;
	const int err = open_socket(&own, pid, &found);
	return err ? err : ask(&own, found, request);
}

/*
 * Opens the socket with the rights of the session's user. So nothing that this user created can
 * lead root to where the user cannot go.
 */
static int open_socket_as_owner(const struct control_place *place, pid_t pid, int *out_socket)
{
	struct identity_window window;
	const pid_t number = place->is_elsewhere ? namespaces_pid(place->session, pid) : pid;
	int err = identity_begin(place->owner, &window);
	if (err)
		return err;
	err = open_socket(place, number, out_socket);
	identity_end(&window);
	return err;
}

int control_socket_request_of(pid_t session, pid_t pid, const char *request)
{
	struct control_place place;
	int found, err = control_place_of(session, &place);
	if (err)
		return err;
	err = open_socket_as_owner(&place, pid, &found);
	if (!err)
		err = ask(&place, found, request);
	control_place_close(&place);
	return err;
}

/* Reads the directory with the rights of its owner, as open_socket_as_owner(). */
static DIR *list_as_owner(const struct control_place *place)
{
	struct identity_window window;
	int directory, listed = -1;
	if (identity_begin(place->owner, &window))
		return NULL;
	if (!control_place_open(place, false, &directory)) {
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
	struct control_place place = control_place_own();
	size_t count = 0;
	const struct dirent *entry;
	if (session && control_place_of(session, &place))
		return 0;
	DIR *list = list_as_owner(&place);
	while (list && count < max && (entry = readdir(list))) {
		pid_t pid = pid_of_socket(entry->d_name);
		if (pid && place.is_elsewhere)
			pid = namespaces_find(session, pid);
		if (pid)
			out_pids[count++] = pid;
	}
	if (list)
		closedir(list);
	control_place_close(&place);
	return count;
}

void control_socket_forget(pid_t pid)
{
	const struct control_place own = control_place_own();
	int found, directory;
	if (open_socket(&own, pid, &found))
		return;
	const int connection = connect_to(&own, found);
	close(found);
	if (connection >= 0)
		close(connection);
	if (connection != -ECONNREFUSED || control_place_open(&own, false, &directory))
		return;
	unlink(socket_address(directory, pid).sun_path);
	close(directory);
	control_place_remove();
}

void control_socket_sweep(void)
{
	const struct control_place own = control_place_own();
	const struct dirent *entry;
	DIR *list = list_as_owner(&own);
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
