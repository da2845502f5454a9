/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - see watchdog.h. The two processes share two words: is a thread held, and how many
 * signs of life has the injector given.
 */
#include "watchdog.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 500000000
#define NAPS_MAX 5 /* without a sign of life */
#define PRIORITY 2 /* above that of a thread of the injector that holds one: pace.c */
#define NICE_MIN (-20)

struct shared {
	_Atomic uint32_t holds; /* 1 while a thread is held; a futex: the watchdog sleeps on 0 */
	_Atomic uint32_t life;
};

static struct shared *shared;
/* owner: the process that started it; a fork of that one has no watchdog of its own */
static pid_t owner, watchdog;

static void end_it(pid_t watched)
{
	static const char message[] = "heapinject: stood still while it held a thread of the "
				      "process, and was ended so that the thread goes on; "
				      "`heapinject detach` removes what is left\n";

	(void)!write(STDERR_FILENO, message, sizeof(message) - 1);
	kill(watched, SIGKILL);
}

static void watch(pid_t watched)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	for (;;) {
		uint32_t life = atomic_load(&shared->life);
		unsigned naps = 0;

		syscall(SYS_futex, &shared->holds, FUTEX_WAIT, 0, NULL, NULL, 0);
		while (atomic_load(&shared->holds) && naps < NAPS_MAX) {
			nanosleep(&nap, NULL);
			naps = atomic_load(&shared->life) == life ? naps + 1 : 0;
			life = atomic_load(&shared->life);
		}
		if (naps == NAPS_MAX)
			end_it(watched);
	}
}

/*
 * The watchdog closes our descriptors: otherwise a reader of our output would wait for the
 * watchdog's end.
 */
static _Noreturn void be_watchdog(pid_t watched)
{
	static char name[] = "heapinject:wd";
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != watched)
		_exit(0);
	(void)!chdir("/");
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0);
	watch(watched);
	_exit(0);
}

/*
 * On a busy machine the fair scheduler has let it wait for over a minute, in a session, and so a
 * group, of its own. It comes first from its first instruction on, so the parent sees to it.
 * Without the right to that it stays as it is.
 */
static void put_first(pid_t pid)
{
	const struct sched_param first = {.sched_priority = PRIORITY};

	if (sched_setscheduler(pid, SCHED_FIFO, &first))
		(void)setpriority(PRIO_PROCESS, (id_t)pid, NICE_MIN);
}

void watchdog_stop(void)
{
	if (owner != getpid())
		return;
	kill(watchdog, SIGKILL);
	waitpid(watchdog, NULL, 0);
	owner = 0;
}

void watchdog_start(void)
{
	const pid_t self = getpid();
	void *page;

	if (owner == self)
		return;
	page = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	/* a new page: a fork of ours shares its parent's */
	shared = page == MAP_FAILED ? NULL : page;
	if (!shared)
		return;
	watchdog = fork();
	if (watchdog == 0)
		be_watchdog(self);
	if (watchdog < 0)
		return;
	put_first(watchdog);
	owner = self;
	/*
	 * not left to the kernel: in a container the watchdog's zombie might become a child of the
	 * target
	 */
	atexit(watchdog_stop);
}

void watchdog_begin(void)
{
	if (!shared)
		return;
	watchdog_progress();
	atomic_store(&shared->holds, 1);
	syscall(SYS_futex, &shared->holds, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void watchdog_end(void)
{
	if (shared)
		atomic_store(&shared->holds, 0);
}

void watchdog_progress(void)
{
	if (shared)
		atomic_fetch_add_explicit(&shared->life, 1, memory_order_relaxed);
}
