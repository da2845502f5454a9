/* SPDX-License-Identifier: MIT */
/*
 * borrowed.h - victims that notice damage, and what tests of remote have them do: a thread is
 * borrowed, runs some system calls or a function, and goes on.
 */
#ifndef HI_BORROWED_H
#define HI_BORROWED_H

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "canary.h"
#include "victim.h"

enum { PAGES = 4 };

static inline uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* ---- victims --------------------------------------------------------------------------------- */

/*
 * Blocks that know what they are: a heap that was damaged while a thread stood in malloc is noticed
 * at the latest when they are freed.
 */
static inline void storm(struct victim_page *page, unsigned seed)
{
	enum { BLOCKS = 64 };
	struct {
		unsigned char *bytes;
		size_t size;
	} block[BLOCKS] = {{0}};

	for (unsigned i = 0;; i++) {
		unsigned at = (seed = seed * 1103515245u + 12345u) >> 16 & (BLOCKS - 1);
		unsigned char tag = (unsigned char)(at * 7 + 1);

		for (size_t k = 0; block[at].bytes && k < block[at].size; k += 16)
			page->damage += block[at].bytes[k] != tag;
		free(block[at].bytes);
		block[at].size = (seed >> 8 & 0xfff) + 1;
		block[at].bytes = malloc(block[at].size);
		memset(block[at].bytes, tag, block[at].size);
		page->progress++;
	}
}

static inline void storm_alone(struct victim_page *page)
{
	page->ready = 1;
	storm(page, 1);
}

static inline void *storm_thread(void *page)
{
	storm(page, (unsigned)(uintptr_t)&page);
	return NULL;
}

static inline void storm_of_four(struct victim_page *page)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, storm_thread, page);
	page->ready = 1;
	storm(page, 2);
}

/* ---- registers, vector state, red zone ------------------------------------------------------- */

static inline void canary(struct victim_page *page)
{
	page->ready = 1;
	for (;;) {
		page->damage += canary_round(20000);
		page->progress++;
	}
}

/* ---- signals --------------------------------------------------------------------------------- */

static struct victim_page *signal_page;

static inline void count_signal(int signal)
{
	(void)signal;
	signal_page->handled++;
}

static inline void signalled(struct victim_page *page)
{
	static char stack[65536];
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)}, now;

	signal_page = page;
	sigaltstack(&alternate, NULL);
	sigaction(SIGRTMIN + 3, &action, NULL);
	page->ready = 1;
	for (;;) {
		page->damage += canary_round(2000);
		page->damage += sigaltstack(NULL, &now) != 0 || now.ss_sp != stack;
		page->progress++;
	}
}

/* Where a handler may run yet, or a thread restore itself: when that is over. */
static inline void wait_for_signal_mask(const struct proc_status *before, pid_t pid)
{
	struct proc_status now;

	WAIT_FOR(proc_status_read(pid, pid, &now) == 0 && now.sig_blocked == before->sig_blocked);
}

static inline void compare_signal_state(const struct proc_status *before, pid_t pid)
{
	struct proc_status after;

	CHECK_EQ(proc_status_read(pid, pid, &after), 0);
	CHECK_EQ(after.sig_blocked, before->sig_blocked);
	CHECK_EQ(after.sig_ignored, before->sig_ignored);
	CHECK_EQ(after.sig_caught, before->sig_caught);
}

/* ---- what is done to them -------------------------------------------------------------------- */

/* As many system calls as loading takes. */
static inline int map_and_unmap(struct remote *remote)
{
	int64_t result[PAGES], ignored;
	int err = 0;

	for (int i = 0; i < PAGES && !err; i++) {
		err = remote_syscall(remote, SYS_mmap,
				     (const uint64_t[6]){0, 4096, PROT_READ,
							 MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
							 0},
				     &result[i]);
		if (!err && result[i] < 0)
			return (int)result[i];
	}
	for (int i = 0; i < PAGES && !err; i++) {
		err = remote_syscall(remote, SYS_munmap,
				     (const uint64_t[6]){(uint64_t)result[i], 4096}, &ignored);
		if (!err && ignored < 0)
			return (int)ignored;
	}
	return err;
}

static inline void borrow_once(const struct victim *victim, uint64_t *out_stopped_ns)
{
	struct remote remote;

	CHECK_EQ(remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets,
			     UNIT_PATIENCE_MS),
		 0);
	CHECK_EQ(map_and_unmap(&remote), 0);
	CHECK_EQ(remote_close(&remote), 0);
	if (out_stopped_ns)
		*out_stopped_ns = remote.stopped_ns;
}

static inline int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static inline void borrow_often(const struct victim *victim, size_t times, uint64_t limit_us)
{
	uint64_t stopped[1000], start = now_us();
	size_t done = 0;

	do
		borrow_once(victim, &stopped[done++]);
	while (done < times && done < 1000 && now_us() - start < limit_us);
	qsort(stopped, done, sizeof(*stopped), compare_times);
	printf("# %s: %zu times, stopped for %.0f us (median), %.0f us (99 %%)\n", unit_current,
	       done, (double)stopped[done / 2] / 1e3, (double)stopped[done * 99 / 100] / 1e3);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Run by the victim; forked from us, it has them at the same addresses. */
static inline uint64_t clobber_and_add(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const bool is_odd = canary_has_odd_flags();

	sched_yield();
	canary_clobber();
	return getpid() > 0 && !is_odd ? a + 10 * b + 100 * c + 1000 * d : 0;
}

static inline remote_addr map_stack(struct remote *remote)
{
	enum { STACK_BYTES = 256 * 1024 };
	const uint64_t argument[6] = {
		0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
		0};
	int64_t stack;

	CHECK_EQ(remote_syscall(remote, SYS_mmap, argument, &stack), 0);
	CHECK(stack > 0);
	return (remote_addr)stack + STACK_BYTES;
}

#endif
