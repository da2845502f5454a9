/* SPDX-License-Identifier: MIT */
/*
 * preflight_test.c - each obstacle is set up for real, in a child process, and must be the one that is named; a plain child must be approved.
 *
 * Programs of other kinds (32-bit, static) are in tests/integration/errors.
 */
#include "preflight.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hi_wire.h"
#include "tracee.h"
#include "unit.h"

#define NOBODY 65534

/* What a fork of this program is when nothing else is in the way. */
#ifdef __SANITIZE_ADDRESS__
#define PLAIN PREFLIGHT_INSTRUMENTED
#else
#define PLAIN PREFLIGHT_OK
#endif

/* Runs `prepare` in a child that then sleeps until the case ends; returns once it is prepared. */
static pid_t child_with(void (*prepare)(void))
{
	int ready[2], asleep[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(asleep) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prepare)
			prepare();
		(void)!write(ready[1], "r", 1);
		for (;;) /* all that strict seccomp allows, and it never returns */
			(void)!read(asleep[0], &byte, 1);
	}
	CHECK(pid > 0);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void become_nobody(void)
{
	CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
	prctl(PR_SET_DUMPABLE, 1);
}

static struct preflight run(pid_t pid)
{
	struct preflight preflight;

	CHECK_EQ(preflight_run(pid, &preflight), 0);
	return preflight;
}

static void check_refused(const struct preflight *preflight, enum preflight_verdict verdict, const char *cause, const char *remedy)
{
	if (preflight->verdict != verdict || !strstr(preflight->cause, cause) || !strstr(preflight->remedy, remedy))
		UNIT_FAIL("verdict %d, cause \"%s\", remedy \"%s\"", preflight->verdict, preflight->cause, preflight->remedy);
}

UNIT_TEST(approves_a_plain_process)
{
	pid_t pid = child_with(NULL);
	struct preflight preflight = run(pid);

	CHECK_EQ(preflight.verdict, PLAIN);
	CHECK_EQ(preflight.pid, pid);
	CHECK_EQ(preflight.tid, pid);
	if (PLAIN == PREFLIGHT_OK) {
		CHECK_STR(preflight.cause, "");
		CHECK_EQ(preflight.libc, PREFLIGHT_LIBC_GLIBC);
		CHECK_STR(preflight.libc_version, gnu_get_libc_version());
		CHECK(strstr(preflight.allocator, "libc"));
		CHECK(preflight.slot_count > 0);
	}
	end(pid);
}

UNIT_TEST(no_such_process)
{
	pid_t pid = child_with(NULL);
	struct preflight preflight;
	char line[512], expected[512];

	end(pid);
	preflight = run(pid);
	check_refused(&preflight, PREFLIGHT_NO_PROCESS, "no such process", "check the pid");
	preflight_explain(&preflight, line, sizeof(line));
	snprintf(expected, sizeof(expected), "cannot attach to %d: no such process; ", pid);
	CHECK(strncmp(line, expected, strlen(expected)) == 0);
}

UNIT_TEST(itself)
{
	struct preflight preflight = run(getpid());

	check_refused(&preflight, PREFLIGHT_SELF, "heapinject itself", "another process");
}

UNIT_TEST(kernel_thread)
{
	struct proc_status status;

	if (proc_status_read(2, 2, &status) || !status.is_kernel_thread)
		SKIP("no kernel thread in this pid namespace");
	struct preflight preflight = run(2);
	check_refused(&preflight, PREFLIGHT_KERNEL_THREAD, "kernel thread", "program");
}

UNIT_TEST(zombie)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	struct preflight preflight = run(pid);
	check_refused(&preflight, PREFLIGHT_ZOMBIE, "it has exited already", "nothing is left");
	waitpid(pid, NULL, 0);
}

static int thread_ready[2];

static void *sleep_for_ever(void *unused)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)unused;
	(void)!write(thread_ready[1], &tid, sizeof(tid));
	while (pause())
		continue;
	return NULL;
}

static void start_thread(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, sleep_for_ever, NULL), 0);
}

static void start_thread_and_end_leader(void)
{
	start_thread();
	pthread_exit(NULL);
}

UNIT_TEST(thread_stands_for_its_process)
{
	pid_t pid, tid;

	CHECK(pipe(thread_ready) == 0);
	pid = child_with(start_thread);
	CHECK_EQ(read(thread_ready[0], &tid, sizeof(tid)), sizeof(tid));
	struct preflight preflight = run(tid);
	CHECK_EQ(preflight.verdict, PLAIN);
	CHECK_EQ(preflight.asked, tid);
	CHECK_EQ(preflight.pid, pid);
	end(pid);
}

/* The leader's maps, exe and memory are gone, but the process lives. */
UNIT_TEST(ended_leader_with_a_live_thread)
{
	pid_t pid, tid;

	CHECK(pipe(thread_ready) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		start_thread_and_end_leader();
	}
	CHECK_EQ(read(thread_ready[0], &tid, sizeof(tid)), sizeof(tid));
	struct proc_status status = {0};
	for (int i = 0; i < 1000 && status.state != 'Z'; i++, usleep(1000))
		CHECK_EQ(proc_status_read(pid, pid, &status), 0);
	struct preflight preflight = run(pid);
	CHECK_EQ(preflight.verdict, PLAIN);
	CHECK_EQ(preflight.tid, tid);
	end(pid);
}

