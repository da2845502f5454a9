/* SPDX-License-Identifier: MIT */
/*
 * blocking_calls.h - part of blocking.c: the calls, each in a function that makes it once, and, for
 * those without a time limit, another that lets it end. Enter at the table at the end.
 */
#ifndef BLOCKING_CALLS_H
#define BLOCKING_CALLS_H

#include "blocking_descriptors.h"

static long wait_epoll(struct caller *c)
{
	struct epoll_event event;
	return result_of(epoll_wait(c->fd[0], &event, 1, WAIT_MS));
}

static long wait_epoll_pwait(struct caller *c)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	return result_of(epoll_pwait(c->fd[0], &event, 1, WAIT_MS, &none));
}

static long wait_epoll_pwait2(struct caller *c)
{
	struct epoll_event event;
	return result_of(syscall(SYS_epoll_pwait2, c->fd[0], &event, 1, &limit, NULL, 8));
}

static long wait_poll(struct caller *c)
{
	struct pollfd one = {c->fd[0], POLLIN, 0};
	return result_of(poll(&one, 1, WAIT_MS));
}

static long wait_ppoll(struct caller *c)
{
	struct pollfd one = {c->fd[0], POLLIN, 0};
	sigset_t none;

	sigemptyset(&none);
	return result_of(ppoll(&one, 1, &limit, &none));
}

static long wait_select(struct caller *c)
{
	struct timeval timeout = {0, WAIT_MS * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(c->fd[0], &set);
	return result_of(select(c->fd[0] + 1, &set, NULL, NULL, &timeout));
}

static long wait_pselect(struct caller *c)
{
	sigset_t none;
	fd_set set;

	sigemptyset(&none);
	FD_ZERO(&set);
	FD_SET(c->fd[0], &set);
	return result_of(pselect(c->fd[0] + 1, &set, NULL, NULL, &limit, &none));
}

static long wait_nanosleep(struct caller *c)
{
	(void)c;
	return result_of(nanosleep(&limit, NULL));
}

static long wait_clock_nanosleep(struct caller *c)
{
	(void)c;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL);
}

/* WAIT_NS from now on that clock. */
static struct timespec absolute_limit(clockid_t clock)
{
	struct timespec when;

	clock_gettime(clock, &when);
	when.tv_nsec += WAIT_NS;
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	return when;
}

static long wait_clock_nanosleep_absolute(struct caller *c)
{
	const struct timespec when = absolute_limit(CLOCK_MONOTONIC);

	(void)c;
	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

static long wait_futex(struct caller *c)
{
	int word = 0;

	(void)c;
	return result_of(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0));
}

static long wait_futex_bitset(struct caller *c)
{
	const struct timespec when = absolute_limit(CLOCK_MONOTONIC);
	int word = 0;

	(void)c;
	return result_of(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &when, NULL,
				 FUTEX_BITSET_MATCH_ANY));
}

static long wait_sigtimedwait(struct caller *c)
{
	sigset_t set;

	(void)c;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	return result_of(sigtimedwait(&set, NULL, &limit));
}

static long wait_recv(struct caller *c)
{
	char byte;
	return result_of(recv(c->fd[0], &byte, 1, 0));
}

static long wait_recvmsg(struct caller *c)
{
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	return result_of(recvmsg(c->fd[0], &message, 0));
}

static long wait_recvmmsg(struct caller *c)
{
	char byte;
	struct iovec part = {&byte, 1};
	struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

	return result_of(recvmmsg(c->fd[0], &message, 1, 0, NULL));
}

static long wait_send(struct caller *c)
{
	return result_of(send(c->fd[0], "", 1, MSG_NOSIGNAL));
}

static long wait_accept(struct caller *c)
{
	return result_of(accept4(c->fd[0], NULL, NULL, SOCK_CLOEXEC));
}

static long wait_connect(struct caller *c)
{
	const struct timeval timeout = {0, WAIT_MS * 1000};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long result;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	result = result_of(connect(fd, c->extra, sizeof(struct sockaddr_un)));
	close(fd);
	return result;
}

static long wait_semtimedop(struct caller *c)
{
	struct sembuf down = {0, -1, 0};
	return result_of(semtimedop(c->fd[0], &down, 1, &limit));
}

static long wait_semop(struct caller *c)
{
	struct sembuf down = {0, -1, 0};
	return result_of(semop(c->fd[0], &down, 1));
}

static void wake_semop(struct caller *c)
{
	struct sembuf up = {0, 1, 0};
	semop(c->fd[0], &up, 1);
}

static long wait_msgrcv(struct caller *c)
{
	struct message message;
	return result_of(msgrcv(c->fd[0], &message, sizeof(message.text), 0, 0));
}

static void wake_msgrcv(struct caller *c)
{
	struct message message = {1, {0}};
	msgsnd(c->fd[0], &message, 3, IPC_NOWAIT);
}

