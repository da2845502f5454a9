/* SPDX-License-Identifier: MIT */
/*
 * caller RULE COMMAND...: runs it as a container or a sandbox would. RULE: landlock (a domain of
 * its own), filtered (a seccomp filter that allows everything), CALL:ERRNO (one that denies ptrace,
 * process_vm_readv or kcmp).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int enter_landlock(void)
{
	const struct landlock_ruleset_attr attributes = {.handled_access_fs =
								 LANDLOCK_ACCESS_FS_MAKE_SOCK};
	const long ruleset =
		syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);

	return ruleset < 0 ? -1 : (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

static int deny(long call, int code)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int apply(const char *rule)
{
	static const struct {
		const char *name;
		long call;
		int code;
	} denials[] = {
		{"filtered", -1, 0},
		{"ptrace:EPERM", SYS_ptrace, EPERM},
		{"ptrace:ENOSYS", SYS_ptrace, ENOSYS},
		{"process_vm_readv:EPERM", SYS_process_vm_readv, EPERM},
		{"kcmp:EPERM", SYS_kcmp, EPERM},
	};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(rule, "landlock"))
		return enter_landlock();
	for (size_t i = 0; i < sizeof(denials) / sizeof(*denials); i++)
		if (!strcmp(rule, denials[i].name))
			return deny(denials[i].call, denials[i].code);
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 3 || apply(argv[1])) {
		perror(argc < 3 ? "caller RULE COMMAND..." : argv[1]);
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 126;
}
