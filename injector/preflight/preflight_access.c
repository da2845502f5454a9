/* SPDX-License-Identifier: MIT */
/*
 * preflight_access.c - is the injector allowed to attach?
 *
 * It asks the kernel by opening the target's memory, which takes the same permission check as
 * PTRACE_SEIZE and leaves no trace. The kernel's refusal contains no reason. So the kernel's rules
 * (ptrace_may_access, then the security modules) are checked one by one to find out which one
 * refused. Enter at check_permission and check_seccomp.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_file.h"

/* ---- the rules of the kernel, in its order --------------------------------------------------- */

/* All three uids and all three gids must be the injector's, as the kernel demands. */
static bool same_user(const struct proc_status *status, uid_t uid, gid_t gid)
{
	return status->uid_real == uid && status->uid_effective == uid &&
	       status->uid_saved == uid && status->gid_real == gid &&
	       status->gid_effective == gid && status->gid_saved == gid;
}

/* How to get CAP_SYS_PTRACE: a user needs sudo; root without it is root of a container. */
const char *more_rights(const struct proc_status *ours)
{
	if (ours->uid_effective == 0)
		return "give heapinject CAP_SYS_PTRACE (docker run --cap-add=SYS_PTRACE)";
	if (has_capability(ours, CAP_PERFMON) || has_capability(ours, CAP_BPF))
		return "CAP_PERFMON and CAP_BPF are not enough, CAP_SYS_PTRACE is needed: try sudo";
	return "try sudo";
}

/* The uid_map of a user namespace reads differently from another namespace than from inside. */
static bool in_our_user_namespace(pid_t pid)
{
	char ours[512], its[512];
	const ssize_t size = read_system("/proc/self/uid_map", ours, sizeof(ours));

	return size < 0 ||
	       (read_system(proc_path(pid, 0, "uid_map").text, its, sizeof(its)) == size &&
		strcmp(ours, its) == 0);
}

/* The root of its user namespace is the injector's user: a rootless container of that user. */
static bool is_rootless_of(pid_t pid, uid_t uid)
{
	char its[512];
	unsigned inside, outside;

	return uid && !in_our_user_namespace(pid) &&
	       read_system(proc_path(pid, 0, "uid_map").text, its, sizeof(its)) > 0 &&
	       sscanf(its, "%u %u", &inside, &outside) == 2 && inside == 0 && outside == uid;
}

static int check_user(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	const struct proc_status *ours = &subject->ours;
	char who[32] = "it", remedy[192];

	if (same_user(status, ours->uid_effective, ours->gid_effective))
		return 0;
	if (tid != subject->out->tid)
		snprintf(who, sizeof(who), "its thread %d", tid);
	if (is_rootless_of(subject->out->pid, ours->uid_effective))
		snprintf(remedy, sizeof(remedy),
			 "%s runs as uid %u in a user namespace of yours: podman unshare "
			 "heapinject ..., or %s",
			 who, status->uid_effective, more_rights(ours));
	else if (status->uid_effective != ours->uid_effective)
		snprintf(remedy, sizeof(remedy), "%s runs as uid %u, %s", who,
			 status->uid_effective, more_rights(ours));
	else
		snprintf(remedy, sizeof(remedy), "%s runs as uid %u gid %u, %s", who,
			 status->uid_effective, status->gid_effective, more_rights(ours));
	return refuse(subject, PREFLIGHT_OTHER_USER, remedy, "Operation not permitted");
}

/* The kernel makes root the owner of /proc/PID if the process is not dumpable, no matter which user
 * runs it. */
static int check_dumpable(struct subject *subject, const struct proc_status *status)
{
	struct stat info;
	char remedy[192];

	if (stat(proc_path(subject->out->pid, 0, "stat").text, &info) ||
	    info.st_uid == status->uid_effective)
		return 0;
	snprintf(remedy, sizeof(remedy),
		 "it is not dumpable (setuid, capabilities, unreadable, or by prctl), %s",
		 more_rights(&subject->ours));
	return refuse(subject, PREFLIGHT_NOT_DUMPABLE, remedy, "Operation not permitted");
}

