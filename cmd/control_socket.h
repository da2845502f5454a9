/* SPDX-License-Identifier: MIT */
/*
 * control_socket.h - how `heapinject detach PID` and `dump PID` reach the session that is attached to PID: a unix socket in the user's runtime directory.
 *
 * $XDG_RUNTIME_DIR/heapinject if that directory is the user's own, else /run/heapinject for root and /tmp/heapinject-UID for others; the folder is the user's
 * own (0700) or it is not used. Both sides make sure that the other is the same user or root. One request is one line; the answer is text up to the end of the
 * connection, its first line "ok" or "failed".
 *
 * Root may ask the sessions of others. The way to their sockets leads through folders that others may write, too, and is made by them: it is walked with their
 * rights only and through no link that somebody else may have laid out (folder.h); folder, socket and who answers must all be the session's user's.
 */
#ifndef HI_CONTROL_SOCKET_H
#define HI_CONTROL_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

struct control_socket {
	int fd; /* listening; readable = a request waits. -1 = none */
	int folder;
	pid_t pid;
};

/* Replaces a dead session's socket. */
int control_socket_listen(struct control_socket *listener, pid_t pid);
/* Accepts one connection and reads its line. Returns the connection, or negative errno. Only the same user or root is served. */
int control_socket_accept(const struct control_socket *listener, char *request, size_t size);
/* Removes the socket; and its folder, if no other session has one there. */
void control_socket_close(struct control_socket *listener);

/*
 * Sends a request to the session of pid and returns the connection to read the answer from. -ENOENT, -ECONNREFUSED: there is no session; -EPERM: a stranger
 * poses as one.
 */
int control_socket_request(pid_t pid, const char *request);
/*
 * The same where `session` is the process that is attached to pid, and may have another runtime directory than we, or another user if we are root. -EPERM:
 * besides, it is another user's and we are not root.
 */
int control_socket_request_of(pid_t session, pid_t pid, const char *request);
/* The process at the other end of a request's connection, 0 = unknown. */
pid_t control_socket_peer(int connection);

#endif
