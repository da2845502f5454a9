/* SPDX-License-Identifier: MIT */
/*
 * preflight_caller.c - is the injector able to attach, whatever the target? Is /proc that of its
 * own pid namespace, and does something block the system calls that it needs?
 *
 * A seccomp profile cannot be read. So it is tested with the calls themselves, made on a child of
 * the injector. Enter at check_proc and check_ptrace.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracee.h"

#define INITIAL_USER_NAMESPACE 0xeffffffdu /* its inode: PROC_USER_INIT_INO of the kernel */

bool in_initial_user_namespace(void)
{
	struct stat info;

	return stat("/proc/self/ns/user", &info) == 0 && info.st_ino == INITIAL_USER_NAMESPACE;
}

/*
 * If /proc is of another pid namespace, its numbers mean other processes to the injector's system
 * calls: it would examine one process and stop another.
 */
int check_proc(struct subject *subject)
{
	char number[16];
	const ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

	number[length > 0 ? length : 0] = '\0';
	if (atoi(number) == getpid() && proc_status_read(getpid(), getpid(), &subject->ours) == 0)
		return 0;
	if (length <= 0 && access("/proc/1", F_OK))
		return refuse(subject, PREFLIGHT_FOREIGN_PROC, "mount it: mount -t proc proc /proc",
			      "no /proc is mounted here");
	return refuse(subject, PREFLIGHT_FOREIGN_PROC,
		      "mount our own: mount -t proc proc /proc (unshare has --mount-proc for it)",
		      "the /proc mounted here is of another pid namespace, where pids mean other "
		      "processes");
}

/* ---- the probe ------------------------------------------------------------------------------- */

static pid_t start_child(void)
{
	const pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* out_error: ptrace's error for a child of the injector. */
static int probe(int *out_error, bool *out_may_suspend)
{
	const pid_t child = start_child();

	if (child < 0)
		return -errno;
	*out_error = tracee_probe(child, out_may_suspend);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 0;
}

int ask_suspend(bool *out_may)
{
	bool may;
	int refused;
	int err = probe(&refused, &may);

	if (!err)
		*out_may = !refused && may;
	return err;
}

static int probe_reading(void)
{
	char from = 0, to;
	const struct iovec local = {&to, 1}, remote = {&from, 1};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -errno;
}

int check_ptrace(struct subject *subject)
{
	bool may_suspend;
	int refused;
	const char *call = "ptrace";
	int err = probe(&refused, &may_suspend);

	if (err)
		return err;
	if (!refused) {
		call = "process_vm_readv";
		refused = probe_reading();
	}
	if (!refused)
		return 0;
	if (subject->ours.seccomp)
		return refuse(subject, PREFLIGHT_NO_PTRACE,
			      "allow it (docker run --cap-add=SYS_PTRACE or --security-opt "
			      "seccomp=...), or run heapinject on the host",
			      "the seccomp profile under which heapinject runs (of this "
			      "container?) blocks %s",
			      call);
	return refuse(subject, PREFLIGHT_NO_PTRACE, "run heapinject on the machine itself",
		      "%s does not work here (an emulator, gVisor, or a security module)", call);
}
