/* SPDX-License-Identifier: MIT */
/*
 * preflight_test.c - each obstacle is set up for real, in a child process, and must be the one that
 * is named; a plain child must be approved.
 *
 * Most obstacles need another program, user, namespace or container: they are in
 * tests/integration/permissions. Security modules that this machine does not run are played by a
 * directory of files that say so.
 */
#include "preflight.h"
#include "preflight_checks.h"

#include <errno.h>
#include <ftw.h>
#include <gnu/libc-version.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clock.h"
#include "hi_wire.h"
#include "tracee.h"
#include "unit.h"

#define NOBODY 65534
#define LOOK_NS 30000000000ull

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
		alarm(UNIT_TIME_LIMIT_S);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* until `prepare` changes its user */
		close(asleep[1]);
		if (prepare)
			prepare();
		(void)!write(ready[1], "r", 1);
		/* all that strict seccomp allows; it returns 0 when the case is over */
		while (read(asleep[0], &byte, 1))
			continue;
		syscall(SYS_exit, 0);
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

	CHECK_EQ(preflight_run(pid, NULL, NULL, &preflight, NULL), 0);
	return preflight;
}

static void check_refused(const struct preflight *preflight, enum preflight_verdict verdict,
			  const char *cause, const char *remedy)
{
	if (preflight->verdict != verdict || !strstr(preflight->cause, cause) ||
	    !strstr(preflight->remedy, remedy))
		UNIT_FAIL("verdict %d, cause \"%s\", remedy \"%s\"", preflight->verdict,
			  preflight->cause, preflight->remedy);
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
		CHECK(preflight.entry_count > 0);
	}
	end(pid);
}

static const struct elf_image *libc_of(const struct elf_images *images)
{
	const struct elf_image *libc;
	remote_addr address;

	CHECK_EQ(elf_images_resolve(images, "gnu_get_libc_version", &address, &libc), 0);
	return libc;
}

UNIT_TEST(hands_on_what_it_has_read)
{
	pid_t pid = child_with(NULL);
	struct preflight preflight;
	struct preflight_program program;
	struct maps maps;

	CHECK_EQ(preflight_run(getpid(), NULL, NULL, &preflight, &program), 0);
	CHECK(preflight.verdict == PREFLIGHT_SELF && program.images.count == 0 &&
	      program.memory.fd < 0);
	CHECK_EQ(preflight_run(pid, NULL, NULL, &preflight, &program), 0);
	CHECK(preflight.verdict == PLAIN && (program.images.count > 0) == (PLAIN == PREFLIGHT_OK));
	if (PLAIN == PREFLIGHT_OK) {
		const Elf *elf = libc_of(&program.images)->elf;

		CHECK_EQ(maps_read(pid, pid, &maps), 0);
		CHECK_EQ(elf_images_update(pid, &maps, &program.memory, &program.images), 0);
		CHECK(libc_of(&program.images)->elf == elf);
		elf_images_close(&program.images);
		memory_close(&program.memory);
		maps_close(&maps);
	}
	end(pid);
}

/* Whatever it finds is of one program. */
UNIT_SLOW_TEST(a_program_that_is_replaced_meanwhile_is_looked_at_anew)
{
	static const char again[] = "exec sh -c \"$0\" \"$0\"";
	pid_t pid = fork();

	if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
		execl("/bin/sh", "sh", "-c", again, again, (char *)NULL);
	CHECK(pid > 0);
	const uint64_t until_ns = clock_now_ns() + LOOK_NS;
	/* a look may take seconds on a busy machine */
	for (int time = 0; time < 20 && clock_now_ns() < until_ns; time++) {
		const struct preflight preflight = run(pid);

		if (preflight.verdict != PLAIN && preflight.verdict != PREFLIGHT_OK &&
		    preflight.verdict != PREFLIGHT_LOADING)
			UNIT_FAIL("%s: %s", preflight_verdict_name(preflight.verdict),
				  preflight.cause);
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
	preflight_explain(&preflight, "attach to", line, sizeof(line));
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
		alarm(UNIT_TIME_LIMIT_S);
		start_thread_and_end_leader();
	}
	CHECK_EQ(read(thread_ready[0], &tid, sizeof(tid)), sizeof(tid));
	struct proc_status status;
	WAIT_FOR(proc_status_read(pid, pid, &status) == 0 && status.state == 'Z');
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

	if (tracee_stop(&tracee, pid, pid, UNIT_PATIENCE_MS))
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

	check_refused(&preflight, PREFLIGHT_STRICT_SECCOMP, "strict seccomp", "without");
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
	check_refused(&as_nobody, PREFLIGHT_SECCOMP_FILTER, "seccomp filter", "try sudo");
}

