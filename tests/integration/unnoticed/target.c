/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in the system calls which a stop can break off (man 7 signal), each a waiter of
 * its own; a wait that ends is written down. One more thread takes a signal from a timer again and
 * again and counts; one computes and checks its registers, vector registers included. Command:
 * check = answers "right", or what was noticed.
 */
#include "../target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <immintrin.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static _Atomic(const char *) noticed;
static atomic_ulong signals, computed;
static int silent_pipe[2], idle_socket;

static void notice(const char *what)
{
	atomic_store(&noticed, what);
}

static long wait_read(void)
{
	char byte;

	return read(silent_pipe[0], &byte, 1);
}

static long wait_poll(void)
{
	return poll(NULL, 0, 1000000);
}

static long wait_select(void)
{
	return select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 1000});
}

static long wait_epoll(void)
{
	struct epoll_event event;
	static int epoll;

	epoll = epoll ? epoll : epoll_create1(0);
	return epoll_wait(epoll, &event, 1, -1);
}

static long wait_nanosleep(void)
{
	return nanosleep(&(struct timespec){.tv_sec = 1000}, NULL);
}

static long wait_clock(void)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 1000;
	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static long wait_semaphore(void)
{
	static sem_t semaphore;

	return sem_wait(&semaphore);
}

static long wait_accept(void)
{
	return accept(idle_socket, NULL, NULL);
}

static long wait_receive(void)
{
	static int socket_fd;
	char byte;

	if (!socket_fd) {
		const struct timeval timeout = {.tv_sec = 1000};

		socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
		setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	}
	return recv(socket_fd, &byte, 1, 0);
}

static long wait_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 1000});
}

static long wait_child(void)
{
	static pid_t child;

	if (!child) {
		child = fork();
		if (child == 0)
			close(silent_pipe[1]); /* or it would not see the end of its parent */
		if (child == 0)
			for (char byte; read(silent_pipe[0], &byte, 1) == 1;)
				;
		if (child == 0)
			_exit(0);
	}
	return waitpid(child, NULL, 0);
}

static const struct waiter {
	const char *name;
	long (*wait)(void);
} waiters[] = {
	{"read", wait_read},
	{"poll", wait_poll},
	{"select", wait_select},
	{"epoll_wait", wait_epoll},
	{"nanosleep", wait_nanosleep},
	{"clock_nanosleep", wait_clock},
	{"sem_wait", wait_semaphore},
	{"accept", wait_accept},
	{"recv with a timeout", wait_receive},
	{"sigtimedwait", wait_signal},
	{"waitpid", wait_child},
};
#define WAITERS (sizeof(waiters) / sizeof(waiters[0]))

static void *wait_for_ever(void *which)
{
	const struct waiter *waiter = which;

	for (;;) {
		waiter->wait();
		notice(waiter->name);
	}
	return NULL;
}

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

/* 1000 signals a second to this thread alone, which allocates meanwhile. */
static void *take_signals(void *unused)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	const struct itimerspec every = {.it_interval.tv_nsec = 1000000,
					 .it_value.tv_nsec = 1000000};
	timer_t timer;
	sigset_t set;

	(void)unused;
	event._sigev_un._tid = gettid();
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (;;) {
		void *volatile block;

		errno = 77;
		block = malloc(20000);
		free(block);
		if (errno != 77)
			notice("errno");
		sched_yield();
	}
	return NULL;
}

/* The same sum twice, once in vector registers that stay loaded over many rounds. */
static void *compute(void *unused)
{
	(void)unused;
	for (uint32_t seed = 1;; seed++) {
		__m128i sum = _mm_set_epi32((int)seed, 1, 2, 3);
		uint32_t plain = seed;

		for (uint32_t i = 0; i < 200000; i++) {
			sum = _mm_add_epi32(sum, _mm_set1_epi32((int)(i ^ seed)));
			plain += i ^ seed;
			__asm__ volatile("" : "+x"(sum), "+r"(plain));
		}
		if ((uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi32(sum, 0xff)) != plain)
			notice("a register");
		atomic_fetch_add(&computed, 1);
	}
	return NULL;
}

static const char *check(void)
{
	const unsigned long signals_before = atomic_load(&signals),
			    computed_before = atomic_load(&computed);

	for (int wait = 0; atomic_load(&signals) < signals_before + 20 ||
			   atomic_load(&computed) < computed_before + 3;
	     wait++) {
		if (wait == TARGET_PATIENCE_MS)
			return "a thread hangs";
		usleep(1000);
	}
	return atomic_load(&noticed) ? atomic_load(&noticed) : "right";
}

static void start(void *(*run)(void *), const void *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, (void *)(uintptr_t)argument);
}

int main(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char command[TARGET_COMMAND_MAX];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGRTMIN, count_signal);
	idle_socket = socket(AF_INET, SOCK_STREAM, 0);
	if (pipe(silent_pipe) || bind(idle_socket, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(idle_socket, 1))
		return 1;
	for (size_t i = 0; i < WAITERS; i++)
		start(wait_for_ever, &waiters[i]);
	start(take_signals, NULL);
	start(compute, NULL);
	usleep(100000);
	target_say("ready\n");
	while (target_read(command))
		target_say("%s\n", check());
	return 0;
}
