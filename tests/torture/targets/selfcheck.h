/* SPDX-License-Identifier: MIT */
/*
 * selfcheck.h - what the targets of the torture suite share: a program that would itself notice
 * whatever harm an attach does to it.
 *
 * The script speaks to it on standard input, one command a line: `state` is answered by "state ok
 * progress=N gap_us=G eintr=E lost=L ..." or "state bad REASON"; `end` stops the threads, lets them
 * verify all they hold, and is answered by "end ok ..." or "end bad REASON" and the end of the
 * program; `exec` makes it become cat, which answers with what it is told. End of input: it leaves
 * quietly.
 *
 *   progress  rounds in which every thread has taken a step: it stands still if one thread does. A
 *             starved machine makes it slow, so ask again before judging.
 *   gap_us    longest time between two wake-ups of a thread that means to wake every 200 us
 *             (without that thread: between two looks of the main thread at the clock)
 *   eintr     system calls that failed with EINTR though the program had no signal for them, or
 *             were cut short
 *   lost      signals and timer ticks that were sent and not handled
 *
 * A target whose threads do all the work, each with a struct self_worker, is done with self_run().
 * Others start theirs, and go on with
 *   self_ready();  while (self_serve(0)) work...;  join the threads;  return self_end();
 *
 * The main thread waits, and the monitor sleeps, in ppoll, which heapinject borrows last: it is to
 * borrow the threads under test. The monitor holds all signals blocked. In the environment:
 * SELFCHECK_MONITOR=0 runs without the monitor, SELFCHECK_ABORT=1 dumps core at the first thing
 * that is wrong. Nothing here allocates once the program is ready. The header is C and C++, for one
 * source file each, hence all static.
 */
#ifndef SELFCHECK_H
#define SELFCHECK_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SELF_WORKERS_MAX 256
#define SELF_MONITOR_NS 200000
#define SELF_PATTERN 64 /* bytes checked at either end of a block */

/* One of a thread that must go on. Written by that thread alone. */
struct self_worker {
	unsigned long steps;
	unsigned long serial; /* of its blocks */
	uint64_t random;
	unsigned number;
	char apart[64 - 3 * 8 - 4];
};

static struct {
	struct self_worker worker[SELF_WORKERS_MAX];
	unsigned long steps_then[SELF_WORKERS_MAX]; /* when progress was last counted */
	unsigned workers;
	bool stopping, is_wrong, has_monitor, aborts;
	/*
	 * set by a program whose threads all get signals of its own making, so that EINTR is its
	 * own doing
	 */
	bool has_own_signals;
	char reason[200]; /* complete once is_wrong is set */
	long eintr, lost;
	uint64_t longest_gap_ns, last_look_ns;
	unsigned long progress, answers;
	pthread_t monitor;
	size_t command_length;
	char command[64];
	/* More of its figures for an answer: " name=value ...". May be NULL. */
	int (*figures)(char *into, size_t room);
} self __attribute__((unused));

__attribute__((unused)) static uint64_t self_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Something is wrong; the first report is kept. Safe in a signal handler. */
__attribute__((unused, format(printf, 1, 2))) static void self_wrong(const char *format, ...)
{
	static bool is_taken;
	va_list arguments;

	if (__atomic_exchange_n(&is_taken, true, __ATOMIC_ACQ_REL))
		return;
	va_start(arguments, format);
	vsnprintf(self.reason, sizeof(self.reason), format, arguments);
	va_end(arguments);
	__atomic_store_n(&self.is_wrong, true, __ATOMIC_RELEASE);
	if (self.aborts)
		abort();
}