UNIT_TEST(other_user)
{
	char line[512], expected[128];

	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(NULL);
	become_nobody();
	struct preflight preflight = run(pid);
	preflight_explain(&preflight, "attach to", line, sizeof(line));
	snprintf(expected, sizeof(expected),
		 "cannot attach to %d (%s): Operation not permitted; it runs as uid 0, try sudo",
		 pid, preflight.comm);
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
	check_refused(&preflight, PREFLIGHT_NOT_DUMPABLE, "Operation not permitted",
		      "not dumpable");
}

UNIT_TEST(root_of_a_user_namespace)
{
	const pid_t pid = child_with(NULL);

	if (unshare(CLONE_NEWUSER))
		SKIP("no user namespaces here");
	struct preflight preflight = run(pid);
	check_refused(&preflight, PREFLIGHT_USER_NAMESPACE, "in a user namespace only", "outside");
}

/* A control block as an injector leaves it in a target; mapped by the caller. */
static int arena_fd = -1;
static pid_t arena_injector;

static uint32_t arena_phase;

static void map_arena(void)
{
	struct hi_control *control =
		mmap(NULL, HI_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd, 0);

	CHECK(control != MAP_FAILED);
	control->magic = HI_WIRE_MAGIC;
	control->pid = (uint32_t)getpid();
	CHECK_EQ(proc_start_time(getpid(), &control->start_time), 0);
	control->injector_pid = (uint32_t)arena_injector;
	control->phase = arena_phase;
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
	CHECK(!preflight.has_ended);
	end(pid);
	arena_phase = HI_PHASE_RESTORED;
	pid = child_with(map_arena);
	preflight = run(pid);
	snprintf(remedy, sizeof(remedy), "run heapinject detach %d", pid);
	check_refused(&preflight, PREFLIGHT_ORPHAN,
		      "has ended, but left code to which calls may still return", remedy);
	CHECK(preflight.has_ended);
	CHECK_EQ(preflight.injector, dead);
	end(pid);
}

/*
 * The pid may have been given to another program meanwhile; this one maps the arena, so it is the
 * injector.
 */
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

static void beat(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct hi_control *control =
		mmap(NULL, HI_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd, 0);

	for (control->heartbeat = 1;; control->heartbeat++)
		nanosleep(&pause, NULL);
}

/* As from inside a container: the injector has a number here that no process has. */
UNIT_TEST(attached_by_an_injector_that_cannot_be_seen)
{
	pid_t dead = child_with(NULL);

	end(dead);
	make_arena(dead);
	pid_t pid = child_with(map_arena), beater = fork();
	if (!beater)
		beat();
	struct preflight preflight = run(pid);
	check_refused(&preflight, PREFLIGHT_ATTACHED, "from where this container does not see",
		      "end it there");
	CHECK_EQ(preflight.injector, dead);
	end(beater);
	preflight = run(pid);
	CHECK_EQ(preflight.verdict, PREFLIGHT_ORPHAN);
	end(pid);
}

UNIT_TEST(what_was_inherited_from_a_parent_that_is_attached_to_is_no_obstacle)
{
	make_arena(getpid());
	map_arena();
	pid_t pid = child_with(NULL);
	struct preflight preflight = run(pid);

	CHECK_EQ(preflight.verdict, PLAIN);
	CHECK(preflight.is_inherited);
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

/* ---- security modules ------------------------------------------------------------------------ */

struct machine {
	const char *what;
	const char *file[3][2]; /* path, content */
	enum preflight_verdict verdict;
	const char *cause, *remedy;
};

static void make_file(const char *root, const char *path, const char *content)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	file = fopen(full, "w");
	CHECK(file && fputs(content, file) >= 0 && fclose(file) == 0);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *position)
{
	(void)info, (void)kind, (void)position;
	return remove(path);
}

/* What is said of pid if the kernel of such a machine denies access to it. */
static struct preflight denied_by(const struct machine *machine, pid_t pid)
{
	char root[] = "/tmp/preflight_test.XXXXXX";
	struct preflight preflight = {.asked = pid, .pid = pid, .tid = pid};
	struct subject subject = {.out = &preflight, .memory.fd = -1};

