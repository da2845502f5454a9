/* SPDX-License-Identifier: MIT */
/* heap_looks.c - see heap_looks.h. */
#include "heap_looks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "inspected.h"
#include "procfs.h"

#define SECOND_NS 1000000000ull
#define WALK_NS_MAX (10 * SECOND_NS)
#define NICE 10
#define LAST_AGE_NS (SECOND_NS / 4) /* of the last look, from which on the end has another one */
#define CHEAP_NS (SECOND_NS / 20)
#define LAST_SHARE 0.03 /* of the session, for all looks */
#define LAST_WAIT_MS 1000

/* ---- the process that looks ------------------------------------------------------------------ */

static int look(const struct heap_looks *looks, struct heap_figures *out_figures)
{
	struct memory memory;
	uint64_t start_ticks;
	int err = inspected_memory(looks->pid, &memory);

	if (err)
		return err;
	err = proc_start_time(looks->pid, &start_ticks);
	if (!err && start_ticks != looks->start_ticks)
		err = -ESRCH;
	if (!err)
		err = heap_figures_take(&memory, clock_now_ns() + WALK_NS_MAX, out_figures);
	if (!err && !memory_is_alive(&memory))
		err = -ESRCH;
	memory_close(&memory);
	return err;
}

_Noreturn static void run(const struct heap_looks *looks, int out, pid_t parent)
{
	struct heap_figures figures = {0};
	struct timespec used;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "heapinject-look");
	if (getppid() != parent)
		_exit(1);
	if (out != STDERR_FILENO + 1)
		(void)dup2(out, STDERR_FILENO + 1);
	closefrom(STDERR_FILENO + 2);
	(void)!nice(NICE);
	const int err = look(looks, &figures);
	if (err)
		snprintf(figures.refusal, sizeof(figures.refusal), "it cannot be read: %s",
			 err == -ESRCH ? "the process has ended" : strerror(-err));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	figures.cost_ns = (uint64_t)used.tv_sec * SECOND_NS + (uint64_t)used.tv_nsec;
	/* less than PIPE_BUF: all of it or nothing */
	_exit(write(STDERR_FILENO + 1, &figures, sizeof(figures)) != (ssize_t)sizeof(figures));
}

/* ---- the session ----------------------------------------------------------------------------- */

static void begin(struct heap_looks *looks, uint64_t now_ns)
{
	const pid_t parent = getpid();
	int ends[2];

	looks->begun_ns = now_ns;
	looks->due_ns = now_ns + HEAP_LOOKS_EVERY_NS;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	looks->child = fork();
	if (!looks->child)
		run(looks, ends[1], parent);
	close(ends[1]);
	looks->fd = ends[0];
	if (looks->child < 0) {
		looks->child = 0;
		close(ends[0]);
	}
}

/* The process has closed its pipe, and is about to end; that takes it some time. */
static void reap(struct heap_looks *looks, int flags)
{
	pid_t ended;

	do
		ended = waitpid(looks->child, NULL, flags);
	while (ended < 0 && errno == EINTR);
	if (ended)
		looks->child = 0;
}

static bool is_looking(const struct heap_looks *looks)
{
	return looks->child && looks->fd >= 0;
}

/* 1: figures have come; 0: not yet; negative: none will come. */
static int take(struct heap_looks *looks)
{
	struct heap_figures figures;
	const ssize_t got = read(looks->fd, &figures, sizeof(figures));

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	close(looks->fd);
	looks->fd = -1;
	reap(looks, WNOHANG);
	if (got != (ssize_t)sizeof(figures))
		return -ECANCELED;
	looks->last = figures;
	looks->last_ns = looks->begun_ns;
	looks->total_ns += figures.cost_ns;
	looks->count++;
	return 1;
}

void heap_looks_open(struct heap_looks *looks, pid_t pid, uint64_t start_ticks)
{
	*looks = (struct heap_looks){.pid = pid, .start_ticks = start_ticks};
}

static bool plan_next(struct heap_looks *looks, double share)
{
	const double pause_ns = (double)looks->last.cost_ns / share;

	looks->every_ns = pause_ns > HEAP_LOOKS_EVERY_NS ? (uint64_t)pause_ns : HEAP_LOOKS_EVERY_NS;
	looks->due_ns = looks->begun_ns + looks->every_ns;
	return true;
}

bool heap_looks_step(struct heap_looks *looks, uint64_t now_ns, double share)
{
	if (looks->child && !is_looking(looks))
		reap(looks, WNOHANG);
	if (!looks->child && looks->pid && now_ns >= looks->due_ns)
		begin(looks, now_ns);
	else if (is_looking(looks) && take(looks) > 0)
		return plan_next(looks, share);
	return false;
}

void heap_looks_begin_anew(struct heap_looks *looks)
{
	heap_looks_close(looks);
	looks->due_ns = 0;
}

void heap_looks_begin_last(struct heap_looks *looks, uint64_t now_ns)
{
	const double spent_ns = (double)(looks->total_ns + looks->last.cost_ns);

	if (!looks->pid || is_looking(looks) || now_ns < looks->last_ns + LAST_AGE_NS)
		return;
	heap_looks_close(looks);
	if (looks->last.cost_ns <= CHEAP_NS || spent_ns <= LAST_SHARE * (double)now_ns)
		begin(looks, now_ns);
}

bool heap_looks_wait(struct heap_looks *looks)
{
	struct pollfd wait = {looks->fd, POLLIN, 0};
	bool is_new = false;

	if (!is_looking(looks)) {
		heap_looks_close(looks);
		return false;
	}
	while (poll(&wait, 1, LAST_WAIT_MS) < 0 && errno == EINTR)
		;
	if (wait.revents)
		is_new = take(looks) > 0;
	heap_looks_close(looks);
	return is_new;
}

void heap_looks_close(struct heap_looks *looks)
{
	if (!looks->child)
		return;
	kill(looks->child, SIGKILL);
	if (looks->fd >= 0)
		close(looks->fd);
	reap(looks, 0);
}
