/* SPDX-License-Identifier: MIT */
/*
 * target TRAIT...: takes on each trait, in this order, says "ready" and then allocates every
 * millisecond until it is stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef SYS_memfd_create
#define SYS_memfd_create 319
#endif

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void become_undumpable(long unused)
{
	(void)unused;
	prctl(PR_SET_DUMPABLE, 0);
}

static void become_user(long id)
{
	if (setresgid(id, id, id) || setresuid(id, id, id))
		fail("setresuid");
	prctl(PR_SET_DUMPABLE, 1);
}

static void refuse_new_privileges(long unused)
{
	(void)unused;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void refuse_new_code(long unused)
{
	(void)unused;
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		fail("PR_SET_MDWE");
}

/* An answer to memfd_create that a program can live with, or that ends it. */
static void filter_memfd(unsigned answer)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("seccomp");
}

static void filter_with_errno(long code)
{
	filter_memfd(SECCOMP_RET_ERRNO | (unsigned)code);
}

static void filter_with_kill(long unused)
{
	(void)unused;
	filter_memfd(SECCOMP_RET_KILL_PROCESS);
}

static void limit(int what, rlim_t value)
{
	if (setrlimit(what, &(struct rlimit){.rlim_cur = value, .rlim_max = RLIM_INFINITY}) &&
	    setrlimit(what, &(struct rlimit){.rlim_cur = value, .rlim_max = value}))
		fail("setrlimit");
}

static void limit_address_space(long mib)
{
	limit(RLIMIT_AS, (rlim_t)mib << 20);
}

static void limit_data(long mib)
{
	limit(RLIMIT_DATA, (rlim_t)mib << 20);
}

static void open_all_files(long count)
{
	limit(RLIMIT_NOFILE, (rlim_t)count);
	while (open("/dev/null", O_RDONLY) >= 0)
		continue;
}

/* Every other page of one mapping gets another protection: two mappings a page. */
static void map_all(long count)
{
	char *pages =
		mmap(NULL, (size_t)count * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		fail("mmap");
	for (long page = 0; page < count && !mprotect(pages + page * 4096, 4096, PROT_NONE);
	     page += 2)
		continue;
}

static pthread_barrier_t prepared;

static void *be_other_user(void *id)
{
	syscall(SYS_setresgid, id, id, id);
	syscall(SYS_setresuid, id, id, id);
	pthread_barrier_wait(&prepared);
	for (;;)
		pause();
}

static void *be_strict(void *unused)
{
	(void)unused;
	int never[2];

	if (pipe(never))
		fail("pipe");
	pthread_barrier_wait(&prepared);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	for (;;)
		(void)!read(never[0], never, 1);
}

static void *sleep_on(void *unused)
{
	(void)unused;
	dprintf(STDOUT_FILENO, "thread %ld\n", syscall(SYS_gettid));
	pthread_barrier_wait(&prepared);
	for (;;)
		pause();
}

static void start_thread(void *(*work)(void *), long argument)
{
	pthread_t thread;

	pthread_barrier_init(&prepared, NULL, 2);
	if (pthread_create(&thread, NULL, work, (void *)argument))
		fail("pthread_create");
	pthread_barrier_wait(&prepared);
}

static void start_other_user(long id)
{
	start_thread(be_other_user, id);
	prctl(PR_SET_DUMPABLE, 1);
}

static void start_strict(long unused)
{
	start_thread(be_strict, unused);
}

static void start_sleeper(long unused)
{
	start_thread(sleep_on, unused);
}

/* The child never execs: the parent is in state D until it ends. */
static void wait_for_vfork(long unused)
{
	(void)unused;
	dprintf(STDOUT_FILENO, "ready\n");
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_pause);
		_exit(0);
	}
}

static int be_sharer(void *id)
{
	if (id) {
		syscall(SYS_setresgid, id, id, id);
		syscall(SYS_setresuid, id, id, id);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dprintf(STDOUT_FILENO, "sharer %ld\n", syscall(SYS_getpid));
	for (;;)
		syscall(SYS_pause);
}

/*
 * A process of its own in this memory, of another user if one is given; it has no thread-local
 * storage, and needs none.
 */
static void start_sharer(long id)
{
	static _Alignas(16) char stack[65536];

	if (clone(be_sharer, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, (void *)id) <
	    0)
		fail("clone");
	usleep(100000); /* until it is what it shall be: what it says comes by the same libc */
	prctl(PR_SET_DUMPABLE, 1);
}

static void take_name(long unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "\"\\\n\xff\xc3\xa4\xc2\x9b\x1b");
}

static const struct {
	const char *name; /* NAME or NAME=NUMBER */
	void (*take)(long number);
} traits[] = {
	{"undumpable", become_undumpable},
	{"user", become_user},
	{"no-new-privileges", refuse_new_privileges},
	{"no-new-code", refuse_new_code},
	{"filter-errno", filter_with_errno},
	{"filter-kill", filter_with_kill},
	{"address-space", limit_address_space},
	{"data", limit_data},
	{"files", open_all_files},
	{"mappings", map_all},
	{"other-user", start_other_user},
	{"strict", start_strict},
	{"thread", start_sleeper},
	{"vfork", wait_for_vfork},
	{"sharer", start_sharer},
	{"bad-name", take_name},
};

static void take(const char *word)
{
	const size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(traits) / sizeof(*traits); i++) {
		if (strlen(traits[i].name) == length && !strncmp(word, traits[i].name, length)) {
			traits[i].take(word[length] ? atol(word + length + 1) : 0);
			return;
		}
	}
	errno = EINVAL;
	fail(word);
}

int main(int argc, char **argv)
{
	/* while it still can get memory, and a descriptor for what libc reads at first */
	free(malloc(100));
	for (int i = 1; i < argc; i++)
		take(argv[i]);
	dprintf(STDOUT_FILENO, "ready\n");
	for (;;) {
		void *volatile block = malloc(100);
		free(block);
		usleep(1000);
	}
}
