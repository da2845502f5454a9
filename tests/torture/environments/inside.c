/* SPDX-License-Identifier: MIT */
/*
 * inside.c - hostile surroundings that a process can only make for itself, and only once its
 * libraries are loaded: a library for LD_PRELOAD.
 *
 * SURROUNDINGS="NAME[=VALUE] ..." says which; they are applied in that order before main, so any
 * program can be put into them unchanged. The table at the end is the list. What cannot be made
 * ends the process with a message: a row must never pass because its surroundings were missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static void give_up(const char *what)
{
	dprintf(STDERR_FILENO, "surroundings: %s: %s\n", what, strerror(errno));
	_exit(1);
}

/* ---- seccomp --------------------------------------------------------------------------------- */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ARGUMENT(n) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define DENY_CALL(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ANSWER(action)
/*
 * The call with one of the bits in its n-th argument. The call's number is in the accumulator
 * before and after.
 */
#define DENY_BITS(number, n, bits, action)                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), ARGUMENT(n), \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), ANSWER(action), LOAD(nr)
#define DENY_VALUE(number, n, value, action)                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), ARGUMENT(n), \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), ANSWER(action), LOAD(nr)

static void install_filter(struct sock_filter *code, unsigned short count, unsigned flags)
{
	const struct sock_fprog program = {count, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		give_up("no_new_privs");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) < 0)
		give_up("seccomp");
}

/*
 * What a sandboxed server forbids itself once it is up: whatever could bring new code in or reach
 * into others. Allocating needs none of it.
 */
static void forbid_new_code(uint32_t action, unsigned flags)
{
	struct sock_filter code[] = {
		LOAD(nr),
		DENY_CALL(SYS_memfd_create, action),
		DENY_CALL(SYS_ftruncate, action),
		DENY_CALL(SYS_ptrace, action),
		DENY_CALL(SYS_process_vm_writev, action),
		DENY_CALL(SYS_execve, action),
		DENY_BITS(SYS_mmap, 2, PROT_EXEC, action),
		DENY_BITS(SYS_mmap, 3, MAP_SHARED | MAP_FIXED, action),
		DENY_BITS(SYS_mprotect, 2, PROT_EXEC, action),
		DENY_VALUE(SYS_madvise, 2, MADV_WIPEONFORK, action),
		DENY_VALUE(SYS_madvise, 2, MADV_DONTFORK, action),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	install_filter(code, sizeof(code) / sizeof(code[0]), flags);
}

static uint32_t action_of(const char *name)
{
	if (!strcmp(name, "kill"))
		return SECCOMP_RET_KILL_PROCESS;
	if (!strcmp(name, "errno"))
		return SECCOMP_RET_ERRNO | EPERM;
	if (!strcmp(name, "trap"))
		return SECCOMP_RET_TRAP;
	errno = EINVAL;
	give_up(name);
	return 0;
}

static void filter(const char *action)
{
	forbid_new_code(action_of(action), 0);
}

/*
 * As a service manager does it: no other programs, no debugging, no memory that is writable and
 * executable.
 */
static void filter_lightly(const char *name)
{
	const uint32_t action = action_of(name);
	struct sock_filter code[] = {
		LOAD(nr),
		DENY_CALL(SYS_execve, action),
		DENY_CALL(SYS_ptrace, action),
		DENY_CALL(SYS_process_vm_writev, action),
		DENY_VALUE(SYS_mmap, 2, PROT_READ | PROT_WRITE | PROT_EXEC, action),
		DENY_BITS(SYS_mprotect, 2, PROT_EXEC, action),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	install_filter(code, sizeof(code) / sizeof(code[0]), 0);
}

/* Held up by a supervisor that never answers; nobody reads the descriptor that this leaves open. */
static void filter_supervised(const char *unused)
{
	(void)unused;
	forbid_new_code(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

/* A thread that only sleeps puts the filter onto all others, whatever they are doing by then. */
static void *filter_all_later(void *action)
{
	usleep(50 * 1000);
	forbid_new_code(action_of(action), SECCOMP_FILTER_FLAG_TSYNC);
	while (pause() < 0)
		;
	return NULL;
}

/* Nothing but read, write and exit: it waits in read for ever. */
static void *confine_strictly(void *pipe_end)
{
	const int fd = (int)(intptr_t)pipe_end;
	char byte;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		give_up("strict seccomp");
	while (syscall(SYS_read, fd, &byte, 1) > 0)
		;
	syscall(SYS_exit, 0);
	return NULL;
}

static void start_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, argument);
	if (errno)
		give_up("thread");
}

static void filter_by_thread(const char *action)
{
	start_thread(filter_all_later, strdup(action));
}

static void strict_thread(const char *unused)
{
	int ends[2];

	(void)unused;
	if (pipe2(ends, O_CLOEXEC))
		give_up("pipe");
	start_thread(confine_strictly, (void *)(intptr_t)ends[0]);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Whatever it maps from now on; with `all` also what it has. */
static void lock_memory(const char *which)
{
	if (mlockall(MCL_FUTURE | (strcmp(which, "all") == 0 ? MCL_CURRENT : 0)))
		give_up("mlockall");
}

static void refuse_exec_gain(const char *unused)
{
	(void)unused;
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		give_up("PR_SET_MDWE");
}

/* Into an empty directory: no /proc, and none of our own files. */
static void change_root(const char *directory)
{
	if (chroot(directory) || chdir("/"))
		give_up(directory);
}

static void own_user_namespace(const char *unused)
{
	(void)unused;
	if (unshare(CLONE_NEWUSER))
		give_up("unshare");
}

static void delete_file(const char *path)
{
	if (unlink(path))
		give_up(path);
}

static void delete_program(const char *unused)
{
	char path[4096];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)unused;
	if (length < 0)
		give_up("/proc/self/exe");
	path[length] = '\0';
	delete_file(path);
}

/* Commas stand for spaces. */
static void set_comm(const char *name)
{
	char comm[16] = "";

	for (size_t i = 0; i + 1 < sizeof(comm) && name[i]; i++)
		comm[i] = name[i] == ',' ? ' ' : name[i];
	if (prctl(PR_SET_NAME, comm))
		give_up("PR_SET_NAME");
}

/* ---- entry ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*apply)(const char *value);
} surroundings[] = {
	{"seccomp", filter},
	{"seccomp-light", filter_lightly},
	{"seccomp-supervised", filter_supervised},
	{"seccomp-by-thread", filter_by_thread},
	{"strict-thread", strict_thread},
	{"mlockall", lock_memory},
	{"mdwe", refuse_exec_gain},
	{"chroot", change_root},
	{"userns", own_user_namespace},
	{"delete", delete_file},
	{"delete-program", delete_program},
	{"comm", set_comm},
};

static void apply(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(surroundings) / sizeof(surroundings[0]); i++)
		if (!strcmp(name, surroundings[i].name)) {
			surroundings[i].apply(value);
			return;
		}
	errno = ENOENT;
	give_up(name);
}

__attribute__((constructor)) static void surround(void)
{
	char *list = getenv("SURROUNDINGS"), *name, *rest;

	for (name = list ? strtok_r(list, " ", &rest) : NULL; name;
	     name = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(name, '=');

		if (value)
			*value++ = '\0';
		apply(name, value ? value : "");
	}
}
