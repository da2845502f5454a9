/* SPDX-License-Identifier: MIT */
/* snapshot: what is compared at detach, taken of a child that changes one thing after the other. */
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "victim.h"

enum { FD = 1, SIGNALS, THREAD, MAPPING, OURS, PAYLOAD, STEPS };

static void *wait_forever(void *unused)
{
	pause();
	return unused;
}

static void map_file(const char *name)
{
	const int fd = memfd_create(name, 0);
	if (ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		abort();
	close(fd);
}

static void step_to(uint64_t step)
{
	sigset_t blocked;
	pthread_t thread;

	if (step == FD && open("/dev/null", O_RDONLY) < 0)
		abort();
	if (step == SIGNALS) {
		sigemptyset(&blocked);
		sigaddset(&blocked, SIGUSR1);
		sigprocmask(SIG_BLOCK, &blocked, NULL);
		signal(SIGUSR2, SIG_IGN);
		signal(SIGWINCH, (void (*)(int))(uintptr_t)wait_forever);
	}
	if (step == THREAD && pthread_create(&thread, NULL, wait_forever, NULL))
		abort();
	if (step == MAPPING)
		map_file("application");
	if (step == OURS)
		map_file(HI_MEMFD_NAME);
	if (step == PAYLOAD)
		map_file(HI_MEMFD_NAME "-payload");
}

static void change_step_by_step(struct victim_page *page)
{
	page->ready = 1;
	for (uint64_t step = 1; step < STEPS; step++) {
		while (page->asked < step)
			victim_pause_us(100);
		step_to(step);
		page->answered = step;
	}
	pause();
}

static struct hi_snapshot take(const struct victim *victim)
{
	struct hi_snapshot snapshot;
	CHECK_EQ(snapshot_take(victim->pid, victim->pid, &snapshot), 0);
	return snapshot;
}

static struct hi_snapshot take_after(const struct victim *victim, uint64_t step)
{
	victim_ask(victim, step);
	return take(victim);
}

static uint64_t bit(int signal)
{
	return 1ull << (signal - 1);
}

UNIT_TEST(sees_every_change_once)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer maps and unmaps memory of its own at any time");
#endif
	struct victim victim;
	victim_start(&victim, change_step_by_step);
	struct hi_snapshot before = take(&victim), after = take_after(&victim, FD);
	CHECK_EQ(after.fd_count, before.fd_count + 1);
	CHECK_EQ(after.map_count, before.map_count);

	after = take_after(&victim, SIGNALS);
	CHECK_EQ(after.sig_blocked, before.sig_blocked | bit(SIGUSR1));
	CHECK_EQ(after.sig_ignored, before.sig_ignored | bit(SIGUSR2));
	CHECK_EQ(after.sig_caught, before.sig_caught | bit(SIGWINCH));

	after = take_after(&victim, THREAD);
	CHECK_EQ(after.thread_count, before.thread_count + 1);

	before = after;
	after = take_after(&victim, MAPPING);
	CHECK_EQ(after.map_count, before.map_count + 1);
	CHECK_EQ(victim_own_mappings(&victim), 0);

	before = after;
	after = take_after(&victim, OURS);
	CHECK_EQ(after.map_count, before.map_count); /* ours is none of the target's */
	CHECK_EQ(victim_own_mappings(&victim), 1);
	after = take_after(&victim, PAYLOAD);
	CHECK_EQ(after.map_count, before.map_count);
	CHECK_EQ(victim_own_mappings(&victim), 2);
	victim_end(&victim);
}

UNIT_TEST(a_target_that_is_gone_is_told_and_nothing_is_filled_in)
{
	struct victim victim;
	struct hi_snapshot snapshot = {.fd_count = 4711};
	struct snapshot_left left = {.earlier = 4711};
	victim_start(&victim, change_step_by_step);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
	CHECK(snapshot_take(victim.pid, victim.pid, &snapshot) < 0);
	CHECK_EQ(snapshot.fd_count, 4711);
	CHECK(snapshot_left(victim.pid, victim.pid, 0, 0, &left) < 0);
	CHECK_EQ(left.earlier, 4711);
	victim_forget(&victim);
}

UNIT_MAIN()
