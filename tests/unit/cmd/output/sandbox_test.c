/* SPDX-License-Identifier: MIT */
/* sandbox: what is left to a process in it, each seen from inside a process of its own. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sandbox_filter.h"
#include "unit.h"

#define FIRST_FD 3
#define DIED 1000 /* plus the signal */

static const struct identity user = {.uid = 65534, .gid = 65534};

static void need_filter(void)
{
	if (SANDBOX_IS_SANITIZED)
		SKIP("a sanitizer needs what the filter forbids");
}

static struct identity whom(void)
{
	return geteuid() == 0 ? user : identity_of_caller();
}

/*
 * What `probe` returns in the sandbox, where it has the descriptors 3 (a memory file) and 4 (a
 * socket); or DIED + signal.
 */
static int in_sandbox(int (*probe)(void))
{
	int status, pair[2], file = memfd_create("kept", MFD_CLOEXEC);

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	const pid_t child = fork();
	if (child == 0) {
		int *const kept[] = {&file, &pair[0]};
		struct sandbox_state state;
		if (sandbox_keep(kept, 2) || sandbox_enter(whom(), pair[0], &state))
			_exit(255);
		_exit(probe());
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	close(file);
	close(pair[0]);
	close(pair[1]);
	return WIFSIGNALED(status) ? DIED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += syscall(SYS_fcntl, fd, F_GETFL) >= 0;
	return count;
}

UNIT_TEST(only_the_kept_descriptors_are_left)
{
	CHECK(open("/etc/passwd", O_RDONLY) >= 0);
	CHECK(dup2(0, 900) == 900);
	CHECK_EQ(in_sandbox(count_descriptors), FIRST_FD + 2);
}

UNIT_TEST(descriptors_move_to_their_places_in_any_order)
{
	int low[4], none = -1;
	struct stat before[4], after;

	for (int i = 0; i < 4; i++) {
		low[i] = memfd_create("one of four", 0);
		CHECK_EQ(fstat(low[i], &before[i]), 0);
	}
	int *const kept[] = {&low[3], &low[1], &none, &low[0], &low[2]};
	CHECK_EQ(sandbox_keep(kept, 5), 0);
	CHECK_EQ(none, -1);
	CHECK_EQ(low[3], 3);
	CHECK_EQ(low[1], 4);
	CHECK_EQ(low[0], 5);
	CHECK_EQ(low[2], 6);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(fstat(low[i], &after), 0);
		CHECK_EQ(after.st_ino, before[i].st_ino);
	}
	CHECK_EQ(fcntl(7, F_GETFD), -1);
}

/* ---- system calls ---------------------------------------------------------------------------- */

static int result_of(long result)
{
	return result < 0 ? errno : 0;
}