static int check_capabilities(struct subject *subject, const struct proc_status *status)
{
	static const char *const names[] = {"CHOWN",
					    "DAC_OVERRIDE",
					    "DAC_READ_SEARCH",
					    "FOWNER",
					    "FSETID",
					    "KILL",
					    "SETGID",
					    "SETUID",
					    "SETPCAP",
					    "LINUX_IMMUTABLE",
					    "NET_BIND_SERVICE",
					    "NET_BROADCAST",
					    "NET_ADMIN",
					    "NET_RAW",
					    "IPC_LOCK",
					    "IPC_OWNER",
					    "SYS_MODULE",
					    "SYS_RAWIO",
					    "SYS_CHROOT",
					    "SYS_PTRACE",
					    "SYS_PACCT",
					    "SYS_ADMIN",
					    "SYS_BOOT",
					    "SYS_NICE",
					    "SYS_RESOURCE",
					    "SYS_TIME",
					    "SYS_TTY_CONFIG",
					    "MKNOD",
					    "LEASE",
					    "AUDIT_WRITE",
					    "AUDIT_CONTROL",
					    "SETFCAP",
					    "MAC_OVERRIDE",
					    "MAC_ADMIN",
					    "SYSLOG",
					    "WAKE_ALARM",
					    "BLOCK_SUSPEND",
					    "AUDIT_READ",
					    "PERFMON",
					    "BPF",
					    "CHECKPOINT_RESTORE"};
	const uint64_t lacking = status->cap_permitted & ~subject->ours.cap_effective;
	const unsigned first = (unsigned)__builtin_ctzll(lacking | 1ull << 63);
	char remedy[192];

	if (!lacking)
		return 0;
	snprintf(remedy, sizeof(remedy), "it holds capabilities that you lack (CAP_%s%s), %s",
		 first < sizeof(names) / sizeof(names[0]) ? names[first] : "?",
		 lacking & (lacking - 1) ? " and more" : "", more_rights(&subject->ours));
	return refuse(subject, PREFLIGHT_CAPABILITIES, remedy, "Operation not permitted");
}

/* ---- the security modules -------------------------------------------------------------------- */

static int check_yama(struct subject *subject)
{
	const long scope = read_system_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	if (scope >= 3)
		return refuse(subject, PREFLIGHT_YAMA, "a reboot with a lower setting is needed",
			      "kernel.yama.ptrace_scope is 3, which forbids attaching to anything");
	if (has_capability(&subject->ours, CAP_SYS_PTRACE))
		return 0;
	if (scope == 2)
		return refuse(subject, PREFLIGHT_YAMA, more_rights(&subject->ours),
			      "Operation not permitted: kernel.yama.ptrace_scope is 2, which asks "
			      "for CAP_SYS_PTRACE");
	if (scope == 1)
		return refuse(subject, PREFLIGHT_YAMA,
			      "try sudo, or sysctl kernel.yama.ptrace_scope=0",
			      "Operation not permitted: kernel.yama.ptrace_scope is 1, which "
			      "allows child processes only");
	return 0;
}

static int check_selinux(struct subject *subject)
{
	char ours[128];

	if (read_system_number("/sys/fs/selinux/enforce", 0) != 1)
		return 0;
	if (read_system_number("/sys/fs/selinux/booleans/deny_ptrace", 0) == 1)
		return refuse(subject, PREFLIGHT_SECURITY_MODULE,
			      "setsebool deny_ptrace off, for as long as it takes",
			      "SELinux forbids all attaching (its boolean deny_ptrace is on)");
	if (read_system("/proc/self/attr/current", ours, sizeof(ours)) <= 0 ||
	    strstr(ours, ":unconfined_t:"))
		return 0;
	ours[strcspn(ours, "\n")] = '\0';
	return refuse(subject, PREFLIGHT_SECURITY_MODULE,
		      "ausearch -m AVC shows the rule; run heapinject in an unconfined domain",
		      "SELinux denies it to %.100s", ours);
}

