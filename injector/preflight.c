/* SPDX-License-Identifier: MIT */
/*
 * preflight.c - a table of checks, each of which looks at one possible obstacle and, if it is there, names cause and remedy.
 *
 * The order of the table matters: the cheap and certain come first, and a check may use what those before it have opened. No check may stop, write to or signal
 * the target. Checks of what kind of process it is are here, of our rights in preflight_access.c, of its program in preflight_program.c.
 * Enter at preflight_run.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int refuse(struct subject *subject, enum preflight_verdict verdict, const char *remedy, const char *cause, ...)
{
	struct preflight *out = subject->out;
	va_list arguments;

	out->verdict = verdict;
	va_start(arguments, cause);
	vsnprintf(out->cause, sizeof(out->cause), cause, arguments);
	va_end(arguments);
	snprintf(out->remedy, sizeof(out->remedy), "%s", remedy);
	return PREFLIGHT_REFUSED;
}

void copy_printable(char *into, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i]; i++)
		into[i] = (unsigned char)from[i] < ' ' || from[i] == 127 ? '?' : from[i];
	into[i] = '\0';
}

ssize_t read_text(const char *path, char *into, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, into, size - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	into[got > 0 ? got : 0] = '\0';
	return got;
}

void comm_of(pid_t pid, char comm[16])
{
	struct proc_status status;

	if (proc_status_read(pid, pid, &status) == 0)
		copy_printable(comm, 16, status.comm);
	else
		strcpy(comm, "?");
}

/* ---- what kind of process is it ---------------------------------------------------------------------------------------------- */

static int check_exists(struct subject *subject)
{
	struct preflight *out = subject->out;
	int error = proc_status_read(out->asked, out->asked, &out->status);

	if (error == 0) {
		out->pid = out->tid = out->status.tgid;
		if (out->pid != out->asked)
			error = proc_status_read(out->pid, out->pid, &out->status);
	}
	if (error == 0) {
		copy_printable(out->comm, sizeof(out->comm), out->status.comm);
		return 0;
	}
	if (kill(out->asked, 0) == 0 || errno == EPERM)
		return refuse(subject, PREFLIGHT_NOT_PERMITTED, "try sudo", "/proc does not show it (mounted with hidepid)");
	return refuse(subject, PREFLIGHT_NO_PROCESS, "check the pid; it must be of this pid namespace", "no such process");
}

static int check_self(struct subject *subject)
{
	if (subject->out->pid != getpid())
		return 0;
	return refuse(subject, PREFLIGHT_SELF, "give the pid of another process", "that is heapinject itself");
}

static int check_kernel_thread(struct subject *subject)
{
	if (!subject->out->status.is_kernel_thread)
		return 0;
	return refuse(subject, PREFLIGHT_KERNEL_THREAD, "give the pid of a program", "it is a kernel thread and has no heap");
}

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

/* A leader that has ended while other threads live on hides maps, exe and mem of the process; any live thread still shows them. */
static int check_zombie(struct subject *subject)
{
	struct preflight *out = subject->out;
	struct proc_status status;
	char parent[16];
	pid_t *tids;
	size_t count, i;
	int error;

	if (!is_dead(out->status.state))
		return 0;
	error = proc_tasks(out->pid, &tids, &count);
	if (error)
		return error;
	for (i = 0; i < count; i++) {
		if (proc_status_read(out->pid, tids[i], &status) || is_dead(status.state))
			continue;
		out->tid = tids[i];
		out->status = status;
		break;
	}
	free(tids);
	if (out->tid != out->pid)
		return 0;
	comm_of(out->status.ppid, parent);
	return refuse(subject, PREFLIGHT_ZOMBIE, "nothing is left to profile", "it has exited already (a zombie that its parent %d (%s) has not collected)",
		      out->status.ppid, parent);
}

/* Any thread may have a tracer or a seccomp mode of its own. */
static int check_threads(struct subject *subject)
{
	struct preflight *out = subject->out;
	struct proc_status status, ours;
	char tracer[16], remedy[64];
	pid_t *tids;
	size_t count, i;
	int result = proc_status_read(getpid(), getpid(), &ours);

	if (!result)
		result = proc_tasks(out->pid, &tids, &count);
	if (result)
		return result;
	for (i = 0; i < count && !result; i++) {
		if (proc_status_read(out->pid, tids[i], &status))
			continue;
		if (status.tracer) {
			comm_of(status.tracer, tracer);
			snprintf(remedy, sizeof(remedy), "stop %s (pid %d) first", tracer, status.tracer);
			result = refuse(subject, PREFLIGHT_TRACED, remedy, "it is being traced by %d (%s), and a process can have one tracer only",
					status.tracer, tracer);
		} else if (status.seccomp == 1) {
			result = refuse(subject, PREFLIGHT_SECCOMP, "run it without strict seccomp to profile it",
					"thread %d is under strict seccomp: the kernel would kill it for the first call made in it", tids[i]);
		} else if (status.seccomp && !(ours.cap_effective >> CAP_SYS_ADMIN & 1)) {
			result = refuse(subject, PREFLIGHT_SECCOMP, "try sudo, which can suspend the filter for a moment",
					"thread %d is under a seccomp filter, which may kill it for calls that it does not know", tids[i]);
		}
	}
	free(tids);
	return result;
}