static int try_open(void)
{
	return result_of(open("/etc/passwd", O_RDONLY));
}
static int try_open_for_writing(void)
{
	return result_of(open("/tmp/sandbox_test.leak", O_WRONLY | O_CREAT, 0600));
}
static int try_readlink(void)
{
	char text[64];
	return result_of(readlink("/proc/self/exe", text, sizeof(text)));
}
static int try_stat(void)
{
	struct stat status;
	return result_of(stat("/etc/passwd", &status));
}
static int try_executable_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}
static int try_to_make_memory_executable(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? 255 : result_of(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}
static int try_a_thread(void)
{
	return result_of(syscall(SYS_clone3, NULL, 0));
}
static int try_another_namespace(void)
{
	return result_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
static int try_limits_of_others(void)
{
	return result_of(syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, NULL));
}
static int try_a_message_elsewhere(void)
{
	struct msghdr message = {0};
	const int other = fcntl(4, F_DUPFD_CLOEXEC, 0);
	return other < 0 ? 255 : result_of(sendmsg(other, &message, MSG_DONTWAIT));
}

UNIT_TEST(what_libraries_may_try_fails)
{
	need_filter();
	CHECK_EQ(in_sandbox(try_open), EPERM);
	CHECK_EQ(in_sandbox(try_open_for_writing), EPERM);
	CHECK_EQ(in_sandbox(try_readlink), EPERM);
	CHECK_EQ(in_sandbox(try_stat), EPERM);
	CHECK_EQ(in_sandbox(try_executable_memory), EPERM);
	CHECK_EQ(in_sandbox(try_to_make_memory_executable), EPERM);
	CHECK_EQ(in_sandbox(try_a_thread), EPERM);
	CHECK_EQ(in_sandbox(try_another_namespace), EPERM);
	CHECK_EQ(in_sandbox(try_limits_of_others), EPERM);
	CHECK_EQ(in_sandbox(try_a_message_elsewhere), EPERM);
}

static int try_socket(void)
{
	return result_of(socket(AF_INET, SOCK_STREAM, 0));
}
static int try_exec(void)
{
	return result_of(execl("/bin/true", "true", NULL));
}
static int try_ptrace(void)
{
	return result_of(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}
static int try_kill(void)
{
	return result_of(kill(getppid(), 0));
}
static int try_memory_of_others(void)
{
	return result_of(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}
static int try_io_uring(void)
{
	return result_of(syscall(SYS_io_uring_setup, 1, NULL));
}

UNIT_TEST(what_only_an_intruder_would_try_kills)
{
	need_filter();
	CHECK_EQ(in_sandbox(try_socket), DIED + SIGSYS);
	CHECK_EQ(in_sandbox(try_exec), DIED + SIGSYS);
	CHECK_EQ(in_sandbox(try_ptrace), DIED + SIGSYS);
	CHECK_EQ(in_sandbox(try_kill), DIED + SIGSYS);
	CHECK_EQ(in_sandbox(try_memory_of_others), DIED + SIGSYS);
	CHECK_EQ(in_sandbox(try_io_uring), DIED + SIGSYS);
}

/* The demangler forks for names that might grow without end. */
static int fork_in_sandbox(void)
{
	int status, ends[2];
	char byte = 0;

	if (pipe(ends))
		return errno;
	const pid_t child = fork();
	if (child == 0)
		_exit(open("/etc/passwd", O_RDONLY) >= 0 || write(ends[1], "x", 1) != 1);
	if (child < 0 || waitpid(child, &status, 0) != child || status ||
	    read(ends[0], &byte, 1) != 1)
		return 254;
	return byte == 'x' ? 0 : 253;
}

static int write_and_read(void)
{
	char text[8] = "";
	FILE *file = fdopen(fcntl(3, F_DUPFD_CLOEXEC, 0), "w");

	if (!file || fprintf(file, "%s", "bytes") != 5 || fclose(file))
		return errno;
	return pread(3, text, sizeof(text), 0) == 5 && !strcmp(text, "bytes") ? 0 : 255;
}

UNIT_TEST(what_it_needs_works)
{
	CHECK_EQ(in_sandbox(write_and_read), 0);
	need_filter();
	CHECK_EQ(in_sandbox(fork_in_sandbox), 0);
}

/* ---- rights and limits ----------------------------------------------------------------------- */

/* /proc/PID/status of a process in the sandbox, as that user. */
static void status_of(struct identity wanted_user, char *text, size_t size)
{
	int ready[2], done[2];

	CHECK_EQ(pipe(ready), 0);
	CHECK_EQ(pipe(done), 0);
	const pid_t child = fork();
	if (child == 0) {
		int *const kept[] = {&ready[1], &done[0]};
		struct sandbox_state state;
		char byte;
		if (sandbox_keep(kept, 2) || sandbox_enter(wanted_user, -1, &state) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(done[0], &byte, 1) == 1);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], text, 1), 1);
	snprintf(text, size, "/proc/%d/status", (int)child);
	FILE *status = fopen(text, "r");
	CHECK(status);
	const size_t got = fread(text, 1, size - 1, status);
	text[got] = 0;
	close(done[1]);
	CHECK_EQ(waitpid(child, NULL, 0), child);
}

static void check_lines(const char *text, const char *const *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strstr(text, wanted[i]))
			UNIT_FAIL("no %s in %s", wanted[i], text);
}

static const char *const nothing_left[] = {
	"NoNewPrivs:\t1\n", "CapInh:\t0000000000000000\n", "CapPrm:\t0000000000000000\n",
	"CapEff:\t0000000000000000\n", "CapAmb:\t0000000000000000\n"};

UNIT_TEST(status_tells_that_nothing_is_left)
{
	static const char *const of_root[] = {"Uid:\t65534\t65534\t65534\t65534\n",
					      "Gid:\t65534\t65534\t65534\t65534\n", "Groups:\t \n",
					      "CapBnd:\t0000000000000000\n"};
	char text[8192];

	CHECK(geteuid() != 0 || setgroups(2, (const gid_t[]){0, 27}) == 0);
	status_of(whom(), text, sizeof(text));
	check_lines(text, nothing_left, sizeof(nothing_left) / sizeof(*nothing_left));
	if (geteuid() == 0)
		check_lines(text, of_root, sizeof(of_root) / sizeof(*of_root));
	CHECK(SANDBOX_IS_SANITIZED || strstr(text, "Seccomp:\t2\n"));
}

/* The kernel takes them from who stops being root, but this one stays what it is. */
UNIT_TEST(capabilities_go_also_where_the_user_stays)
{
	char text[8192];

	status_of(identity_of_caller(), text, sizeof(text));
	check_lines(text, nothing_left, sizeof(nothing_left) / sizeof(*nothing_left));
}