static long wait_msgsnd(struct caller *c)
{
	static const struct message message = {1, {0}};
	return result_of(msgsnd(c->fd[0], &message, sizeof(message.text), 0));
}

static void wake_msgsnd(struct caller *c)
{
	static struct message message;
	msgrcv(c->fd[0], &message, sizeof(message.text), 0, IPC_NOWAIT);
}

static long wait_mq_receive(struct caller *c)
{
	const struct timespec when = absolute_limit(CLOCK_REALTIME);
	char text[8];

	return result_of(mq_timedreceive(c->fd[0], text, sizeof(text), NULL, &when));
}

static long wait_mq_send(struct caller *c)
{
	const struct timespec when = absolute_limit(CLOCK_REALTIME);
	return result_of(mq_timedsend(c->fd[0], "", 1, 0, &when));
}

static long wait_io_getevents(struct caller *c)
{
	struct io_event event;
	struct timespec timeout = limit;

	return result_of(
		syscall(SYS_io_getevents, *(aio_context_t *)c->extra, 1, 1, &event, &timeout));
}

static long wait_io_uring(struct caller *c)
{
	struct __kernel_timespec timeout = {0, WAIT_NS};
	struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&timeout};

	return result_of(syscall(SYS_io_uring_enter, c->fd[0], 0, 1,
				 IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
				 sizeof(argument)));
}

static long wait_read(struct caller *c)
{
	char byte;
	return result_of(read(c->fd[0], &byte, 1));
}

static void wake_by_write(struct caller *c)
{
	SELF_CHECK(write(c->fd[1], "\n", 1) == 1);
}

static long wait_read_counter(struct caller *c)
{
	uint64_t count;
	return result_of(read(c->fd[0], &count, sizeof(count)));
}

static void wake_eventfd(struct caller *c)
{
	eventfd_write(c->fd[1], 1);
}

static long wait_inotify(struct caller *c)
{
	char events[4096] __attribute__((aligned(8)));
	return result_of(read(c->fd[0], events, sizeof(events)));
}

static long wait_flock(struct caller *c)
{
	long result = result_of(flock(c->fd[0], LOCK_EX));

	flock(c->fd[0], LOCK_UN);
	return result;
}

/* The thread that it wakes gets the lock only once it runs. */
static void wake_flock(struct caller *c)
{
	flock(c->fd[1], LOCK_UN);
	do
		usleep(200);
	while (flock(c->fd[1], LOCK_EX | LOCK_NB));
}

static long wait_record_lock(struct caller *c)
{
	struct flock all = {.l_type = F_WRLCK}, none = {.l_type = F_UNLCK};
	long result = result_of(fcntl(c->fd[0], F_OFD_SETLKW, &all));

	fcntl(c->fd[0], F_OFD_SETLK, &none);
	return result;
}

static void wake_record_lock(struct caller *c)
{
	struct flock all = {.l_type = F_WRLCK}, none = {.l_type = F_UNLCK};

	fcntl(c->fd[1], F_OFD_SETLK, &none);
	do
		usleep(200);
	while (fcntl(c->fd[1], F_OFD_SETLK, &all));
}

/* A child that waits for its pipe to say that it may end. */
static pid_t start_child(struct caller *c)
{
	const pid_t pid = fork();

	if (pid == 0) {
		char byte;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(read(c->fd[0], &byte, 1) == 1 ? 0 : 1);
	}
	return pid;
}

static long wait_wait4(struct caller *c)
{
	const pid_t pid = start_child(c);
	long result = result_of(waitpid(pid, NULL, 0));

	if (result < 0)
		waitpid(pid, NULL, 0);
	return result == pid ? 0 : result;
}

static long wait_waitid(struct caller *c)
{
	const pid_t pid = start_child(c);
	siginfo_t info;
	long result = result_of(waitid(P_PID, (id_t)pid, &info, WEXITED));

	if (result < 0)
		waitpid(pid, NULL, 0);
	return result;
}

/* ---- transfers: a stop makes them return what they have done so far -------------------------- */

static long wait_write(struct caller *c)
{
	return result_of(write(c->fd[0], c->bulk, BULK));
}

static long wait_writev(struct caller *c)
{
	const struct iovec parts[2] = {{c->bulk, BULK / 2}, {c->bulk + BULK / 2, BULK - BULK / 2}};
	return result_of(writev(c->fd[0], parts, 2));
}

static long wait_send_bulk(struct caller *c)
{
	return result_of(send(c->fd[0], c->bulk, BULK, MSG_NOSIGNAL));
}

static long wait_recv_all(struct caller *c)
{
	return result_of(recv(c->fd[0], c->bulk, BULK, MSG_WAITALL));
}

/* Takes what is there. What a short count left out never comes. */
static void carry_by_draining(struct caller *c)
{
	char into[65536];

	while (recv(c->fd[1], into, sizeof(into), MSG_DONTWAIT) > 0 ||
	       (errno == ENOTSOCK && read(c->fd[1], into, sizeof(into)) > 0))
		;
}

