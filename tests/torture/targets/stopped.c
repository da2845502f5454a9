/* SPDX-License-Identifier: MIT */
/*
 * stopped [toggled] - a parent that speaks, and a child that is the target and allocates. The child
 * was stopped by SIGSTOP and must stay so, whatever is done to it; or it is stopped and continued
 * all the time, and every stop and every continuation must be reported once, by the kernel to the
 * parent, in their order.
 */
#include "selfcheck.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS 2
#define BLOCKS 32
#define TOGGLE_US 3000

static volatile unsigned long *rounds; /* of the child */
static pid_t child;

static void *allocate(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	for (unsigned i = 0;; i++) {
		struct self_block *block = &blocks[i % BLOCKS];

		self_block_renew(worker, block, 1 + self_random(worker) % 3000);
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
		if (self.is_wrong)
			_exit(1);
	}
	return unused;
}

static void be_child(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, allocate, NULL);
	allocate(NULL);
}

/* The child's next change of state must be this one. */
static void expect_change(int code)
{
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)child, &info, WSTOPPED | WCONTINUED | WEXITED) && errno == EINTR)
		self_eintr(1);
	if (info.si_code != code)
		self_wrong("the child was reported to have changed by code %d, not %d; status %d",
			   info.si_code, code, info.si_status);
}

static void expect_no_change(void)
{
	siginfo_t info = {0};

	SELF_CHECK(waitid(P_PID, (id_t)child, &info, WSTOPPED | WCONTINUED | WEXITED | WNOHANG) ==
		   0);
	if (info.si_pid)
		self_wrong("the child was reported to have changed by code %d, status %d",
			   info.si_code, info.si_status);
}

static void stop_child(void)
{
	kill(child, SIGSTOP);
	expect_change(CLD_STOPPED);
}

static void continue_child(void)
{
	kill(child, SIGCONT);
	expect_change(CLD_CONTINUED);
}

/*
 * In its own words: state T, and not t, which is a debugger's. Threads under our ptrace are t for a
 * moment, so only at rest, when the parent is asked.
 */
static void expect_at_rest(void)
{
	const unsigned long before = *rounds;

	usleep(2000);
	if (*rounds != before)
		self_wrong("a stopped child has gone on");
	expect_no_change();
}

static void expect_progress(void)
{
	const unsigned long before = *rounds;

	while (*rounds == before) {
		expect_no_change();
		usleep(100);
	}
}

static void watch_stopped(struct self_worker *worker)
{
	stop_child();
	while (self_serve(5)) {
		expect_at_rest();
		self_step(worker);
	}
	continue_child();
	expect_progress();
}

static void toggle(struct self_worker *worker)
{
	while (self_serve(0)) {
		stop_child();
		expect_at_rest();
		continue_child();
		expect_progress();
		usleep(TOGGLE_US);
		self_step(worker);
	}
}

int main(int argc, char **argv)
{
	struct self_worker *worker = self_worker_new();

	(void)argv;
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	child = fork();
	if (child == 0)
		be_child();
	while (*rounds == 0)
		usleep(1000);
	self_ready();
	if (argc > 1)
		toggle(worker);
	else
		watch_stopped(worker);
	kill(child, SIGKILL);
	expect_change(CLD_KILLED);
	return self_end();
}
