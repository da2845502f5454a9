/* SPDX-License-Identifier: MIT */
/*
 * A library that is preloaded into a server: each time that it has waited for a client while the
 * file $LOSER/go exists, the process loses a block of 1000 bytes, and a byte more is in the file
 * $LOSER/PID.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BLOCK_BYTES 1000

__attribute__((noinline)) void *lose_block(void)
{
	char *block = malloc(BLOCK_BYTES);

	return block ? memset(block, 1, BLOCK_BYTES) : NULL;
}

static void lose(void)
{
	const char *directory = getenv("LOSER");
	char path[256];

	/* heapinject, which starts the server, serves requests, too */
	if (!strcmp(program_invocation_short_name, "heapinject"))
		return;
	snprintf(path, sizeof(path), "%s/go", directory ? directory : "");
	if (access(path, F_OK) || !lose_block())
		return;
	snprintf(path, sizeof(path), "%s/%d", directory, (int)getpid());
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (write(fd, "x", 1) != 1)
		abort();
	close(fd);
}

int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
	static int (*next)(int, struct epoll_event *, int, int);

	if (!next)
		next = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
	const int got = next(fd, events, count, timeout);
	if (got > 0)
		lose();
	return got;
}

int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
	static int (*next)(int, struct sockaddr *, socklen_t *, int);

	if (!next)
		next = (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT,
										"accept4");
	const int got = next(fd, address, size, flags);
	if (got >= 0)
		lose();
	return got;
}

int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
	static int (*next)(int, struct sockaddr *, socklen_t *);

	if (!next)
		next = (int (*)(int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "accept");
	const int got = next(fd, address, size);
	if (got >= 0)
		lose();
	return got;
}