#define SELF_CHECK(condition)                                                              \
	((condition) ? (void)0                                                             \
		     : self_wrong("%s:%d: %s does not hold, errno %d", __FILE__, __LINE__, \
				  #condition, errno))

__attribute__((unused)) static void self_eintr(long count)
{
	__atomic_fetch_add(&self.eintr, count, __ATOMIC_RELAXED);
}

__attribute__((unused)) static void self_lost(long count)
{
	__atomic_fetch_add(&self.lost, count, __ATOMIC_RELAXED);
}

__attribute__((unused)) static bool self_is_stopping(void)
{
	return __atomic_load_n(&self.stopping, __ATOMIC_RELAXED);
}

/*
 * A place for a thread that must go on; NULL-terminated lists would be longer than this program
 * lives.
 */
__attribute__((unused)) static struct self_worker *self_worker_new(void)
{
	unsigned number = __atomic_fetch_add(&self.workers, 1, __ATOMIC_RELAXED);
	struct self_worker *worker = &self.worker[number % SELF_WORKERS_MAX];

	if (number >= SELF_WORKERS_MAX)
		abort();
	worker->number = number;
	worker->random = (number + 1) * 0x9e3779b97f4a7c15u;
	return worker;
}

__attribute__((unused)) static void self_step(struct self_worker *worker)
{
	__atomic_store_n(&worker->steps, worker->steps + 1, __ATOMIC_RELAXED);
}

__attribute__((unused)) static uint64_t self_random(struct self_worker *worker)
{
	worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
	return worker->random >> 33;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/*
 * Every block carries its own tag, so that one that is handed out twice, moved wrongly or written
 * to by a stranger shows.
 */

struct self_block {
	unsigned char *at; /* NULL: none */
	size_t size;
	uint64_t tag; /* of its owner and of this use */
};

__attribute__((unused)) static unsigned char self_tag_byte(uint64_t tag, size_t offset)
{
	return (unsigned char)((tag >> (offset % 8 * 8)) + offset / 8);
}

__attribute__((unused)) static void self_fill_range(const struct self_block *block, size_t from,
						    size_t to)
{
	for (size_t i = from; i < to; i++)
		block->at[i] = self_tag_byte(block->tag, i);
}

__attribute__((unused)) static void self_check_range(const struct self_block *block, size_t from,
						     size_t to)
{
	for (size_t i = from; i < to; i++)
		if (block->at[i] != self_tag_byte(block->tag, i)) {
			self_wrong("block %p of %zu bytes, tag %016lx: byte %zu is %02x",
				   (void *)block->at, block->size, (unsigned long)block->tag, i,
				   block->at[i]);
			return;
		}
}

__attribute__((unused)) static size_t self_head(size_t size)
{
	return size < SELF_PATTERN ? size : SELF_PATTERN;
}

__attribute__((unused)) static void self_block_check(const struct self_block *block)
{
	self_check_range(block, 0, self_head(block->size));
	self_check_range(block, block->size - self_head(block->size), block->size);
}

/* `at` is fresh memory of the worker's. */
__attribute__((unused)) static void self_block_take(struct self_worker *worker,
						    struct self_block *block, void *at, size_t size)
{
	if (!at) {
		self_wrong("no memory for %zu bytes, errno %d", size, errno);
		size = 0;
	}
	block->at = (unsigned char *)at;
	block->size = size;
	block->tag = ((uint64_t)worker->number << 48 ^ ++worker->serial) * 0x9e3779b97f4a7c15u;
	self_fill_range(block, 0, self_head(size));
	self_fill_range(block, size - self_head(size), size);
}

__attribute__((unused)) static void self_block_free(struct self_block *block)
{
	if (!block->at)
		return;
	self_block_check(block);
	free(block->at);
	block->at = NULL;
}

/* Another one from malloc in its place. */
__attribute__((unused)) static void self_block_renew(struct self_worker *worker,
						     struct self_block *block, size_t size)
{
	self_block_free(block);
	self_block_take(worker, block, malloc(size), size);
}

/* ---- the monitor and the conversation -------------------------------------------------------- */

/* Notes how long ago the last look was. By one thread only. */
__attribute__((unused)) static void self_look(void)
{
	const uint64_t now = self_now_ns();

	if (self.last_look_ns &&
	    now - self.last_look_ns > __atomic_load_n(&self.longest_gap_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&self.longest_gap_ns, now - self.last_look_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&self.last_look_ns, now, __ATOMIC_RELEASE);
}

__attribute__((unused)) static void *self_monitor(void *unused)
{
	const struct timespec interval = {0, SELF_MONITOR_NS};

	prctl(PR_SET_NAME, "monitor");
	while (!self_is_stopping()) {
		if (ppoll(NULL, 0, &interval, NULL) < 0 && !self.has_own_signals)
			self_eintr(1);
		self_look();
	}
	return unused;
}

/*
 * Starts the monitor, with all signals blocked in it, and says that the program is in full swing: a
 * thread that has not run yet still has its creator's signal mask.
 */
__attribute__((unused)) static void self_ready(void)
{
	const char *monitor = getenv("SELFCHECK_MONITOR"), *aborts = getenv("SELFCHECK_ABORT");
	const struct timespec pause = {0, 1000000};
	sigset_t all, old;

	self.aborts = aborts && *aborts == '1';
	self.has_monitor = !monitor || *monitor != '0';
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (self.has_monitor && pthread_create(&self.monitor, NULL, self_monitor, NULL))
		self.has_monitor = false;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while (self.has_monitor && !__atomic_load_n(&self.last_look_ns, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
	dprintf(STDOUT_FILENO, "ready\n");
}

/* A round is over when every thread has taken a step since the last one. */
__attribute__((unused)) static void self_count_progress(void)
{
	const unsigned workers = __atomic_load_n(&self.workers, __ATOMIC_RELAXED);
	unsigned long least = ~0ul, steps[SELF_WORKERS_MAX];

	for (unsigned i = 0; i < workers; i++) {
		steps[i] = __atomic_load_n(&self.worker[i].steps, __ATOMIC_RELAXED);
		if (steps[i] - self.steps_then[i] < least)
			least = steps[i] - self.steps_then[i];
	}
	if (workers == 0 || least == 0)
		return;
	self.progress += least;
	memcpy(self.steps_then, steps, workers * sizeof(steps[0]));
}

__attribute__((unused)) static void self_answer(const char *command)
{
	char figures[300] = "";

	self_count_progress();
	__atomic_fetch_add(&self.answers, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&self.is_wrong, __ATOMIC_ACQUIRE)) {
		dprintf(STDOUT_FILENO, "%s bad %s\n", command, self.reason);
		return;
	}
	if (self.figures)
		self.figures(figures, sizeof(figures));
	dprintf(STDOUT_FILENO, "%s ok progress=%lu gap_us=%lu eintr=%ld lost=%ld%s\n", command,
		self.progress,
		(unsigned long)__atomic_exchange_n(&self.longest_gap_ns, 0, __ATOMIC_RELAXED) /
			1000,
		__atomic_load_n(&self.eintr, __ATOMIC_RELAXED),
		__atomic_load_n(&self.lost, __ATOMIC_RELAXED), figures);
}

/*
 * The next complete line of input in self.command; false: none within that time. End of input ends
 * the program.
 */
__attribute__((unused)) static bool self_read(int timeout_ms)
{
	struct pollfd input = {STDIN_FILENO, POLLIN, 0};
	const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};
	char byte;

	while (ppoll(&input, 1, timeout_ms < 0 ? NULL : &timeout, NULL) > 0) {
		if (read(STDIN_FILENO, &byte, 1) != 1)
			_exit(0);
		if (byte == '\n') {
			self.command[self.command_length] = 0;
			self.command_length = 0;
			return true;
		}
		if (self.command_length < sizeof(self.command) - 1)
			self.command[self.command_length++] = byte;
	}
	return false;
}

/*
 * Answers what has come in, waiting so long for it (-1: for ever); false when the program is to
 * end.
 */
__attribute__((unused)) static bool self_serve(int timeout_ms)
{
	if (!self.has_monitor)
		self_look();
	if (!self_read(timeout_ms))
		return !self_is_stopping();
	if (strcmp(self.command, "end") == 0) {
		__atomic_store_n(&self.stopping, true, __ATOMIC_RELAXED);
		return false;
	}
	if (strcmp(self.command, "exec") == 0) {
		execlp("cat", "cat", (char *)NULL);
		self_wrong("exec: errno %d", errno);
	}
	self_answer("state");
	return true;
}

/* When all threads of the program are done: the last words, and its exit status. */
__attribute__((unused)) static int self_end(void)
{
	if (self.has_monitor)
		pthread_join(self.monitor, NULL);
	self_answer("end");
	return self.is_wrong;
}

/* A program of so many threads alike, from beginning to end: its exit status. */
__attribute__((unused)) static int self_run(int threads, void *(*work)(void *), void *argument)
{
	pthread_t thread[SELF_WORKERS_MAX];

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, argument))
			return 2;
	self_ready();
	while (self_serve(-1))
		;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return self_end();
}

#endif
