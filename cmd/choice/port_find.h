/* SPDX-License-Identifier: MIT */
/*
 * port_find.h - the processes that listen on a TCP port, IPv4 or IPv6. Of a family that shares the
 * socket, all do.
 */
#ifndef HI_PORT_FIND_H
#define HI_PORT_FIND_H

#include <stdint.h>

#include "processes_found.h"

/* Sockets that listen, by their inodes: a number is unique across network namespaces. */
#define PORT_SOCKETS_MAX 1024u
struct port_sockets {
	uint64_t inode[PORT_SOCKETS_MAX];
	size_t count; /* further ones are left out */
};

/* Adds the sockets that listen on that port; text: of /proc/PID/net/tcp or tcp6. */
void port_sockets_parse(const char *text, uint16_t port, struct port_sockets *sockets);
/*
 * Adds the processes that have such a socket, of all network namespaces that can be seen. 0,
 * -ENOMEM, or another negative errno: /proc cannot be read. -EACCES: somebody listens, but who it
 * is cannot be seen.
 */
must_check int port_find(uint16_t port, struct processes_found *found);

#endif