UNIT_TEST(traced)
{
	pid_t pid = child_with(NULL);
	struct tracee tracee;
	char who[32];

	if (tracee_stop(&tracee, pid, pid, 1000))
		SKIP("ptrace is not permitted");
	struct preflight preflight = run(pid);
	snprintf(who, sizeof(who), "being traced by %d (", getpid());
	check_refused(&preflight, PREFLIGHT_TRACED, who, "stop ");
	CHECK_EQ(tracee_detach(&tracee), 0);
	end(pid);
}

static void enter_strict_seccomp(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

UNIT_TEST(strict_seccomp)
{
	pid_t pid = child_with(enter_strict_seccomp);
	struct preflight preflight = run(pid);

	check_refused(&preflight, PREFLIGHT_SECCOMP, "strict seccomp", "without");
	end(pid);
}

static void enter_seccomp_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void enter_seccomp_filter_as_nobody(void)
{
	become_nobody();
	enter_seccomp_filter();
}

UNIT_TEST(seccomp_filter_needs_privilege)
{
	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(enter_seccomp_filter_as_nobody);
	struct preflight as_root = run(pid);
	CHECK_EQ(as_root.verdict, PLAIN);
	become_nobody();
	struct preflight as_nobody = run(pid);
	check_refused(&as_nobody, PREFLIGHT_SECCOMP, "seccomp filter", "try sudo");
}

UNIT_TEST(other_user)
{
	char line[512], expected[128];

	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(NULL);
	become_nobody();
	struct preflight preflight = run(pid);
	preflight_explain(&preflight, line, sizeof(line));
	snprintf(expected, sizeof(expected), "cannot attach to %d (%s): Operation not permitted; it runs as uid 0, try sudo", pid, preflight.comm);
	CHECK_STR(line, expected);
}

UNIT_TEST(same_user_without_privilege)
{
	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(become_nobody);
	become_nobody();
	struct preflight preflight = run(pid);
	CHECK_EQ(preflight.verdict, PLAIN);
}

static void become_undumpable_nobody(void)
{
	become_nobody();
	prctl(PR_SET_DUMPABLE, 0);
}

UNIT_TEST(not_dumpable)
{
	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(become_undumpable_nobody);
	become_nobody();
	struct preflight preflight = run(pid);
	check_refused(&preflight, PREFLIGHT_NOT_PERMITTED, "Operation not permitted", "not dumpable");
}

UNIT_TEST(root_of_a_user_namespace)
{
	const pid_t pid = child_with(NULL);

	if (unshare(CLONE_NEWUSER))
		SKIP("no user namespaces here");
	struct preflight preflight = run(pid);
	check_refused(&preflight, PREFLIGHT_NOT_PERMITTED, "in a user namespace only", "outside");
}

/* A control block as an injector leaves it in a target; mapped by whoever calls. */
static int arena_fd = -1;
static pid_t arena_injector;

static void map_arena(void)
{
	struct hi_control *control = mmap(NULL, HI_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd, 0);

	CHECK(control != MAP_FAILED);
	control->magic = HI_WIRE_MAGIC;
	control->injector_pid = (uint32_t)arena_injector;
}

static void make_arena(pid_t injector)
{
	arena_fd = memfd_create(HI_MEMFD_NAME, MFD_CLOEXEC);
	CHECK(arena_fd >= 0 && ftruncate(arena_fd, HI_CONTROL_BYTES) == 0);
	arena_injector = injector;
}

UNIT_TEST(orphan_of_a_dead_injector)
{
	pid_t dead = child_with(NULL);
	char remedy[64];

	end(dead);
	make_arena(dead);
	pid_t pid = child_with(map_arena);
	struct preflight preflight = run(pid);
	snprintf(remedy, sizeof(remedy), "run heapinject detach %d", pid);
	check_refused(&preflight, PREFLIGHT_ORPHAN, "died while attached", remedy);
	CHECK_EQ(preflight.injector, dead);
	end(pid);
}

/* The pid may have been given to another program meanwhile; this one maps the arena, so it is the injector. */
UNIT_TEST(attached_by_a_live_injector)
{
	make_arena(getpid());
	map_arena();
	pid_t pid = child_with(map_arena);
	struct preflight preflight = run(pid);
	char cause[64];

	snprintf(cause, sizeof(cause), "attached to it already (pid %d)", getpid());
	check_refused(&preflight, PREFLIGHT_ATTACHED, cause, "run heapinject detach");
	end(pid);
}

static void choose_a_bad_name(void)
{
	prctl(PR_SET_NAME, "a\033[2Jb");
}

UNIT_TEST(names_cannot_upset_a_terminal)
{
	pid_t pid = child_with(choose_a_bad_name);
	struct preflight preflight = run(pid);

	CHECK_STR(preflight.comm, "a?[2Jb");
	end(pid);
}

UNIT_MAIN()
