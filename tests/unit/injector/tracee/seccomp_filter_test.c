/* SPDX-License-Identifier: MIT */
/*
 * seccomp_filter_test.c - our machine must answer as the kernel's does, and the verdict must be the
 * one that keeps a thread alive.
 */
#include "seccomp_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "unit.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define COUNT(code) (sizeof(code) / sizeof((code)[0]))

static uint32_t run(const struct sock_filter *code, size_t count, int number, uint64_t argument)
{
	const struct seccomp_data call = {
		.nr = number, .arch = AUDIT_ARCH_X86_64, .args = {argument}};

	return seccomp_filter_run(code, count, &call);
}

UNIT_TEST(reads_the_call)
{
	const struct sock_filter code[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1),
		ANSWER(SECCOMP_RET_ERRNO | 7),
		LOAD(args[0]),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	CHECK_EQ(run(code, COUNT(code), 39, 0), SECCOMP_RET_ERRNO | 7u);
	CHECK_EQ(run(code, COUNT(code), 40, 0x7fff0000), SECCOMP_RET_ALLOW);
}

/* Every kind of step once, each of which changes the result if it goes wrong. */
UNIT_TEST(calculates)
{
	const struct sock_filter code[] = {
		LOAD(args[0]),                             /* a = 100 */
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 20),   /* 120 */
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 10),   /* 110 */
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 4),    /* 440 */
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 5),    /* 88 */
		BPF_STMT(BPF_ST, 3),                       /* m3 = 88 */
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2),    /* 352 */
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 7),     /* 359 */
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfe), /* 102 */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0xff), /* 153 */
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 3),    /* 19 */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),           /* x = 19 */
		BPF_STMT(BPF_STX, 4),                      /* m4 = 19 */
		BPF_STMT(BPF_LD | BPF_MEM, 3),             /* a = 88 */
		BPF_STMT(BPF_LDX | BPF_MEM, 4),            /* x = 19 */
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),    /* 69 */
		BPF_STMT(BPF_ALU | BPF_NEG, 0),            /* -69 */
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1000), /* 931 */
		BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 9),    /* x = 9 */
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),    /* 940 */
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	CHECK_EQ(run(code, COUNT(code), 0, 100), 940u);
}

UNIT_TEST(jumps)
{
	const struct sock_filter code[] = {
		LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 100, 0, 1),
		ANSWER(1),     BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 0, 1),
		ANSWER(2),     BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 6, 0, 1),
		ANSWER(3),     BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
		ANSWER(4),     ANSWER(5),
	};

	CHECK_EQ(run(code, COUNT(code), 0, 101), 1u);
	CHECK_EQ(run(code, COUNT(code), 0, 100), 2u);
	CHECK_EQ(run(code, COUNT(code), 0, 4), 3u);
	CHECK_EQ(run(code, COUNT(code), 0, 9), 5u);
}

UNIT_TEST(nonsense_kills)
{
	const struct sock_filter beyond[] = {BPF_JUMP(BPF_JMP | BPF_JA, 100, 0, 0),
					     ANSWER(SECCOMP_RET_ALLOW)};
	const struct sock_filter outside[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4096),
					      BPF_STMT(BPF_ST, 4096),
					      BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), ANSWER(1)};

	CHECK_EQ(run(beyond, COUNT(beyond), 0, 0), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(run(outside, COUNT(outside), 0, 0), 1u);
}

/* ---- of a real thread ------------------------------------------------------------------------ */

/* A child under a filter that answers so to a call; never returns. */
static void live_under(int number, uint32_t answer)
{
	struct sock_filter code[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		ANSWER(answer),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_filter allow[] = {ANSWER(SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {COUNT(code), code}, other = {COUNT(allow), allow};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* An older one and a newer one beside it. */
	for (int i = 0; number && i < 3; i++)
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, i == 1 ? &program : &other))
			_exit(1);
	raise(SIGSTOP);
	for (;;)
		pause();
}

struct question {
	pid_t pid;
	enum seccomp_calls made;
};

static int check_child(void *context)
{
	const struct question *question = context;
	struct tracee tracee;
	int err = tracee_stop(&tracee, question->pid, question->pid, 5000);

	if (err)
		return err;
	err = seccomp_filter_check(&tracee, 0x1000, question->made);
	(void)tracee_detach(&tracee);
	return err;
}

static int verdict(int number, uint32_t answer, enum seccomp_calls made)
{
	struct question question = {fork(), made};
	int err;

	if (question.pid == 0)
		live_under(number, answer);
	CHECK_EQ(waitpid(question.pid, NULL, WUNTRACED), question.pid);
	err = tracee_worker(check_child, &question);
	kill(question.pid, SIGKILL);
	waitpid(question.pid, NULL, 0);
	return err;
}

UNIT_TEST(verdicts)
{
	if (geteuid() != 0)
		SKIP("only root may read filters");
	CHECK_EQ(verdict(0, 0, SECCOMP_MAP), 0);
	CHECK_EQ(verdict(SYS_ptrace, SECCOMP_RET_KILL_PROCESS, SECCOMP_MAP), 0);
	CHECK_EQ(verdict(SYS_memfd_create, SECCOMP_RET_KILL_PROCESS, SECCOMP_MAP), -ECANCELED);
	CHECK_EQ(verdict(SYS_mmap, SECCOMP_RET_KILL_THREAD, SECCOMP_MAP), -ECANCELED);
	CHECK_EQ(verdict(SYS_munmap, SECCOMP_RET_TRAP, SECCOMP_MAP), -ECANCELED);
	CHECK_EQ(verdict(SYS_mremap, SECCOMP_RET_USER_NOTIF, SECCOMP_MAP), -ECANCELED);
	CHECK_EQ(verdict(SYS_mmap, SECCOMP_RET_ERRNO | EPERM, SECCOMP_MAP), 0);
	CHECK_EQ(verdict(SYS_mmap, SECCOMP_RET_LOG, SECCOMP_MAP), 0);
	CHECK_EQ(verdict(SYS_rt_sigreturn, SECCOMP_RET_ERRNO | EPERM, SECCOMP_MAP), -ECANCELED);
	CHECK_EQ(verdict(SYS_openat, SECCOMP_RET_KILL_PROCESS, SECCOMP_MAP), 0);
	CHECK_EQ(verdict(SYS_openat, SECCOMP_RET_KILL_PROCESS, SECCOMP_OPEN), -ECANCELED);
	CHECK_EQ(verdict(SYS_openat, SECCOMP_RET_KILL_PROCESS, SECCOMP_DLOPEN), -ECANCELED);
	CHECK_EQ(verdict(SYS_newfstatat, SECCOMP_RET_KILL_PROCESS, SECCOMP_OPEN), 0);
	CHECK_EQ(verdict(SYS_newfstatat, SECCOMP_RET_KILL_PROCESS, SECCOMP_DLOPEN), -ECANCELED);
}

UNIT_MAIN()