/* AppArmor denies only confined tracers. */
static int check_apparmor(struct subject *subject)
{
	char profile[128], enabled[8];

	if (read_system("/sys/module/apparmor/parameters/enabled", enabled, sizeof(enabled)) <= 0 ||
	    enabled[0] != 'Y')
		return 0;
	if (read_system("/proc/self/attr/apparmor/current", profile, sizeof(profile)) <= 0 &&
	    read_system("/proc/self/attr/current", profile, sizeof(profile)) <= 0)
		return 0;
	profile[strcspn(profile, " \n")] = '\0'; /* "docker-default (enforce)" */
	if (strcmp(profile, "unconfined") == 0)
		return 0;
	return refuse(subject, PREFLIGHT_SECURITY_MODULE,
		      "run heapinject on the host, or with --security-opt apparmor=unconfined",
		      "the AppArmor profile %.100s, under which heapinject runs, denies it",
		      profile);
}

/* ---- which rule was it ----------------------------------------------------------------------- */

/*
 * The injector's capabilities are valid only for processes of its own user namespace and of those
 * below it.
 */
static int check_user_namespace(struct subject *subject)
{
	if (in_initial_user_namespace() || in_our_user_namespace(subject->out->pid))
		return 0;
	return refuse(subject, PREFLIGHT_USER_NAMESPACE,
		      "run heapinject outside of this namespace or container",
		      "Operation not permitted: you are privileged in a user namespace only, and "
		      "it lives outside");
}

/*
 * The files of /proc/PID require CAP_SYS_PTRACE as well; but they also belong to the target's user,
 * and overriding that takes another capability.
 */
static int check_files(struct subject *subject)
{
	struct stat info;

	if (has_capability(&subject->ours, CAP_DAC_OVERRIDE) ||
	    stat(proc_path(subject->out->pid, 0, "mem").text, &info) ||
	    info.st_uid == subject->ours.uid_effective)
		return 0;
	return refuse(subject, PREFLIGHT_OTHER_USER,
		      "add CAP_DAC_OVERRIDE, or run heapinject as root",
		      "Operation not permitted: CAP_SYS_PTRACE alone does not open /proc/%d/mem, "
		      "which belongs to uid %u",
		      subject->out->pid, info.st_uid);
}

static int check_capable(struct subject *subject)
{
	int answer = check_user_namespace(subject);

	return answer ? answer : check_files(subject);
}

/* The ordinary rules, which CAP_SYS_PTRACE overrides. */
static int check_rules(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	int answer = check_user(subject, tid, status);

	if (!answer)
		answer = check_dumpable(subject, status);
	return answer ? answer : check_capabilities(subject, status);
}

/*
 * A process cannot find out that it is in a Landlock domain. If all other causes are ruled out,
 * Landlock remains, where the kernel has it.
 */
static int refuse_unexplained(struct subject *subject)
{
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0)
		return refuse(subject, PREFLIGHT_SANDBOXED,
			      "run heapinject from a shell that is not in a sandbox",
			      "Operation not permitted, against all other rules: heapinject seems "
			      "to run in a Landlock sandbox, which the process is not in");
	return refuse(subject, PREFLIGHT_SANDBOXED,
		      "look into the audit log, or run heapinject unconfined",
		      "Operation not permitted: a security module denies it");
}

