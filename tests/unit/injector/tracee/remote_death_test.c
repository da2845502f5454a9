/* SPDX-License-Identifier: MIT */
/*
 * remote_death_test.c - injectors die with a thread in their hands, and operations fail: the
 * program goes on, and nothing of ours is left in it.
 */
#include "borrowed.h"
#include "fault.h"
#include "waiters.h"

/* An injector that works until it is killed. */
static pid_t start_injector(const struct victim *victim)
{
	pid_t injector = fork();

	if (injector != 0)
		return injector;
	for (;;) {
		struct remote remote;
		uint64_t result;

		if (remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets,
				UNIT_PATIENCE_MS))
			_exit(1);
		remote_addr top = map_stack(&remote);
		(void)!map_and_unmap(&remote);
		(void)!remote_call(&remote, (uintptr_t)clobber_and_add,
				   (const uint64_t[4]){1ull << 40, 0, 0, 0}, top, UNIT_PATIENCE_MS,
				   &result);
		(void)!remote_syscall(&remote, SYS_munmap,
				      (const uint64_t[6]){top - 256 * 1024, 256 * 1024},
				      (int64_t *)&result);
		remote_close(&remote);
	}
}

static void kill_injectors(void (*work)(struct victim_page *), int times)
{
	struct victim victim;
	struct proc_status before;
	int done = 0;

	victim_start(&victim, work);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	srandom((unsigned)getpid());
	const uint64_t start = now_us();
	do {
		pid_t injector = start_injector(&victim);

		victim_pause_us(500 + random() % 3000);
		kill(injector, SIGKILL);
		waitpid(injector, NULL, 0);
		victim_check(&victim);
	} while (++done < times && now_us() - start < 400000);
	wait_for_signal_mask(&before, victim.pid);
	printf("# %s: %d injectors killed\n", unit_current, done);
	victim_end(&victim);
}

UNIT_TEST(storm_survives_the_death_of_injectors)
{
	kill_injectors(storm_alone, 300);
}

UNIT_TEST(canaries_survive_the_death_of_injectors)
{
	kill_injectors(canary, 300);
}

UNIT_TEST(waiting_threads_survive_the_death_of_injectors)
{
	kill_injectors(waiters, 300);
}

UNIT_TEST(storm_of_four_survives_the_death_of_injectors)
{
	kill_injectors(storm_of_four, 100);
}

UNIT_TEST(programs_that_handle_no_signal_survive_the_death_of_injectors)
{
	if (!CANARY_HAS_LOAD)
		SKIP("on this CPU every program has such code");
	victims_handle_no_signal = true;
	kill_injectors(canary, 300);
	kill_injectors(waiters, 300);
}

#ifdef HI_FAULTS

/* What a loader does, with its undo. */
static int session(const struct victim *victim)
{
	struct remote remote;
	int64_t page = -1, ignored;
	int closed, err = remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets,
				      UNIT_PATIENCE_MS);

	if (err)
		return err;
	err = remote_syscall(&remote, SYS_mmap,
			     (const uint64_t[6]){1 << 30, 4096, PROT_READ,
						 MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0},
			     &page);
	if (!err)
		err = remote_syscall(&remote, SYS_getpid, (const uint64_t[6]){0}, &ignored);
	int undone =
		remote_syscall(&remote, SYS_munmap, (const uint64_t[6]){1 << 30, 4096}, &ignored);
	if (undone)
		undone = remote_syscall(&remote, SYS_munmap, (const uint64_t[6]){1 << 30, 4096},
					&ignored);
	closed = remote_close(&remote);
	return err ? err : undone ? undone : closed;
}

/*
 * A call, in a session of its own. The stack stays: after a failure the function may still run on
 * it.
 */
static int calling_session(const struct victim *victim)
{
	struct remote remote;
	uint64_t result = 0;
	int64_t stack = -1;
	const uint64_t map[6] = {2u << 30,
				 1 << 20,
				 PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				 (uint64_t)-1,
				 0};
	int closed, err = remote_open(&remote, victim->pid, &victim->memory, &victim->gadgets,
				      UNIT_PATIENCE_MS);

	if (err)
		return err;
	err = remote_syscall(&remote, SYS_mmap, map, &stack);
	if (!err)
		err = remote_call(&remote, (uintptr_t)clobber_and_add,
				  (const uint64_t[4]){1, 2, 3, 4}, map[0] + map[1],
				  UNIT_PATIENCE_MS, &result);
	if (!err && result != 4321)
		err = -EPROTO;
	closed = remote_close(&remote);
	return err ? err : closed;
}

static void fail_each_operation(int (*run)(const struct victim *),
				void (*work)(struct victim_page *))
{
	struct victim victim;
	struct proc_status before;
	struct maps maps;
	unsigned long operations, failed = 0;

	victim_start(&victim, work);
	fault_reset();
	CHECK_EQ(run(&victim), 0);
	operations = fault_count();
	CHECK(operations > 20);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	for (unsigned long n = 1; n <= operations; n++) {
		char number[24];

		snprintf(number, sizeof(number), "%lu", n);
		setenv("HEAPINJECT_FAULT", number, 1);
		fault_reset();
		failed += run(&victim) != 0;
		unsetenv("HEAPINJECT_FAULT");
		victim_check(&victim);
		compare_signal_state(&before, victim.pid);
		CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
		CHECK_EQ(before.tracer, 0);
		CHECK_EQ(maps_read(victim.pid, victim.pid, &maps), 0);
		CHECK(!maps_find(&maps, 1 << 30));
		maps_close(&maps);
	}
	printf("# %s: %lu operations, %lu sessions failed\n", unit_current, operations, failed);
	CHECK(failed > operations / 2);
	victim_end(&victim);
}

UNIT_TEST(every_failing_operation_is_undone)
{
	fail_each_operation(session, canary);
	fail_each_operation(session, signalled);
	fail_each_operation(calling_session, canary);
}

static void die_at_each_operation(int (*run)(const struct victim *))
{
	struct victim victim;
	struct proc_status before;

	victim_start(&victim, signalled);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	for (unsigned n = 1; n <= 30; n++) {
		pid_t injector = fork();

		if (injector == 0) {
			char number[24];

			snprintf(number, sizeof(number), "%u", n);
			setenv("HEAPINJECT_KILL", number, 1);
			fault_reset();
			_exit(run(&victim) != 0);
		}
		waitpid(injector, NULL, 0);
		victim_check(&victim);
		victim_check(&victim);
		compare_signal_state(&before, victim.pid);
	}
	victim_end(&victim);
}

UNIT_TEST(death_at_each_operation_is_survived)
{
	die_at_each_operation(session);
	die_at_each_operation(calling_session);
	if (!CANARY_HAS_LOAD)
		return;
	victims_handle_no_signal = true;
	die_at_each_operation(session);
	die_at_each_operation(calling_session);
}

#else

UNIT_TEST(every_failing_operation_is_undone)
{
	SKIP("needs a build with FAULTS=1");
}

#endif

UNIT_MAIN()
