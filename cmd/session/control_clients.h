/* SPDX-License-Identifier: MIT */
/*
 * control_clients.h - clients of a control socket (control_socket.h) that have connected, and have
 * not sent their request yet. A session waits for none of them.
 *
 * A client that stays silent is closed after a second, or as soon as there are too many. Those that
 * came first are served first. Zero-initialized = there are none.
 */
#ifndef HI_CONTROL_CLIENTS_H
#define HI_CONTROL_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

#define CONTROL_CLIENTS_MAX 16u

struct control_client {
	int connection;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

struct control_clients {
	struct control_client client[CONTROL_CLIENTS_MAX]; /* in the order in which they came */
	size_t count;
};

/* Takes over the connection. If there is no room, the client that has been silent longest goes. */
void control_clients_add(struct control_clients *clients, int connection);
/*
 * Reads the request of the next client that has sent one, a line, without waiting. Returns its
 * connection, which is the caller's from here on, or -EAGAIN.
 */
int control_clients_next(struct control_clients *clients, char *request, size_t size);
void control_clients_close(struct control_clients *clients);

#endif
