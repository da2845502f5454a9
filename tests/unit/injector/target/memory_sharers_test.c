/* SPDX-License-Identifier: MIT */
/*
 * memory_sharers: who is found, who is not, and that nobody born since is missed; same_memory,
 * which is what it asks.
 */
#include "memory_sharers.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "procfs.h"
#include "same_memory.h"
#include "unit.h"

#define STACK_BYTES 65536

/* What the processes of a case tell each other. */
struct shared {
	pid_t sharer;
	int go;
};

static struct shared *share(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	return shared;
}

/* Uses no libc that keeps anything of a thread: it has none of its own. */
static int stay(void *unused)
{
	while (!unused)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL);
	return 0;
}

static pid_t start_sharer(int flags)
{
	char *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return clone(stay, stack + STACK_BYTES, CLONE_VM | flags, NULL);
}

/* Of a process that dies with us, and whose sharers are ended by who ends it. */
static pid_t start(void (*work)(struct shared *shared), struct shared *shared)
{
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work(shared);
		_exit(0);
	}
	CHECK(pid > 0);
	return pid;
}

static void end(pid_t pid, const struct shared *shared)
{
	if (shared->sharer)
		kill(shared->sharer, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool is_listed(pid_t pid, pid_t tid, bool *out_is_awaited)
{
	struct memory_threads threads;
	bool is = false;
	CHECK_EQ(memory_threads_list(pid, &threads), 0);
	CHECK_EQ(threads.unknown, 0);
	for (size_t i = 0; i < threads.count; i++)
		if (threads.thread[i].tid == tid) {
			is = true;
			*out_is_awaited = threads.thread[i].is_awaited;
			CHECK_EQ(memory_threads_pid(&threads, tid, -1), threads.thread[i].pid);
		}
	CHECK_EQ(memory_threads_pid(&threads, 1, -1), -1);
	memory_threads_close(&threads);
	return is;
}

static void have_a_sharer(struct shared *shared)
{
	shared->sharer = start_sharer(0);
	stay(NULL);
}

UNIT_TEST(a_process_in_the_same_memory_is_found_and_one_that_was_forked_is_not)
{
	struct shared *shared = share();
	const pid_t pid = start(have_a_sharer, shared);
	bool is_awaited = true;
	WAIT_FOR(shared->sharer != 0);
	CHECK(is_listed(pid, pid, &is_awaited) && !is_awaited);
	is_awaited = true;
	CHECK(is_listed(pid, shared->sharer, &is_awaited) && !is_awaited);
	CHECK(!is_listed(pid, getpid(), &is_awaited));
	CHECK(is_listed(shared->sharer, pid, &is_awaited));
	kill(shared->sharer, SIGKILL);
	WAIT_FOR(!is_listed(pid, shared->sharer, &is_awaited)); /* a zombie runs nowhere */
	end(pid, shared);
}

static void bear_when_asked(struct shared *shared)
{
	while (!shared->go)
		usleep(1000);
	shared->sharer = start_sharer(0);
	stay(NULL);
}

UNIT_TEST(one_that_is_born_between_two_looks_is_found_by_the_second)
{
	for (int round = 0; round < 20; round++) {
		struct shared *shared = share();
		const pid_t pid = start(bear_when_asked, shared);
		bool is_awaited;
		CHECK(is_listed(pid, pid, &is_awaited));
		shared->go = 1;
		WAIT_FOR(shared->sharer != 0);
		CHECK(is_listed(pid, shared->sharer, &is_awaited));
		end(pid, shared);
	}
}

static void wait_for_a_child(struct shared *shared)
{
	const pid_t pid = start_sharer(CLONE_VFORK);
	(void)pid, (void)shared;
	stay(NULL);
}

static bool is_waiting(pid_t pid)
{
	struct proc_status status;
	return !proc_status_read(pid, pid, &status) && status.state == 'D';
}

UNIT_TEST(a_child_of_vfork_is_told_apart)
{
	struct shared *shared = share();
	const pid_t pid = start(wait_for_a_child, shared);
	struct memory_threads threads;
	WAIT_FOR(is_waiting(pid));
	CHECK_EQ(memory_threads_list(pid, &threads), 0);
	CHECK_EQ(threads.count, 2);
	CHECK(threads.thread[0].tid == pid && !threads.thread[0].is_awaited);
	CHECK(threads.thread[1].is_awaited);
	shared->sharer = threads.thread[1].pid;
	memory_threads_close(&threads);
	end(pid, shared);
}

UNIT_TEST(a_process_that_is_gone_is_told)
{
	struct memory_threads threads;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	CHECK_EQ(memory_threads_list(pid, &threads), -ESRCH);
}

/*
 * Where the kernel does not tell, the maps do; and without a child that has ended /proc tells who
 * has no memory.
 */
UNIT_TEST(without_kcmp_the_answer_is_the_same)
{
	struct shared *shared = share();
	const pid_t pid = start(have_a_sharer, shared);
	struct same_memory_reference reference;
	WAIT_FOR(shared->sharer != 0);
	CHECK_EQ(same_memory_open(pid, &reference), 0);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(same_memory_ask(&reference, shared->sharer), SAME_MEMORY_YES);
		CHECK_EQ(same_memory_ask(&reference, 1), SAME_MEMORY_NO);
		/* its parent, which has mapped something since it was forked */
		CHECK_EQ(same_memory_ask(&reference, getpid()), SAME_MEMORY_NO);
		CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		      MAP_FAILED);
		reference.has_kcmp = false;
	}
	CHECK(same_memory_is_sound(&reference));
	end(pid, shared);
	CHECK(!same_memory_is_sound(&reference));
}

UNIT_MAIN()