/* ---- would the machinery work in it -------------------------------------------------------------------------------------------- */

static int check_shadow_stack(struct subject *subject)
{
	if (!subject->out->status.shadow_stack)
		return 0;
	return refuse(subject, PREFLIGHT_SHADOW_STACK, "start it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off",
		      "it runs with a shadow stack, which a borrowed thread would violate");
}

/* True if the file exists and its text contains the word. */
static bool file_says(const char *mount, const char *group, const char *file, const char *word)
{
	char path[512], text[256];

	snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
	return read_text(path, text, sizeof(text)) > 0 && strstr(text, word);
}

/* A frozen thread never reaches a stop. Version 2 hierarchy, then version 1. */
static int check_frozen(struct subject *subject)
{
	char path[64], text[4096];
	char *line, *rest = text;
	bool frozen = false;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", subject->out->pid);
	if (read_text(path, text, sizeof(text)) <= 0)
		return 0;
	while (!frozen && (line = strsep(&rest, "\n"))) {
		char *group = strrchr(line, ':');

		if (!group)
			continue;
		if (strncmp(line, "0::", 3) == 0)
			frozen = file_says("/sys/fs/cgroup", group + 1, "cgroup.events", "frozen 1");
		else if (strstr(line, ":freezer:"))
			frozen = file_says("/sys/fs/cgroup/freezer", group + 1, "freezer.state", "FROZEN");
	}
	if (!frozen)
		return 0;
	return refuse(subject, PREFLIGHT_FROZEN, "thaw it first (docker unpause, or cgroup.freeze = 0)", "its control group is frozen");
}

/* ---- entry ------------------------------------------------------------------------------------------------------------------------- */

static int (*const checks[])(struct subject *) = {
	check_exists,       check_self,   check_kernel_thread, check_zombie,          check_threads, check_permission,
	check_shadow_stack, check_frozen, check_emulated,      check_earlier_session, check_abi,     check_hooks,
};

#define LOADING_TRIES 50
#define LOADING_PAUSE_NS 10000000

static int run_checks(struct preflight *out)
{
	struct subject subject = {.out = out, .memory.fd = -1};
	int answer = 0;
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]) && !answer; i++)
		answer = checks[i](&subject);
	elf_images_close(&subject.images);
	maps_close(&subject.maps);
	memory_close(&subject.memory);
	return answer < 0 ? answer : 0;
}

int preflight_run(pid_t pid, struct preflight *out_preflight)
{
	const struct timespec pause = {.tv_nsec = LOADING_PAUSE_NS};
	struct preflight result;
	unsigned tries = LOADING_TRIES;
	int error;

	for (;;) {
		result = (struct preflight){.asked = pid};
		error = run_checks(&result);
		if (error || result.verdict != PREFLIGHT_LOADING || --tries == 0)
			break;
		nanosleep(&pause, NULL);
	}
	if (!error)
		*out_preflight = result;
	return error;
}

void preflight_print(FILE *stream, const struct preflight *preflight)
{
	static const char *const libcs[] = {
		[PREFLIGHT_LIBC_UNKNOWN] = "unknown", [PREFLIGHT_LIBC_GLIBC] = "glibc", [PREFLIGHT_LIBC_MUSL] = "musl", [PREFLIGHT_LIBC_STATIC] = "static"};

	if (preflight->asked != preflight->pid)
		fprintf(stream, "%d is a thread of process %d\n", preflight->asked, preflight->pid);
	fprintf(stream, "%d (%s) can be attached to\n", preflight->pid, preflight->comm);
	fprintf(stream, "  program    %s\n", preflight->exe);
	fprintf(stream, "  user       uid %u\n", preflight->status.uid_effective);
	fprintf(stream, "  threads    %u\n", preflight->status.threads);
	fprintf(stream, "  libc       %s %s\n", libcs[preflight->libc], preflight->libc_version);
	fprintf(stream, "  allocator  %s\n", preflight->allocator);
	fprintf(stream, "  to hook    %zu slots (%zu others lead elsewhere and are left alone)\n", preflight->slot_count, preflight->foreign_slot_count);
	fprintf(stream, "  seccomp    %s\n", preflight->status.seccomp ? "filter" : "none");
	fprintf(stream, "  loaders    map%s\n", preflight->libc == PREFLIGHT_LIBC_GLIBC ? ", dlopen" : "");
}

void preflight_explain(const struct preflight *preflight, char *line, size_t size)
{
	if (preflight->comm[0])
		snprintf(line, size, "cannot attach to %d (%s): %s; %s", preflight->pid, preflight->comm, preflight->cause, preflight->remedy);
	else
		snprintf(line, size, "cannot attach to %d: %s; %s", preflight->asked, preflight->cause, preflight->remedy);
}
