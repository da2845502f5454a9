/* SPDX-License-Identifier: MIT */
/*
 * remote_test.c - a thread is borrowed again and again from programs that notice damage.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "borrowed.h"
#include "rseq_section.h"
#include "waiters.h"

static void check_unharmed(void (*work)(struct victim_page *), size_t times)
{
	struct victim victim;

	victim_start(&victim, work);
	borrow_often(&victim, times, 300000);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(storm_of_one_thread_is_unharmed)
{
	check_unharmed(storm_alone, 300);
}

UNIT_TEST(storm_of_four_threads_is_unharmed)
{
	check_unharmed(storm_of_four, 200);
}

UNIT_TEST(registers_vector_state_and_red_zone_are_kept)
{
	check_unharmed(canary, 300);
}

UNIT_TEST(programs_that_handle_no_signal_are_unharmed)
{
	if (!CANARY_HAS_LOAD)
		SKIP("on this CPU every program has such code");
	victims_handle_no_signal = true;
	check_unharmed(storm_of_four, 200);
	check_unharmed(canary, 300);
}

/* A pc in a gate entry, in dead memory of the stack, would keep the gate from being unmapped. */
UNIT_TEST(no_copy_of_the_registers_is_left_on_the_stack)
{
	uint8_t left[ARCH_GUARD_MAX];
	struct victim victim;
	struct remote remote;

	victim_start(&victim, canary);
	kill(victim.pid, SIGSTOP); /* nor does it write there */
	WAIT_FOR(victim_state(&victim) == 'T');
	CHECK_EQ(
		remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, UNIT_PATIENCE_MS),
		0);
	CHECK(remote.frame_size <= sizeof(left));
	CHECK_EQ(memory_read(&victim.memory, remote.frame, left, remote.frame_size), 0);
	const uint64_t pc = arch_pc(&remote.original.regs);
	CHECK(memmem(left, remote.frame_size, &pc, sizeof(pc)) != NULL);
	CHECK_EQ(remote_close(&remote), 0);
	CHECK_EQ(memory_read(&victim.memory, remote.frame, left, remote.frame_size), 0);
	for (size_t i = 0; i < remote.frame_size; i++)
		CHECK_EQ(left[i], 0);
	kill(victim.pid, SIGCONT);
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- gadgets --------------------------------------------------------------------------------- */

/* Where all files of the process have this name. */
static bool finds_sigreturn_in(struct victim *victim, const char *path,
			       struct remote_gadgets *out_gadgets)
{
	for (size_t i = 0; i < victim->maps.count; i++) {
		if (victim->maps.mapping[i].path[0] == '/')
			victim->maps.mapping[i].path = path;
	}
	return remote_gadgets_find(&victim->maps, &victim->memory, out_gadgets) == 0 &&
	       out_gadgets->sigreturn.load == 0;
}

static bool is_in_vdso(const struct victim *victim, remote_addr address)
{
	const struct mapping *mapping = maps_find(&victim->maps, address);

	return mapping && strcmp(mapping->path, "[vdso]") == 0;
}

/* What the vdso has of them depends on CPU and kernel: all, as that of Linux 6.12 for arm64. */
UNIT_TEST(gadgets_are_found_in_a_program_with_our_name)
{
	struct victim victim;
	struct remote_gadgets gadgets;

	victim_start(&victim, waiters);
	CHECK(finds_sigreturn_in(&victim, "/opt/heapinject/server", &gadgets));
	CHECK(!finds_sigreturn_in(&victim, "/memfd:heapinject", &gadgets) ||
	      (is_in_vdso(&victim, gadgets.syscall_ret) &&
	       is_in_vdso(&victim, gadgets.sigreturn.code)));
	victim_end(&victim);
}

/* ---- interrupted system calls ---------------------------------------------------------------- */

/*
 * Does the injector know, of a stopped thread, which call it has interrupted? Where it has to see
 * that before, not if the thread was on its CPU then, or has waited for something else since.
 */
static bool is_call_known(const struct tracee *tracee)
{
	struct proc_status status;

	return !ARCH_STOP_ENDS_CALLS ||
	       (tracee->before.is_known && !proc_status_read(tracee->pid, tracee->tid, &status) &&
		status.waits - tracee->before.waits <= 1);
}

/*
 * The thread of our choice, and not the one that remote_open would take. Returns whether its call
 * must not fail with EINTR.
 */
static bool borrow_thread(const struct victim *victim, pid_t tid)
{
	struct tracee tracee;
	struct remote remote;
	bool is_known;

	CHECK_EQ(tracee_stop(&tracee, victim->pid, tid, UNIT_PATIENCE_MS), 0);
	is_known = is_call_known(&tracee);
	CHECK_EQ(remote_adopt(&remote, &tracee, &victim->memory, &victim->gadgets), 0);
	CHECK_EQ(map_and_unmap(&remote), 0);
	CHECK_EQ(remote_close(&remote), 0);
	return is_known;
}

