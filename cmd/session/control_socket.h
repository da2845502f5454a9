/* SPDX-License-Identifier: MIT */
/*
 * control_socket.h - how `heapinject detach PID` and `dump PID` reach the session that is attached
 * to PID: a unix socket in the user's runtime directory.
 *
 * The directory of the sockets is $XDG_RUNTIME_DIR/heapinject if XDG_RUNTIME_DIR belongs to the
 * user, else /run/heapinject for root and /tmp/heapinject-UID for others. It is used only if it
 * belongs to the user and others cannot write to it (it is created with 0700). Both sides check
 * that the other one is the same user or root. A request is one line. The answer is text up to the
 * end of the connection; its first line is "ok" or "failed".
 *
 * Root may send requests to the sessions of other users. The paths to their sockets lead through
 * directories that those users created and that others may write to. So root walks such a path with
 * the rights of the session's user only, and follows no link that another user may have created
 * (directory.h). The directory, the socket and the answering process must all belong to the
 * session's user.
 */
#ifndef HI_CONTROL_SOCKET_H
#define HI_CONTROL_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#include "control_clients.h"

struct control_socket {
	int fd; /* listening; readable = a request is waiting. -1 = none */
	int directory;
	pid_t pid;
	struct control_clients clients;
};

/* Creates the socket, in place of one that a dead session left. Returns 0 or negative errno. */
int control_socket_listen(struct control_socket *listener, pid_t pid);
/*
 * Accepts the connections that there are, and reads the line of one, without waiting: to be called
 * again and again, as clients send their lines later. Returns the connection, or -EAGAIN: there is
 * no request now. Only the same user or root is served.
 */
int control_socket_accept(struct control_socket *listener, char *request, size_t size);
/* Removes the socket, and its directory if no other session has a socket there. */
void control_socket_close(struct control_socket *listener);

/*
 * Sends a request to the session of pid. Returns the connection from which the answer can be read,
 * or negative errno. -ENOENT, -ECONNREFUSED: there is no session; -EPERM: a process of another user
 * poses as one.
 */
int control_socket_request(pid_t pid, const char *request);
/*
 * The same if `session` is the process that is attached to pid. It may have another runtime
 * directory than the caller, or another user if the caller is root. -EPERM: also if it belongs to
 * another user and the caller is not root.
 */
int control_socket_request_of(pid_t session, pid_t pid, const char *request);
/*
 * The pids of which there are sockets in the directory of that session's process, or in the
 * caller's own with session = 0; sockets of dead sessions, too. Returns how many, at most `max`.
 */
size_t control_socket_list(pid_t session, pid_t *out_pids, size_t max);
/*
 * Removes the caller's own socket of pid if nobody listens there: its session was killed. To be
 * called while no session begins for pid.
 */
void control_socket_forget(pid_t pid);
/* The same of all whose process is gone, too, as nobody will attach to those again. */
void control_socket_sweep(void);
/* The pid of the process at the other end of a request's connection; 0 = unknown. */
pid_t control_socket_peer(int connection);

#endif
