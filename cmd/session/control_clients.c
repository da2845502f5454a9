/* SPDX-License-Identifier: MIT */
/* control_clients.c - see control_clients.h. */
#include "control_clients.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

#define REQUEST_DEADLINE_NS 1000000000ull

/* Takes a client out of the list, and returns its connection. */
static int take(struct control_clients *clients, size_t index)
{
	const int connection = clients->client[index].connection;

	clients->count--;
	memmove(clients->client + index, clients->client + index + 1,
		(clients->count - index) * sizeof(*clients->client));
	return connection;
}

void control_clients_add(struct control_clients *clients, int connection)
{
	if (clients->count == CONTROL_CLIENTS_MAX)
		close(take(clients, 0));
	clients->client[clients->count++] = (struct control_client){
		.connection = connection, .until_ns = clock_now_ns() + REQUEST_DEADLINE_NS};
}

int control_clients_next(struct control_clients *clients, char *request, size_t size)
{
	const uint64_t now_ns = clients->count ? clock_now_ns() : 0;

	for (size_t i = 0; i < clients->count;) {
		const struct control_client *client = &clients->client[i];
		const ssize_t got = recv(client->connection, request, size - 1, MSG_DONTWAIT);
		const int is_silent = got < 0 && (errno == EAGAIN || errno == EINTR);

		if (got > 0) {
			request[got] = 0;
			request[strcspn(request, "\n")] = 0;
			return take(clients, i);
		}
		if (is_silent && now_ns < client->until_ns)
			i++;
		else
			close(take(clients, i));
	}
	return -EAGAIN;
}

void control_clients_close(struct control_clients *clients)
{
	while (clients->count)
		close(take(clients, 0));
}