/* Returns how many of the threads may be in a call that fails with EINTR. */
static unsigned borrow_each_thread(const struct victim *victim)
{
	unsigned unknown = 0;
	pid_t *tids;
	size_t count;

	CHECK_EQ(proc_tasks(victim->pid, &tids, &count), 0);
	for (size_t i = 0; i < count; i++)
		unknown += !borrow_thread(victim, tids[i]);
	free(tids);
	return unknown;
}

UNIT_TEST(no_waiting_call_is_seen_to_be_interrupted)
{
	struct victim victim;

	victim_start(&victim, waiters);
	const uint64_t start = now_us();
	unsigned rounds = 0, unknown = 0;
	do
		unknown += borrow_each_thread(&victim);
	while (++rounds < 20 && now_us() - start < 400000);
	printf("# %u rounds, %u calls interrupted, of %u stops the call is unknown\n", rounds,
	       (unsigned)victim.page->interrupted, unknown);
	CHECK(victim.page->interrupted <= unknown);
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- signals --------------------------------------------------------------------------------- */

/* As many signals as the queue takes, so that a stop always meets some. Returns their number. */
static uint64_t send_signals(const struct victim *victim, uint64_t for_us)
{
	const uint64_t start = now_us();
	uint64_t sent = 0;

	while (now_us() - start < for_us)
		if (sigqueue(victim->pid, SIGRTMIN + 3, (union sigval){0}) == 0)
			sent++;
		else
			usleep(100);
	return sent;
}

struct sending {
	const struct victim *victim;
	uint64_t sent;
};

static void *send_in_thread(void *argument)
{
	struct sending *sending = argument;

	sending->sent = send_signals(sending->victim, 400000);
	return NULL;
}

UNIT_TEST(no_signal_is_lost)
{
	struct victim victim;
	struct proc_status before;
	struct sending sending = {.victim = &victim};
	pthread_t sender;

	victim_start(&victim, signalled);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	CHECK_EQ(pthread_create(&sender, NULL, send_in_thread, &sending), 0);
	borrow_often(&victim, 1000, 350000);
	pthread_join(sender, NULL);
	printf("# %s: %" PRIu64 " sent\n", unit_current, sending.sent);
	WAIT_FOR(victim.page->handled >= sending.sent);
	wait_for_signal_mask(&before, victim.pid);
	CHECK_EQ(victim.page->handled, sending.sent);
	compare_signal_state(&before, victim.pid);
	victim_check(&victim);
	victim_end(&victim);
}

/* As it would have without the stop. A program that waits for its handler so goes on. */
UNIT_TEST(a_handler_that_comes_meanwhile_ends_the_call)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, victim_wait_for_handler);
	for (uint64_t time = 0; time < 20; time++) {
		WAIT_FOR(victim_state(&victim) == 'S');
		CHECK_EQ(victim.page->interrupted, time);
		CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets,
				     UNIT_PATIENCE_MS),
			 0);
		CHECK_EQ(kill(victim.pid, SIGUSR1), 0);
		CHECK_EQ(map_and_unmap(&remote), 0);
		CHECK_EQ(remote_close(&remote), 0);
		WAIT_FOR(victim.page->interrupted == time + 1);
		CHECK_EQ(victim.page->handled, time + 1);
	}
	victim_end(&victim);
}

static void trap_ignored(struct victim_page *page)
{
	signal(SIGTRAP, SIG_IGN);
	canary(page);
}

static void trap_blocked(struct victim_page *page)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	canary(page);
}

static void check_trap_disposition(void (*work)(struct victim_page *))
{
	struct victim victim;
	struct proc_status before;

	victim_start(&victim, work);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	for (int i = 0; i < 20; i++)
		borrow_once(&victim, NULL);
	compare_signal_state(&before, victim.pid);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(disposition_of_sigtrap_is_kept)
{
	check_trap_disposition(trap_ignored);
	check_trap_disposition(trap_blocked);
}

UNIT_TEST(stopped_target_stays_stopped)
{
	struct victim victim;
	uint64_t progress;

	victim_start(&victim, canary);
	kill(victim.pid, SIGSTOP);
	WAIT_FOR(victim_state(&victim) == 'T');
	progress = victim.page->progress;
	for (int i = 0; i < 20; i++) {
		borrow_once(&victim, NULL);
		WAIT_FOR(victim_state(&victim) == 'T');
	}
	CHECK_EQ(victim.page->progress, progress);
	kill(victim.pid, SIGCONT);
	victim_check(&victim);
	victim_end(&victim);
}

/* A filter that kills at the first mmap: what we make the target do is none of its business. */
static void mmap_forbidden(struct victim_page *page)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
	canary(page);
}

UNIT_TEST(seccomp_filter_is_suspended_or_respected)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, mmap_forbidden);
	for (int i = 0; i < 10; i++) {
		int err = remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets,
				      UNIT_PATIENCE_MS);
		CHECK(err == 0 || err == -EACCES);
		if (!err)
			CHECK_EQ(map_and_unmap(&remote), 0);
		CHECK_EQ(remote_close(&remote), 0);
	}
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- a thread that cannot be had ------------------------------------------------------------- */