static void carry_by_sending(struct caller *c)
{
	static const char part[40000];

	send(c->fd[1], part, sizeof(part), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static const struct call calls[] = {
	{"epoll_wait", make_epoll, wait_epoll, 0, TIMED, NULL},
	{"epoll_pwait", make_epoll, wait_epoll_pwait, 0, TIMED, NULL},
	{"epoll_pwait2", make_epoll, wait_epoll_pwait2, 0, TIMED, NULL},
	{"poll", make_pipe, wait_poll, 0, TIMED, NULL},
	{"ppoll", make_pipe, wait_ppoll, 0, TIMED, NULL},
	{"select", make_pipe, wait_select, 0, TIMED, NULL},
	{"pselect", make_pipe, wait_pselect, 0, TIMED, NULL},
	{"nanosleep", make_none, wait_nanosleep, 0, TIMED, NULL},
	{"clock_nanosleep", make_none, wait_clock_nanosleep, 0, TIMED, NULL},
	{"clock_nanosleep_absolute", make_none, wait_clock_nanosleep_absolute, 0, TIMED, NULL},
	{"futex", make_none, wait_futex, -ETIMEDOUT, TIMED, NULL},
	{"futex_bitset", make_none, wait_futex_bitset, -ETIMEDOUT, TIMED, NULL},
	{"sigtimedwait", make_none, wait_sigtimedwait, -EAGAIN, TIMED, NULL},
	{"recv_timed", make_sockets, wait_recv, -EAGAIN, TIMED, NULL},
	{"read_timed", make_sockets, wait_read, -EAGAIN, TIMED, NULL},
	{"recvmsg_timed", make_sockets, wait_recvmsg, -EAGAIN, TIMED, NULL},
	{"recvmmsg_timed", make_sockets, wait_recvmmsg, -EAGAIN, TIMED, NULL},
	{"send_timed", make_full_sockets, wait_send, -EAGAIN, TIMED, NULL},
	{"accept_timed", make_listener, wait_accept, -EAGAIN, TIMED, NULL},
	{"connect_timed", make_full_listener, wait_connect, -EAGAIN, TIMED, NULL},
	{"semtimedop", make_semaphore, wait_semtimedop, -EAGAIN, TIMED, NULL},
	{"mq_timedreceive", make_queue, wait_mq_receive, -ETIMEDOUT, TIMED, NULL},
	{"mq_timedsend", make_full_queue, wait_mq_send, -ETIMEDOUT, TIMED, NULL},
	{"io_getevents", make_aio, wait_io_getevents, 0, TIMED, NULL},
	{"io_uring_enter", make_ring, wait_io_uring, -ETIME, TIMED, NULL},
	{"read_timerfd", make_timerfd, wait_read_counter, 8, WOKEN, NULL},
	{"read_pipe", make_pipe, wait_read, 1, WOKEN, wake_by_write},
	{"read_socket", make_untimed_sockets, wait_read, 1, WOKEN, wake_by_write},
	{"recv", make_untimed_sockets, wait_recv, 1, WOKEN, wake_by_write},
	{"read_tty", make_pty, wait_read, 1, WOKEN, wake_by_write},
	{"read_eventfd", make_eventfd, wait_read_counter, 8, WOKEN, wake_eventfd},
	{"read_inotify", make_inotify, wait_inotify, sizeof(struct inotify_event), WOKEN,
	 wake_by_write},
	{"semop", make_semaphore, wait_semop, 0, WOKEN, wake_semop},
	{"msgrcv", make_messages, wait_msgrcv, 3, WOKEN, wake_msgrcv},
	{"msgsnd", make_full_messages, wait_msgsnd, 0, WOKEN, wake_msgsnd},
	{"flock", make_locked_file, wait_flock, 0, WOKEN, wake_flock},
	{"fcntl_setlkw", make_record_lock, wait_record_lock, 0, WOKEN, wake_record_lock},
	{"wait4", make_pipe, wait_wait4, 0, WOKEN, wake_by_write},
	{"waitid", make_pipe, wait_waitid, 0, WOKEN, wake_by_write},
	{"write_pipe", make_written_pipe, wait_write, BULK, TRANSFER, carry_by_draining},
	{"writev_pipe", make_written_pipe, wait_writev, BULK, TRANSFER, carry_by_draining},
	{"write_socket", make_bulk_sockets, wait_write, BULK, TRANSFER, carry_by_draining},
	{"send_bulk", make_bulk_sockets, wait_send_bulk, BULK, TRANSFER, carry_by_draining},
	{"write_stalled", make_written_pipe, wait_write, BULK, STALLED, carry_by_draining},
	{"recv_waitall", make_bulk_sockets, wait_recv_all, BULK, TRANSFER, carry_by_sending},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

#endif
