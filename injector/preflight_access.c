/* SPDX-License-Identifier: MIT */
/*
 * preflight_access.c - may we? The kernel is asked by opening the target's memory, which takes the same permission check as PTRACE_SEIZE and leaves no trace.
 *
 * The kernel's no has no reason in it. The rules it follows (ptrace_may_access, then the security modules) are gone through one by one to find out which one said it.
 * Enter at check_permission.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define INITIAL_USER_NAMESPACE 0xeffffffdu /* its inode: PROC_USER_INIT_INO of the kernel */

/* Elsewhere, capabilities are good only for processes of the same namespace and of those below it. */
static bool in_initial_user_namespace(void)
{
	struct stat info;

	return stat("/proc/self/ns/user", &info) == 0 && info.st_ino == INITIAL_USER_NAMESPACE;
}

/* The kernel gives /proc/PID of a process that is not dumpable to root, whoever runs it. */
static bool is_dumpable(const struct preflight *out)
{
	struct stat info;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", out->pid);
	return stat(path, &info) || info.st_uid == out->status.uid_effective;
}

static int yama_scope(void)
{
	char text[16];

	return read_text("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0 ? atoi(text) : 0;
}

/* All three ids of both kinds must be ours, as the kernel asks for. */
static bool same_user(const struct proc_status *status, uid_t uid, gid_t gid)
{
	return status->uid_real == uid && status->uid_effective == uid && status->uid_saved == uid && status->gid_real == gid && status->gid_effective == gid &&
	       status->gid_saved == gid;
}

/* Access was denied although we hold CAP_SYS_PTRACE. */
static int explain_denied_capable(struct subject *subject)
{
	if (!in_initial_user_namespace())
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "run heapinject outside of this namespace or container",
			      "Operation not permitted: you are privileged in a user namespace only, and it lives outside");
	return refuse(subject, PREFLIGHT_NOT_PERMITTED, "look into the audit log, or run unconfined",
		      "Operation not permitted: a security module (AppArmor, SELinux) or a seccomp profile denies it");
}

static int explain_denied(struct subject *subject)
{
	const struct preflight *out = subject->out;
	const struct proc_status *status = &out->status;
	struct proc_status ours;
	int scope = yama_scope();
	int error = proc_status_read(getpid(), getpid(), &ours);
	char remedy[64];

	if (error)
		return error;
	if (scope >= 3)
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "a reboot with a lower setting is needed",
			      "kernel.yama.ptrace_scope is 3, which forbids attaching to anything");
	if (ours.cap_effective >> CAP_SYS_PTRACE & 1)
		return explain_denied_capable(subject);
	if (!same_user(status, ours.uid_effective, ours.gid_effective)) {
		snprintf(remedy, sizeof(remedy), "it runs as uid %u gid %u, try sudo", status->uid_effective, status->gid_effective);
		if (status->uid_effective != ours.uid_effective)
			snprintf(remedy, sizeof(remedy), "it runs as uid %u, try sudo", status->uid_effective);
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, remedy, "Operation not permitted");
	}
	if (status->cap_effective & ~ours.cap_effective)
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "it holds capabilities that you lack, try sudo", "Operation not permitted");
	if (!is_dumpable(out))
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "it is not dumpable (it changed its user, or asked for that), try sudo",
			      "Operation not permitted");
	if (scope == 1)
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "try sudo, or sysctl kernel.yama.ptrace_scope=0",
			      "Operation not permitted: kernel.yama.ptrace_scope is 1, which allows child processes only");
	if (scope == 2)
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "try sudo",
			      "Operation not permitted: kernel.yama.ptrace_scope is 2, which asks for CAP_SYS_PTRACE");
	return refuse(subject, PREFLIGHT_NOT_PERMITTED, "try sudo", "Operation not permitted");
}

/* Opening the memory asks the kernel the same question as PTRACE_SEIZE would. */
int check_permission(struct subject *subject)
{
	const struct preflight *out = subject->out;
	int error = memory_open(&subject->memory, out->pid, out->tid);

	if (error == 0)
		error = maps_read(out->pid, out->tid, &subject->maps);
	if (error == -EACCES || error == -EPERM)
		return explain_denied(subject);
	if (error == -ESRCH || error == -ENOENT)
		return refuse(subject, PREFLIGHT_NO_PROCESS, "nothing is left to profile", "it has just exited");
	return error;
}
