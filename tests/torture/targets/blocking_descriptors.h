/* SPDX-License-Identifier: MIT */
/*
 * blocking_descriptors.h - part of blocking.c: what a call of its table is, and the descriptors and
 * other objects that there is to wait for.
 */
#ifndef BLOCKING_DESCRIPTORS_H
#define BLOCKING_DESCRIPTORS_H

#include "selfcheck.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#define WAIT_MS 400
#define WAIT_NS (WAIT_MS * 1000000L)
#define SLOW_NS (WAIT_NS / 2)
/* Some count by ticks, which come late where a CPU is taken away, as in an emulated system. */
#define EARLY_NS (WAIT_NS / 20)
#define BULK 1000000      /* more than any pipe or socket holds: such a transfer blocks */
#define PAUSE_US 20000    /* between transfers, so that there is a time to stop the thread at */
#define STALL_ROUNDS 1000 /* of the reader, between two looks at what waits for a slow one */

/* What a thread has to know of its call. */
struct call;
struct caller {
	const struct call *call;
	struct self_worker *worker;
	int fd[2];
	long eintr, cut_short, slow; /* the counts are the thread's own, main reads them */
	char *bulk;
	void *extra;
	bool is_done;
};

enum expectation {
	TIMED, /* returns by itself, after WAIT_MS */
	WOKEN, /* when the helper has woken it */
	/* when all has been taken or given by the carrier, which takes some ten milliseconds */
	TRANSFER,
	/*
	 * a transfer that takes seconds. Nobody can wait for it: it may be cut short, as by job
	 * control; counted apart
	 */
	STALLED,
};

/*
 * make: prepares; false = this kernel does not have it. wait: the call, once; its result or -errno.
 * The call is expected to return `result`.
 */
struct call {
	const char *name;
	bool (*make)(struct caller *);
	long (*wait)(struct caller *);
	long result;
	enum expectation expect;
	void (*wake)(struct caller *); /* or one step of a transfer's other side */
};

static long result_of(long result)
{
	return result < 0 ? -errno : result;
}

static const struct timespec limit = {0, WAIT_NS};

/* ---- descriptors to wait on ------------------------------------------------------------------ */

static bool make_none(struct caller *c)
{
	(void)c;
	return true;
}

static bool make_pipe(struct caller *c)
{
	return pipe2(c->fd, O_CLOEXEC) == 0;
}

static bool make_sockets(struct caller *c)
{
	const struct timeval timeout = {0, WAIT_MS * 1000};

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->fd))
		return false;
	return setsockopt(c->fd[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	       setsockopt(c->fd[0], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0;
}

static bool make_untimed_sockets(struct caller *c)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->fd) == 0;
}

static bool fill(int fd)
{
	char bytes[4096] = {0};

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	return fcntl(fd, F_SETFL, 0) == 0;
}

static bool make_full_sockets(struct caller *c)
{
	return make_sockets(c) && fill(c->fd[0]);
}

