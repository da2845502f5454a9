/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - a victim whose threads all wait: each in another system call, over and over, and
 * counts how often that fails with EINTR.
 */
#ifndef HI_WAITERS_H
#define HI_WAITERS_H

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "victim.h"

static struct victim_page *waiter_page;

/* result: of a system call that is to time out, or to end in EAGAIN */
static inline void waited(long result)
{
	if (result < 0 && errno == EINTR)
		waiter_page->interrupted++;
	waiter_page->damage += result < 0 && errno > 133; /* the kernel's own codes: restart me */
	waiter_page->progress++;
}

enum { WAIT_MS = 20 };
static const struct timespec wait_time = {.tv_nsec = WAIT_MS * 1000000};

static inline void wait_nanosleep(void)
{
	struct timespec rest;

	waited(nanosleep(&wait_time, &rest));
}

static inline void wait_poll(void)
{
	waited(poll(NULL, 0, WAIT_MS));
}

static inline void wait_ppoll_masked(void)
{
	sigset_t mask;

	sigfillset(&mask);
	waited(ppoll(NULL, 0, &wait_time, &mask));
}

static inline void wait_select(void)
{
	waited(select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = WAIT_MS * 1000}));
}

static inline void wait_futex(void)
{
	uint32_t word = 0;

	waited(syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, &wait_time));
}

/*
 * A child that ends without SIGCHLD. The kernel lets a signal that is ignored by default interrupt
 * another thread's wait if it comes while the thread it is for is stopped (docs/safety.md, "What
 * remains"), and these here would come in the midst of it.
 */
static inline pid_t fork_silently(void)
{
	return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

static inline void wait_read(void)
{
	/* A pipe never times out: the writer is another thread of ours. */
	static int pipe_end[2];
	char byte;

	if (pipe_end[0] == 0 && pipe(pipe_end))
		abort();
	if (fork_silently() == 0) {
		usleep(WAIT_MS * 1000);
		_exit(write(pipe_end[1], "", 1) != 1);
	}
	waited(read(pipe_end[0], &byte, 1));
	while (waitpid(-1, NULL, __WALL | __WNOTHREAD) < 0 && errno == EINTR)
		waiter_page->interrupted++;
}

static inline void epoll_once(const sigset_t *mask)
{
	static __thread int epoll = -1;
	struct epoll_event event;

	if (epoll < 0)
		epoll = epoll_create1(0);
	waited(epoll_pwait(epoll, &event, 1, WAIT_MS, mask));
}

static inline void wait_epoll(void)
{
	epoll_once(NULL);
}

static inline void wait_epoll_masked(void)
{
	sigset_t mask;

	sigfillset(&mask);
	epoll_once(&mask);
}

static inline void wait_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	waited(sigtimedwait(&set, NULL, &wait_time));
}

static inline void wait_recv_timed(void)
{
	static int pair[2];
	char byte;

	if (pair[0] == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_usec = WAIT_MS * 1000},
		   sizeof(struct timeval));
	waited(recv(pair[0], &byte, 1, 0));
}

static inline void wait_io_events(void)
{
	static unsigned long context;
	struct timespec time = wait_time;
	uint64_t event[4];

	if (context == 0 && syscall(SYS_io_setup, 1, &context))
		abort();
	waited(syscall(SYS_io_getevents, context, 1, 1, event, &time));
}

static void (*const wait_once[])(void) = {wait_nanosleep,  wait_poll,         wait_ppoll_masked,
					  wait_select,     wait_futex,        wait_read,
					  wait_epoll,      wait_epoll_masked, wait_sigtimedwait,
					  wait_recv_timed, wait_io_events};
#define WAITERS (sizeof(wait_once) / sizeof(wait_once[0]))

static inline void *waiter_thread(void *which)
{
	void (*wait)(void) = wait_once[(uintptr_t)which];

	for (;;)
		wait();
	return NULL;
}

static inline void waiters(struct victim_page *page)
{
	pthread_t thread;

	waiter_page = page;
	for (uintptr_t i = 0; i < WAITERS; i++)
		pthread_create(&thread, NULL, waiter_thread, (void *)i);
	usleep(50000);
	page->ready = 1;
	for (;;)
		pause();
}

#endif