static void vfork_parent(struct victim_page *page)
{
	victim_stand_in_vfork(page);
	canary(page);
}

UNIT_TEST(vfork_parent_is_left_alone_until_its_child_is_done)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, vfork_parent);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 50), -EAGAIN);
	victim.page->asked = 1;
	CHECK_EQ(
		remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, UNIT_PATIENCE_MS),
		0);
	CHECK_EQ(remote_close(&remote), 0);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(thread_that_was_given_up_and_stopped_after_that_is_borrowed_all_the_same)
{
	struct victim victim;
	struct tracee tracee;
	struct remote remote;

	victim_start(&victim, vfork_parent);
	CHECK_EQ(tracee_stop(&tracee, victim.pid, victim.pid, 30), -ETIMEDOUT);
	victim.page->asked = 1;
	CHECK_EQ(
		remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, UNIT_PATIENCE_MS),
		0);
	CHECK_EQ(remote_close(&remote), 0);
	victim_check(&victim);
	victim_end(&victim);
}

/* A handler that never returns: what lies below its frames belongs to nobody we know. */
static void spin_in_handler(int signal)
{
	(void)signal;
	canary(signal_page);
}

static void on_signal_stack(struct victim_page *page)
{
	static char stack[65536];
	struct sigaction action = {.sa_handler = spin_in_handler, .sa_flags = SA_ONSTACK};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};

	signal_page = page;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

UNIT_TEST(thread_on_a_stack_not_its_own_is_not_borrowed)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, on_signal_stack);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 50), -EAGAIN);
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(target_that_is_gone_is_said_to_be)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, canary);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
	CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, 200), -ESRCH);
	victim_forget(&victim);
}

/* ---- restartable sequences ------------------------------------------------------------------- */

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static void in_rseq(struct victim_page *page)
{
	page->ready = 1;
	rseq_forever(
		(struct rseq *)((uintptr_t)__builtin_thread_pointer() + (uintptr_t)__rseq_offset),
		&page->progress);
}

UNIT_TEST(restartable_sequence_is_aborted_not_resumed)
{
	struct victim victim;

	if (!&__rseq_size || !__rseq_size)
		SKIP("this libc registers no rseq");
	victim_start(&victim, in_rseq);
	for (int i = 0; i < 30; i++) {
		uint64_t before = victim.page->progress;

		borrow_once(&victim, NULL);
		WAIT_FOR(victim.page->progress > before);
	}
	victim_check(&victim);
	victim_end(&victim);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint64_t sleep_until_asked(struct victim_page *page)
{
	while (!page->asked)
		victim_pause_us(1000);
	return 0;
}

static void call_function(void)
{
	struct victim victim;
	struct remote remote;

	victim_start(&victim, canary);
	for (int i = 0; i < 20; i++) {
		const uint64_t argument[4] = {1, 2, 3, 4};
		uint64_t result = 0;

		CHECK_EQ(remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets,
				     UNIT_PATIENCE_MS),
			 0);
		remote_addr top = map_stack(&remote);
		CHECK_EQ(remote_call(&remote, (uintptr_t)clobber_and_add, argument, top,
				     UNIT_PATIENCE_MS, &result),
			 0);
		CHECK_EQ(result, 4321);
		CHECK_EQ(remote_call(&remote, (uintptr_t)clobber_and_add, argument, top,
				     UNIT_PATIENCE_MS, NULL),
			 0);
		CHECK_EQ(map_and_unmap(&remote), 0);
		CHECK_EQ(remote_close(&remote), 0);
	}
	victim_check(&victim);
	victim_end(&victim);
}

UNIT_TEST(function_is_called_and_returns)
{
	call_function();
	if (!CANARY_HAS_LOAD)
		return;
	victims_handle_no_signal = true;
	call_function();
}

UNIT_TEST(call_that_takes_too_long_ends_by_itself)
{
	struct victim victim;
	struct remote remote;
	struct proc_status before;
	uint64_t result;

	victim_start(&victim, canary);
	CHECK_EQ(proc_status_read(victim.pid, victim.pid, &before), 0);
	CHECK_EQ(
		remote_open(&remote, victim.pid, &victim.memory, &victim.gadgets, UNIT_PATIENCE_MS),
		0);
	remote_addr top = map_stack(&remote);
	uint64_t progress = victim.page->progress;
	CHECK_EQ(remote_call(&remote, (uintptr_t)sleep_until_asked,
			     (const uint64_t[4]){(uintptr_t)victim.page}, top, 20, &result),
		 -ETIMEDOUT);
	CHECK_EQ(remote_close(&remote), 0);
	usleep(20000);
	CHECK_EQ(victim.page->progress, progress);
	victim.page->asked = 1;
	victim_check(&victim);
	compare_signal_state(&before, victim.pid);
	victim_end(&victim);
}

UNIT_MAIN()
