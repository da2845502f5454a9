/* SPDX-License-Identifier: MIT */
/*
 * preflight.c - a table of checks. Each examines one possible obstacle and, if it exists, names
 * cause and remedy.
 *
 * The order of the table matters: the cheap and certain checks come first, and a check may use what
 * those before it have opened. No check may stop, write to or signal the target. This file finds
 * out which process is meant. The other questions have a file each: is the injector able to attach
 * (preflight_caller.c), is it allowed to (preflight_access.c), is the process in a suitable state
 * (preflight_state.c), is its program suitable (preflight_program.c). Enter at preflight_run.
 */
#include "preflight.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plain_text.h"
#include "preflight_checks.h"
#include "proc_file.h"

/* ---- which process is it --------------------------------------------------------------------- */

/* Finds the process that has this pid inside a container; 0: none, or more than one. */
static pid_t find_by_inner_pid(pid_t inner, char comm[16])
{
	DIR *proc = opendir(PROC_DIRECTORY);
	unsigned found = 0;
	pid_t pid = 0, outer;

	while (proc && (outer = proc_next(proc))) {
		struct proc_status status;

		if (proc_status_read(outer, outer, &status) == 0 && status.ns_pid == inner &&
		    outer != inner) {
			found++;
			pid = outer;
			plain_text_copy(comm, 16, status.comm);
		}
	}
	if (proc)
		closedir(proc);
	return found == 1 ? pid : 0;
}

static int refuse_absent(struct subject *subject)
{
	const pid_t asked = subject->out->asked;
	char comm[16], remedy[160];
	const pid_t pid = find_by_inner_pid(asked, comm);

	if (pid)
		snprintf(remedy, sizeof(remedy),
			 "from here, number %d of a container is process %d (%s)", asked, pid,
			 comm);
	else
		snprintf(remedy, sizeof(remedy),
			 "check the pid; it must be of this pid namespace (container)");
	return refuse(subject, PREFLIGHT_NO_PROCESS, remedy, "no such process");
}

static int check_exists(struct subject *subject)
{
	struct preflight *out = subject->out;
	int err = proc_status_read(out->asked, out->asked, &out->status);

	if (err == 0) {
		out->pid = out->tid = out->status.tgid;
		if (out->pid != out->asked)
			err = proc_status_read(out->pid, out->pid, &out->status);
	}
	if (err == 0) {
		plain_text_copy(out->comm, sizeof(out->comm), out->status.comm);
		return 0;
	}
	out->pid = out->tid = 0;
	if (kill(out->asked, 0) == 0 || errno == EPERM)
		return refuse(subject, PREFLIGHT_HIDDEN,
			      "run heapinject as root, or in the group that may see it (the option "
			      "gid= of that mount)",
			      "/proc does not show it (mounted with hidepid)");
	return refuse_absent(subject);
}

static int check_self(struct subject *subject)
{
	if (subject->out->pid != getpid())
		return 0;
	return refuse(subject, PREFLIGHT_SELF, "give the pid of another process",
		      "that is heapinject itself");
}

static int check_kernel_thread(struct subject *subject)
{
	if (!subject->out->status.is_kernel_thread)
		return 0;
	return refuse(subject, PREFLIGHT_KERNEL_THREAD, "give the pid of a program",
		      "it is a kernel thread and has no heap");
}

static int take_thread(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	subject->out->tid = tid;
	subject->out->status = *status;
	return 1;
}

/*
 * A leader that has exited while other threads still run hides maps, exe and mem of the process;
 * any live thread still shows them.
 */
static int check_zombie(struct subject *subject)
{
	struct preflight *out = subject->out;
	char parent[16];
	int found;

	if (!is_dead(out->status.state))
		return 0;
	found = for_each_thread(subject, take_thread);
	if (found)
		return found < 0 ? found : 0;
	comm_of(out->status.ppid, parent);
	return refuse(subject, PREFLIGHT_ZOMBIE, "nothing is left to profile",
		      "it has exited already (a zombie that its parent %d (%s) has not collected)",
		      out->status.ppid, parent);
}

static int look_for_tracer(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	char tracer[16], remedy[64];

	(void)tid;
	if (!status->tracer)
		return 0;
	comm_of(status->tracer, tracer);
	snprintf(remedy, sizeof(remedy), "stop %s (pid %d) first", tracer, status->tracer);
	return refuse(subject, PREFLIGHT_TRACED, remedy,
		      "it is being traced by %d (%s), and a process can have one tracer only",
		      status->tracer, tracer);
}

/* Any thread may have a tracer of its own. */
static int check_traced(struct subject *subject)
{
	return for_each_thread(subject, look_for_tracer);
}

/* ---- entry ----------------------------------------------------------------------------------- */

static int (*const checks[])(struct subject *) = {
	check_proc,          check_exists,   check_self,
	check_kernel_thread, check_zombie,   check_traced,
	check_permission,    check_ptrace,   check_seccomp,
	check_shadow_stack,  check_frozen,   check_uninterruptible,
	check_sharers,       check_emulated, check_earlier_session,
	check_abi,           check_room,     check_hooks,
};

#define LOADING_TRIES 50
#define LOADING_PAUSE_NS 10000000

/*
 * Has the process executed a new program? Then the facts found are of two programs, and an error
 * may be a result of that.
 */
static bool is_replaced(const struct subject *subject)
{
	const struct memory *memory = &subject->memory;

	return memory->fd >= 0 && (!memory_is_alive(memory) || !memory_is_of(memory, memory->tid));
}

static int run_checks(const struct arena_plan *plan, const struct hi_prefixes *prefixes,
		      struct preflight *out, struct preflight_program *out_program)
{
	struct subject subject = {.out = out, .plan = plan, .prefixes = prefixes, .memory.fd = -1};
	int answer = 0;
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]) && !answer; i++)
		answer = checks[i](&subject);
	if (!answer) /* read now, so that it is this program's name and not the previous one's */
		comm_of(out->pid, out->comm);
	if (is_replaced(&subject))
		answer = refuse(&subject, PREFLIGHT_LOADING, "try again in a moment",
				"it has just replaced its program");
	maps_close(&subject.maps);
	if (out_program && !answer) {
		*out_program = (struct preflight_program){subject.memory, subject.images};
		return 0;
	}
	elf_images_close(&subject.images);
	memory_close(&subject.memory);
	return answer < 0 ? answer : 0;
}

int preflight_run(pid_t pid, const struct arena_plan *plan, const struct hi_prefixes *prefixes,
		  struct preflight *out_preflight, struct preflight_program *out_program)
{
	const struct arena_plan defaults = {.interval = HI_INTERVAL_EXACT, .adapts = true};
	const struct timespec pause = {.tv_nsec = LOADING_PAUSE_NS};
	struct preflight result;
	unsigned tries = LOADING_TRIES;
	int err;

	if (out_program)
		*out_program = (struct preflight_program){.memory.fd = -1};
	for (;;) {
		result = (struct preflight){.asked = pid};
		err = run_checks(plan ? plan : &defaults, prefixes, &result, out_program);
		if (err || result.verdict != PREFLIGHT_LOADING || --tries == 0)
			break;
		nanosleep(&pause, NULL);
	}
	if (!err)
		*out_preflight = result;
	return err;
}
