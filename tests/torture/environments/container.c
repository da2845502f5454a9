/* SPDX-License-Identifier: MIT */
/*
 * container.c - a container in all but name: container KIND[,KIND...] ROOT PROGRAM [ARGUMENT...]
 *
 * PROGRAM is a path below ROOT, which becomes the root of a new mount namespace; nothing of the old
 * one remains in sight. KIND adds to that: mount     nothing proc      a /proc, without which the
 * program cannot look at itself pid       a pid namespace, in which the program is process 1 user
 * a user namespace, whose root is user 100000 outside noexec=N  vm.memfd_noexec=N in the pid
 * namespace (wants pid and proc) ROOT has a directory proc. The program is the only child of this
 * process, and dies with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTER_ID 100000

static void must(long result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "container: %s: %s\n", what, strerror(errno));
	_exit(126);
}

static void put(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	close(fd);
}

/* Only from outside may a namespace be given users other than the one who made it. */
static void map_ids(pid_t pid)
{
	char path[64], map[64];

	snprintf(map, sizeof(map), "0 %d 65536", OUTER_ID);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
	put(path, map);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	put(path, map);
}

static void change_root(const char *kinds, const char *root)
{
	const char *noexec = strstr(kinds, "noexec=");

	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
	must(mount(root, root, NULL, MS_BIND | MS_REC, NULL), root);
	must(chdir(root), root);
	if (strstr(kinds, "proc"))
		must(mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "proc");
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "the old root");
	must(chdir("/"), "/");
	if (noexec)
		put("/proc/sys/vm/memfd_noexec", noexec + strlen("noexec="));
}

static void become_program(const char *kinds, int go, char **argv)
{
	char byte;

	must(prctl(PR_SET_PDEATHSIG, SIGKILL), "PDEATHSIG");
	must(read(go, &byte, 1) - 1, "the parent");
	change_root(kinds, argv[0]);
	if (strstr(kinds, "user")) {
		must(setgid(0), "setgid");
		must(setuid(0), "setuid");
	}
	execv(argv[1], argv + 1);
	must(-1, argv[1]);
}

int main(int argc, char **argv)
{
	const char *kinds = argc > 3 ? argv[1] : "";
	const long flags = SIGCHLD | CLONE_NEWNS | (strstr(kinds, "pid") ? CLONE_NEWPID : 0) |
			   (strstr(kinds, "user") ? CLONE_NEWUSER : 0);
	int go[2], status;
	pid_t child;

	if (argc < 4) {
		fprintf(stderr, "container KIND[,KIND...] ROOT PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	must(pipe2(go, O_CLOEXEC), "pipe");
	child = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	must(child, "clone");
	if (child == 0)
		become_program(kinds, go[0], argv + 2);
	if (strstr(kinds, "user"))
		map_ids(child);
	must(write(go[1], "", 1), "the child");
	must(waitpid(child, &status, 0), "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
