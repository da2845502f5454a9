/* SPDX-License-Identifier: MIT */
/*
 * sandbox_filter.c - see sandbox_filter.h.
 *
 * A call that is not listed as allowed fails with EPERM, because libraries try harmless things (is
 * this a terminal? is there a configuration file?) and continue without them. The calls that only
 * an attacker who has taken the process over would try kill the process.
 */
#include "sandbox_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* One call under one condition: (argument `number` & mask) == value. mask 0 = no condition. */
struct allowed {
	int call;
	unsigned number;
	uint64_t mask, value;
};

/* the kernel uses only the low 32 bits of the arguments that are compared */
#define EXACTLY UINT32_MAX

static const struct allowed allowed[] = {
	/* descriptors that the child has or is handed */
	{SCMP_SYS(read), 0, 0, 0},
	{SCMP_SYS(write), 0, 0, 0},
	{SCMP_SYS(writev), 0, 0, 0},
	{SCMP_SYS(pread64), 0, 0, 0},
	{SCMP_SYS(lseek), 0, 0, 0},
	{SCMP_SYS(close), 0, 0, 0},
	{SCMP_SYS(fstat), 0, 0, 0},
	/* newer C libraries implement fstat by it; a filter cannot check that the path is empty */
	{SCMP_SYS(newfstatat), 3, EXACTLY, AT_EMPTY_PATH},
	{SCMP_SYS(fcntl), 1, EXACTLY, F_GETFL},
	{SCMP_SYS(fcntl), 1, EXACTLY, F_DUPFD_CLOEXEC},
	/* memory, never executable */
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	{SCMP_SYS(mremap), 0, 0, 0},
	{SCMP_SYS(munmap), 0, 0, 0},
	{SCMP_SYS(madvise), 0, 0, 0},
	{SCMP_SYS(brk), 0, 0, 0},
	/* calls that a C library makes in addition */
	{SCMP_SYS(futex), 0, 0, 0},
	{SCMP_SYS(rt_sigaction), 0, 0, 0},
	{SCMP_SYS(rt_sigprocmask), 0, 0, 0},
	{SCMP_SYS(rt_sigreturn), 0, 0, 0},
	{SCMP_SYS(restart_syscall), 0, 0, 0},
	{SCMP_SYS(clock_gettime), 0, 0, 0},
	{SCMP_SYS(getrandom), 0, 0, 0},
	{SCMP_SYS(sysinfo), 0, 0, 0},
	{SCMP_SYS(getpid), 0, 0, 0},
	{SCMP_SYS(gettid), 0, 0, 0},
	{SCMP_SYS(exit), 0, 0, 0},
	{SCMP_SYS(exit_group), 0, 0, 0},
	/*
	 * the demangler gives names that might grow without bound to a child process with a time
	 * limit, under the same filter
	 */
	{SCMP_SYS(clone), 0, EXACTLY, CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD},
	{SCMP_SYS(set_robust_list), 0, 0, 0},
	{SCMP_SYS(wait4), 0, 0, 0},
	{SCMP_SYS(pipe2), 0, 0, 0},
	{SCMP_SYS(prlimit64), 0, EXACTLY, 0},
};

static const int deadly[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(tgkill),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(socket),
	SCMP_SYS(socketpair),
	SCMP_SYS(connect),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(mount),
	SCMP_SYS(chroot),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(add_key),
	SCMP_SYS(keyctl),
};

/*
 * The calls that a process which speaks to servers makes depend on the C library, on what resolves
 * names here, and on the library for TLS. So it has a list of what it may not do.
 */
static const int needed_for_network[] = {
	SCMP_SYS(tkill),      SCMP_SYS(tgkill),  SCMP_SYS(socket),
	SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind),
};
static const int not_for_network[] = {
	SCMP_SYS(open_by_handle_at), SCMP_SYS(process_madvise), SCMP_SYS(kcmp),
	SCMP_SYS(init_module),       SCMP_SYS(finit_module),    SCMP_SYS(kexec_load),
	SCMP_SYS(request_key),       SCMP_SYS(swapon),          SCMP_SYS(reboot),
	SCMP_SYS(pivot_root),        SCMP_SYS(umount2),         SCMP_SYS(quotactl),
	SCMP_SYS(process_mrelease),  SCMP_SYS(setrlimit),       SCMP_SYS(iopl),
};

static bool is_needed_for_network(int call)
{
	for (size_t i = 0; i < sizeof(needed_for_network) / sizeof(*needed_for_network); i++)
		if (needed_for_network[i] == call)
			return true;
	return false;
}

static int add_network_rules(scmp_filter_ctx filter)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(deadly) / sizeof(*deadly); i++)
		if (!is_needed_for_network(deadly[i]))
			err = seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, deadly[i], 0,
						     NULL);
	for (size_t i = 0; !err && i < sizeof(not_for_network) / sizeof(*not_for_network); i++)
		err = seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, not_for_network[i], 0,
					     NULL);
	/* a service is offered by nobody here; libc does without, where it asks the kernel */
	return err ? err
		   : seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(bind), 0, NULL);
}

static int add_rules(scmp_filter_ctx filter, int ask_fd)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(allowed) / sizeof(*allowed); i++) {
		const struct allowed *rule = &allowed[i];
		const struct scmp_arg_cmp condition =
			SCMP_CMP(rule->number, SCMP_CMP_MASKED_EQ, rule->mask, rule->value);
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->call, rule->mask ? 1 : 0,
					     &condition);
	}
	for (size_t i = 0; !err && i < sizeof(deadly) / sizeof(*deadly); i++)
		err = seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, deadly[i], 0, NULL);
	const struct scmp_arg_cmp on_ask_fd =
		SCMP_CMP(0, SCMP_CMP_MASKED_EQ, EXACTLY, (scmp_datum_t)ask_fd);
	if (!err)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1,
					     &on_ask_fd);
	return err ? err
		   : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 1,
					    &on_ask_fd);
}

static int load(scmp_filter_ctx filter, int err)
{
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int sandbox_filter(int ask_fd)
{
	if (SANDBOX_IS_SANITIZED)
		return -ENOTSUP;
	const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	return filter ? load(filter, add_rules(filter, ask_fd)) : -ENOMEM;
}

int sandbox_filter_network(void)
{
	if (SANDBOX_IS_SANITIZED)
		return -ENOTSUP;
	const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	return filter ? load(filter, add_network_rules(filter)) : -ENOMEM;
}