	CHECK(mkdtemp(root));
	for (size_t i = 0; i < 3 && machine->file[i][0]; i++)
		make_file(root, machine->file[i][0], machine->file[i][1]);
	CHECK_EQ(proc_status_read(pid, pid, &preflight.status), 0);
	CHECK_EQ(proc_status_read(getpid(), getpid(), &subject.ours), 0);
	system_root = root;
	CHECK_EQ(explain_denied(&subject, pid, &preflight.status), PREFLIGHT_REFUSED);
	system_root = "";
	CHECK_EQ(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
	return preflight;
}

static void check_machine(const struct machine *machine, pid_t pid)
{
	struct preflight preflight = denied_by(machine, pid);

	if (preflight.verdict != machine->verdict || !strstr(preflight.cause, machine->cause) ||
	    !strstr(preflight.remedy, machine->remedy))
		UNIT_FAIL("%s: verdict %s, cause \"%s\", remedy \"%s\"", machine->what,
			  preflight_verdict_name(preflight.verdict), preflight.cause,
			  preflight.remedy);
}

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

UNIT_TEST(security_modules_that_deny_a_privileged_caller)
{
	static const struct machine machines[] = {
		{"Yama 3", {{YAMA, "3\n"}}, PREFLIGHT_YAMA, "ptrace_scope is 3", "reboot"},
		{"Yama 1 is not it",
		 {{YAMA, "1\n"}},
		 PREFLIGHT_SANDBOXED,
		 "Operation not permitted",
		 "run heapinject"},
		{"SELinux, deny_ptrace",
		 {{"/sys/fs/selinux/enforce", "1"},
		  {"/sys/fs/selinux/booleans/deny_ptrace", "1 1"}},
		 PREFLIGHT_SECURITY_MODULE,
		 "deny_ptrace is on",
		 "setsebool deny_ptrace off"},
		{"SELinux, a domain",
		 {{"/sys/fs/selinux/enforce", "1"},
		  {"/proc/self/attr/current", "system_u:system_r:httpd_t:s0\n"}},
		 PREFLIGHT_SECURITY_MODULE,
		 "SELinux denies it to system_u:system_r:httpd_t:s0",
		 "ausearch"},
		{"SELinux, permissive",
		 {{"/sys/fs/selinux/enforce", "0"},
		  {"/sys/fs/selinux/booleans/deny_ptrace", "1 1"}},
		 PREFLIGHT_SANDBOXED,
		 "Operation not permitted",
		 "run heapinject"},
		{"AppArmor",
		 {{"/sys/module/apparmor/parameters/enabled", "Y\n"},
		  {"/proc/self/attr/current", "docker-default (enforce)\n"}},
		 PREFLIGHT_SECURITY_MODULE,
		 "AppArmor profile docker-default,",
		 "apparmor=unconfined"},
		{"AppArmor, unconfined",
		 {{"/sys/module/apparmor/parameters/enabled", "Y\n"},
		  {"/proc/self/attr/current", "unconfined\n"}},
		 PREFLIGHT_SANDBOXED,
		 "Operation not permitted",
		 "run heapinject"},
	};

	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(NULL);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		check_machine(&machines[i], pid);
	end(pid);
}

UNIT_TEST(yama_denies_a_user_his_own_processes)
{
	static const struct machine machines[] = {
		{"Yama 1",
		 {{YAMA, "1\n"}},
		 PREFLIGHT_YAMA,
		 "ptrace_scope is 1, which allows child processes only",
		 "sysctl kernel.yama.ptrace_scope=0"},
		{"Yama 2",
		 {{YAMA, "2\n"}},
		 PREFLIGHT_YAMA,
		 "ptrace_scope is 2, which asks for CAP_SYS_PTRACE",
		 "try sudo"},
		{"Yama 3", {{YAMA, "3\n"}}, PREFLIGHT_YAMA, "ptrace_scope is 3", "reboot"},
		{"Yama 0",
		 {{YAMA, "0\n"}},
		 PREFLIGHT_SANDBOXED,
		 "Operation not permitted",
		 "run heapinject"},
	};

	if (geteuid() != 0)
		SKIP("needs root");
	pid_t pid = child_with(become_nobody), of_root = child_with(NULL);
	become_nobody();
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		check_machine(&machines[i], pid);
	/* The user comes first: with sudo the question of Yama does not arise. */
	check_machine(&(struct machine){"another's",
					{{YAMA, "1\n"}},
					PREFLIGHT_OTHER_USER,
					"Operation not permitted",
					"it runs as uid 0, try sudo"},
		      of_root);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void check_json(const struct preflight *preflight, const char *expected)
{
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	preflight_print_json(stream, preflight);
	fclose(stream);
	CHECK_STR(text, expected);
	free(text);
}

UNIT_TEST(json_of_an_approval)
{
	const struct preflight preflight = {
		.asked = 12,
		.pid = 11,
		.comm = "cat",
		.exe = "/bin/\xe7\x8c\xab",
		.status = {.ns_pid = 3,
			   .uid_effective = 1000,
			   .gid_effective = 100,
			   .threads = 2,
			   .seccomp = 2},
		.libc = PREFLIGHT_LIBC_GLIBC,
		.libc_version = "2.36",
		.allocator = "libc.so.6",
		.entry_count = 9,
		.slot_count = 7,
		.foreign_slot_count = 1,
		.unhooked = {.unhooked = {{.how = HI_UNHOOKED_PREFIXED,
					   .is_main = true,
					   .function = "je_malloc",
					   .path = "/bin/cat"},
					  {.how = HI_UNHOOKED_DIRECT,
					   .function = "malloc",
					   .path = "/lib/\"x\".so"}},
			     .count = 2},
		.runtimes = 1u << HI_RUNTIME_PHP,
	};

	check_json(&preflight,
		   "{\"asked\":12,\"verdict\":\"ok\",\"cause\":null,\"remedy\":null,\"loaders\":["
		   "\"map\",\"dlopen\"],\"process\":{\"pid\":11,\"inner_pid\":3,"
		   "\"command\":\"cat\",\"program\":\"/bin/"
		   "\xe7\x8c\xab\",\"uid\":1000,\"gid\":100,\"threads\":2,\"seccomp\":\"filter\","
		   "\"libc\":\"glibc\","
		   "\"libc_version\":\"2.36\",\"allocator\":\"libc.so.6\",\"allocators\":[],"
		   "\"functions\":9,"
		   "\"slots\":7,\"foreign_slots\":1,"
		   "\"unhooked\":[{\"function\":\"je_malloc\",\"object\":\"/bin/"
		   "cat\",\"how\":\"prefixed\",\"in_program\":true},"
		   "{\"function\":\"malloc\",\"object\":\"/lib/"
		   "\\\"x\\\".so\",\"how\":\"direct\",\"in_program\":false}],"
		   "\"runtimes\":[{\"name\":\"php\",\"text\":\"memory of requests is not seen "
		   "(memory_get_usage() shows it, USE_ZEND_ALLOC=0 makes it seen); what outlives a "
		   "request and libraries are\"}],\"inherited\":false,"
		   "\"injector\":null}}\n");
}

UNIT_TEST(json_of_a_refusal_before_there_is_a_process)
{
	check_json(&(struct preflight){.asked = 5,
				       .verdict = PREFLIGHT_NO_PROCESS,
				       .cause = "no such process",
				       .remedy = "check the pid"},
		   "{\"asked\":5,\"verdict\":\"no-process\",\"cause\":\"no such "
		   "process\",\"remedy\":\"check the pid\",\"loaders\":[],\"process\":null}\n");
}

/*
 * Overlong forms, surrogates, what is beyond the last character, lone and missing continuation
 * bytes: each byte becomes U+FFFD.
 */
UNIT_TEST(json_is_valid_whatever_a_name_holds)
{
	static const struct {
		const char *name, *json;
	} names[] = {
		{"a\"b\\c", "a\\\"b\\\\c"},
		{"\t\n\x7f", "\\u0009\\u000a\\u007f"},
		{"\xff\x80", "\\ufffd\\ufffd"},
		{"\xc3", "\\ufffd"},
		{"\xc3\"", "\\ufffd\\\""},
		{"\xe2\x82", "\\ufffd\\ufffd"},
		{"\xc0\xaf", "\\ufffd\\ufffd"},
		{"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
		{"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
		{"\xf0\x9f\x90\x88", "\xf0\x9f\x90\x88"},
	};
	char expected[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct preflight preflight = {.asked = 1, .verdict = PREFLIGHT_SELF, .remedy = "-"};

		snprintf(preflight.cause, sizeof(preflight.cause), "%s", names[i].name);
		snprintf(expected, sizeof(expected),
			 "{\"asked\":1,\"verdict\":\"self\",\"cause\":\"%s\",\"remedy\":\"-\","
			 "\"loaders\":[],\"process\":null}\n",
			 names[i].json);
		check_json(&preflight, expected);
	}
}

/* A word for each, and no word twice. */
UNIT_TEST(every_verdict_has_a_word)
{
	for (int verdict = 0; verdict < PREFLIGHT_VERDICTS; verdict++) {
		const char *name = preflight_verdict_name((enum preflight_verdict)verdict);

		CHECK(name && *name);
		for (int other = 0; other < verdict; other++)
			CHECK(strcmp(name, preflight_verdict_name((enum preflight_verdict)other)) !=
			      0);
	}
}

UNIT_MAIN()
