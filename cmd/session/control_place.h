/* SPDX-License-Identifier: MIT */
/*
 * control_place.h - the directory in which a session has its control socket (control_socket.h), as
 * the session itself sees it: it may be in a container.
 *
 * A session in another mount namespace has another /run. Its directory is found by its root
 * (/proc/PID/root), in which all of a path is looked up, whatever links say.
 */
#ifndef HI_CONTROL_PLACE_H
#define HI_CONTROL_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "identity.h"
#include "roots.h"

struct control_place {
	pid_t session;         /* 0 = this process */
	struct identity owner; /* by their numbers here */
	uid_t uid;             /* the owner's number there */
	char *environment;     /* of the session */
	const char *runtime;   /* its XDG_RUNTIME_DIR; NULL = not set */
	bool is_elsewhere;     /* in another mount namespace */
	struct roots roots;    /* of the session */
};

/* That of this process. */
struct control_place control_place_own(void);
/*
 * That of the process of a session. 0 or negative errno; -EPERM: it is another user's, and this one
 * is not root.
 */
must_check int control_place_of(pid_t session, struct control_place *out_place);
void control_place_close(struct control_place *place);

/*
 * Opens the directory, with O_PATH. One that belongs to another user, or that others may write to,
 * is refused: a socket there could end sessions. All later steps use the descriptor that was
 * checked, whatever the path leads to by then.
 */
must_check int control_place_open(const struct control_place *place, bool creates,
				  int *out_directory);
/* Removes the directory of this process. That fails if other sessions have sockets in it. */
void control_place_remove(void);

#endif