static bool make_listener(struct caller *c)
{
	const struct sockaddr_in any = {.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct timeval timeout = {0, WAIT_MS * 1000};

	c->fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(c->fd[0], (const struct sockaddr *)&any, sizeof(any)) == 0 &&
	       listen(c->fd[0], 1) == 0 &&
	       setsockopt(c->fd[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0;
}

/* A listener whose queue is full: who connects waits, for so long as the socket says. */
static bool make_full_listener(struct caller *c)
{
	struct sockaddr_un *name = calloc(1, sizeof(*name));
	int first;

	name->sun_family = AF_UNIX;
	snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "blocking.%d", getpid());
	c->extra = name;
	c->fd[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(c->fd[1], (struct sockaddr *)name, sizeof(*name)) == 0 &&
	       listen(c->fd[1], 0) == 0 &&
	       connect(first, (struct sockaddr *)name, sizeof(*name)) == 0;
}

static bool make_epoll(struct caller *c)
{
	struct epoll_event event = {.events = EPOLLIN};
	int input[2];

	c->fd[0] = epoll_create1(EPOLL_CLOEXEC);
	return c->fd[0] >= 0 && pipe2(input, O_CLOEXEC) == 0 &&
	       epoll_ctl(c->fd[0], EPOLL_CTL_ADD, input[0], &event) == 0;
}

static bool make_eventfd(struct caller *c)
{
	c->fd[0] = c->fd[1] = eventfd(0, EFD_CLOEXEC);
	return c->fd[0] >= 0;
}

static bool make_inotify(struct caller *c)
{
	c->fd[0] = inotify_init1(IN_CLOEXEC);
	c->fd[1] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd[1]);
	return c->fd[0] >= 0 && c->fd[1] >= 0 && inotify_add_watch(c->fd[0], path, IN_MODIFY) >= 0;
}

static bool make_timerfd(struct caller *c)
{
	const struct itimerspec every = {limit, limit};

	c->fd[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return c->fd[0] >= 0 && timerfd_settime(c->fd[0], 0, &every, NULL) == 0;
}

static bool make_pty(struct caller *c)
{
	c->fd[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (c->fd[1] < 0 || grantpt(c->fd[1]) || unlockpt(c->fd[1]))
		return false;
	c->fd[0] = open(ptsname(c->fd[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	return c->fd[0] >= 0;
}

static bool make_locked_file(struct caller *c)
{
	char path[40];

	c->fd[0] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd[0]);
	/* its own open file: its locks keep the other's out */
	c->fd[1] = open(path, O_RDWR | O_CLOEXEC);
	return c->fd[0] >= 0 && c->fd[1] >= 0 && flock(c->fd[1], LOCK_EX) == 0;
}

static bool make_record_lock(struct caller *c)
{
	struct flock all = {.l_type = F_WRLCK};

	return make_locked_file(c) && fcntl(c->fd[1], F_OFD_SETLK, &all) == 0;
}

static bool make_semaphore(struct caller *c)
{
	c->fd[0] = semget(IPC_PRIVATE, 1, 0600);
	return c->fd[0] >= 0;
}

static bool make_messages(struct caller *c)
{
	c->fd[0] = msgget(IPC_PRIVATE, 0600);
	return c->fd[0] >= 0;
}

struct message {
	long type;
	char text[8000];
};

static bool make_full_messages(struct caller *c)
{
	static const struct message message = {1, {0}};

	if (!make_messages(c))
		return false;
	while (msgsnd(c->fd[0], &message, sizeof(message.text), IPC_NOWAIT) == 0)
		;
	return true;
}

static bool make_queue(struct caller *c)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[40];

	snprintf(name, sizeof(name), "/blocking.%d.%s", getpid(), c->call->name);
	c->fd[0] = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
	return c->fd[0] >= 0 && mq_unlink(name) == 0;
}

static bool make_full_queue(struct caller *c)
{
	return make_queue(c) && mq_send(c->fd[0], "", 1, 0) == 0;
}

static bool make_aio(struct caller *c)
{
	aio_context_t *context = calloc(1, sizeof(*context));

	c->extra = context;
	return syscall(SYS_io_setup, 1, context) == 0;
}

static bool make_ring(struct caller *c)
{
	struct io_uring_params parameters = {0};

	c->fd[0] = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	return c->fd[0] >= 0 && (parameters.features & IORING_FEAT_EXT_ARG);
}

static bool make_written_pipe(struct caller *c)
{
	int ends[2];

	c->bulk = calloc(1, BULK);
	if (pipe2(ends, O_CLOEXEC))
		return false;
	c->fd[0] = ends[1];
	c->fd[1] = ends[0];
	return c->bulk && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

static bool make_bulk_sockets(struct caller *c)
{
	c->bulk = calloc(1, BULK);
	return c->bulk && make_untimed_sockets(c);
}

#endif