int explain_denied(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	int answer = 0;

	if (read_system_number("/proc/sys/kernel/yama/ptrace_scope", 0) < 3)
		answer = has_capability(&subject->ours, CAP_SYS_PTRACE)
				 ? check_capable(subject)
				 : check_rules(subject, tid, status);
	if (!answer)
		answer = check_yama(subject);
	if (!answer)
		answer = check_selinux(subject);
	if (!answer)
		answer = check_apparmor(subject);
	return answer ? answer : refuse_unexplained(subject);
}

/* ---- the question to the kernel -------------------------------------------------------------- */

/* Threads may have different users, and detach must be able to stop each of them. */
static int ask_for_thread(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	struct memory memory;
	int err = memory_open(&memory, subject->out->pid, tid);

	if (err == -EACCES || err == -EPERM)
		return explain_denied(subject, tid, status);
	if (err == -ESRCH) /* that thread has just ended */
		return 0;
	if (!err)
		memory_close(&memory);
	return err;
}

int check_permission(struct subject *subject)
{
	const struct preflight *out = subject->out;
	int err = memory_open(&subject->memory, out->pid, out->tid);

	if (err == 0)
		(void)!proc_auxv(out->pid, out->tid, AT_RANDOM, &subject->memory.witness);
	if (err == 0)
		err = maps_read(out->pid, out->tid, &subject->maps);
	if (err == -EACCES || err == -EPERM)
		return explain_denied(subject, out->tid, &out->status);
	if (err == -ESRCH || err == -ENOENT)
		return refuse(subject, PREFLIGHT_NO_PROCESS, "nothing is left to profile",
			      "it has just exited");
	return err ? err : for_each_thread(subject, ask_for_thread);
}

/* ---- seccomp in the target ------------------------------------------------------------------- */

/*
 * Strict seccomp could be suspended like a filter. But a heap that can never grow (brk and mmap are
 * forbidden, too) is not worth the risk to the process.
 */
static int look_for_seccomp(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	if (status->seccomp && !subject->filtered)
		subject->filtered = tid;
	if (status->seccomp != 1)
		return 0;
	return refuse(subject, PREFLIGHT_STRICT_SECCOMP,
		      "run it without strict seccomp to profile it",
		      "thread %d is under strict seccomp: the kernel would kill it for the first "
		      "call made in it",
		      tid);
}

static int check_filter(struct subject *subject, pid_t tid)
{
	static const char cause[] = "thread %d is under a seccomp filter, which may kill it for "
				    "calls that it does not know";
	const struct proc_status *ours = &subject->ours;
	bool may_suspend;
	int err;

	err = ask_suspend(&may_suspend);
	if (err || may_suspend)
		return err;
	/* root of a user namespace has no right to it anywhere, not even unfiltered */
	if (!in_initial_user_namespace())
		return refuse(subject, PREFLIGHT_SECCOMP_FILTER,
			      "run heapinject as root of the machine (sudo), outside of this user "
			      "namespace, or the process without the filter (podman run "
			      "--security-opt seccomp=unconfined)",
			      cause, tid);
	if (ours->seccomp)
		return refuse(subject, PREFLIGHT_SECCOMP_FILTER,
			      "run heapinject on the host or in a privileged container beside it "
			      "(docker run --pid=container:NAME --privileged): under a filter "
			      "itself it may not suspend one",
			      cause, tid);
	if (!has_capability(ours, CAP_SYS_ADMIN))
		return refuse(subject, PREFLIGHT_SECCOMP_FILTER,
			      ours->uid_effective
				      ? "try sudo, which can suspend the filter for a moment"
				      : "give heapinject CAP_SYS_ADMIN, to suspend the filter for "
					"a moment",
			      cause, tid);
	return refuse(subject, PREFLIGHT_SECCOMP_FILTER,
		      "a kernel with CONFIG_CHECKPOINT_RESTORE could suspend the filter", cause,
		      tid);
}

int check_seccomp(struct subject *subject)
{
	const int answer = for_each_thread(subject, look_for_seccomp);

	return answer || !subject->filtered ? answer : check_filter(subject, subject->filtered);
}