static int try_much_memory(void)
{
	static void *volatile kept; /* a block that nobody uses need not be allocated */
	size_t got = 0;

	while (got < 64 && (kept = malloc(1ull << 30)))
		got++;
	return (int)got;
}

UNIT_TEST(memory_is_bounded)
{
	need_filter();
	CHECK(in_sandbox(try_much_memory) <= 16);
}

/*
 * Root in a container without the capability to change users: behind the filter data may be read
 * all the same, without it not.
 */
UNIT_TEST(root_that_cannot_change_its_user_needs_the_filter)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	struct sandbox_state state = {.is_user = true};
	int status;

	if (geteuid() != 0)
		SKIP("only root changes its user");
	const pid_t child = fork();
	if (child == 0) {
		if (syscall(SYS_capset, &header, none))
			_exit(255);
		const int err = sandbox_enter(user, 3, &state);
		_exit(SANDBOX_IS_SANITIZED ? err != -EPERM
					   : err || state.is_user || !state.has_filter);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

/* ---- a process that speaks to servers -------------------------------------------------------- */

/*
 * What `probe` returns there, where 3 is a directory that it may write to and "/etc" is what it may
 * read; or DIED + signal.
 */
static int in_network_sandbox(int (*probe)(void))
{
	static const char *const readable[] = {"/etc", "/nowhere", NULL};
	char path[] = "/tmp/sandbox_test.XXXXXX";
	int status, directory;

	CHECK(mkdtemp(path));
	directory = open(path, O_RDONLY | O_DIRECTORY);
	CHECK_EQ(fchown(directory, whom().uid, whom().gid), 0);
	const pid_t child = fork();
	if (child == 0) {
		int *const kept[] = {&directory};
		struct sandbox_state state;
		if (sandbox_keep(kept, 1) ||
		    sandbox_enter_network(whom(), readable, directory, &state))
			_exit(255);
		_exit(state.has_landlock ? probe() : 254);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	close(directory);
	CHECK_EQ(rmdir(path), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 254)
		SKIP("the kernel has no Landlock");
	return WIFSIGNALED(status) ? DIED + WTERMSIG(status) : WEXITSTATUS(status);
}

static int create_rename_remove(void)
{
	const int fd = openat(3, "one", O_CREAT | O_EXCL | O_WRONLY, 0600);

	return fd < 0 || write(fd, "x", 1) != 1 || renameat(3, "one", 3, "other") ||
			       openat(3, "other", O_RDONLY) < 0
		       ? 253
		       : result_of(unlinkat(3, "other", 0));
}
static int try_directory(void)
{
	return result_of(mkdirat(3, "directory", 0700));
}
static int try_link(void)
{
	return result_of(symlinkat("/etc", 3, "link"));
}
static int try_other_file(void)
{
	return result_of(open("/usr/bin/env", O_RDONLY));
}
static int try_bind(void)
{
	const struct sockaddr address = {.sa_family = AF_INET};
	return result_of(bind(socket(AF_INET, SOCK_STREAM, 0), &address, sizeof(address)));
}
static int try_listen(void)
{
	return result_of(listen(socket(AF_INET, SOCK_STREAM, 0), 1));
}

UNIT_TEST(a_network_process_has_sockets_and_its_files)
{
	CHECK_EQ(in_network_sandbox(try_socket), 0);
	CHECK_EQ(in_network_sandbox(try_open), 0);
	CHECK_EQ(in_network_sandbox(create_rename_remove), 0);
}

UNIT_TEST(a_network_process_has_no_other_files)
{
	CHECK_EQ(in_network_sandbox(try_other_file), EACCES);
	CHECK_EQ(in_network_sandbox(try_open_for_writing), EACCES);
	CHECK_EQ(in_network_sandbox(try_directory), EACCES);
	CHECK_EQ(in_network_sandbox(try_link), EACCES);
}

UNIT_TEST(a_network_process_reaches_no_other_process)
{
	need_filter();
	CHECK_EQ(in_network_sandbox(try_bind), EPERM);
	CHECK_EQ(in_network_sandbox(try_listen), DIED + SIGSYS);
	CHECK_EQ(in_network_sandbox(try_exec), DIED + SIGSYS);
	CHECK_EQ(in_network_sandbox(try_ptrace), DIED + SIGSYS);
	CHECK_EQ(in_network_sandbox(try_kill), DIED + SIGSYS);
	CHECK_EQ(in_network_sandbox(try_memory_of_others), DIED + SIGSYS);
	CHECK_EQ(in_network_sandbox(try_io_uring), DIED + SIGSYS);
}

UNIT_MAIN()
