/* SPDX-License-Identifier: MIT */
/*
 * situations KIND - programs in a state of their own, which must be the same after an attach, or
 * that change it in ways which an attach must not hinder:
 *
 *   trap-ignored  SIGTRAP is ignored, and stays so
 *   trap-blocked  SIGTRAP is blocked in every thread, and stays so
 *   close-all     closes all descriptors above 2 for ever
 *   dumpable      takes away and gives back the right to look at it
 *   identity      changes the user id of all threads, which glibc does by a signal to each of them
 *   leaderless    the first thread has ended; the others go on
 *   unshare       enters a new user namespace now and then, which a process of more than one thread
 *                 cannot: there is no monitor
 */
#include "selfcheck.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define THREADS 3
#define BLOCKS 32
#define UNSHARED_MAX 25 /* the kernel allows 32 in each other */
#define UNSHARE_EVERY_NS 400000000

static void use_blocks(struct self_worker *worker, struct self_block *blocks)
{
	for (int i = 0; i < BLOCKS; i++)
		self_block_renew(worker, &blocks[i], 1 + self_random(worker) % 3000);
}

/* ---- what is done between allocations -------------------------------------------------------- */

static void nothing(void)
{
}

static void expect_own_signals(void)
{
	self.has_own_signals = true;
}

static void ignore_trap(void)
{
	signal(SIGTRAP, SIG_IGN);
}

static void check_trap_ignored(void)
{
	struct sigaction action;

	sigaction(SIGTRAP, NULL, &action);
	SELF_CHECK(action.sa_handler == SIG_IGN);
}

static void block_trap(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void check_trap_blocked(void)
{
	struct sigaction action;
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	sigaction(SIGTRAP, NULL, &action);
	SELF_CHECK(sigismember(&set, SIGTRAP) && action.sa_handler == SIG_DFL);
}

/*
 * Opens some files and closes all there is: descriptors of its own must be what they were opened
 * for.
 */
static void close_all(void)
{
	static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
	char text[16] = "what was written", got[16];

	pthread_mutex_lock(&alone);
	for (int i = 0; i < 5; i++) {
		const int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		SELF_CHECK(fd > 2 && write(fd, text, sizeof(text)) == sizeof(text));
		SELF_CHECK(pread(fd, got, sizeof(got), 0) == sizeof(got) &&
			   memcmp(text, got, sizeof(got)) == 0);
	}
	SELF_CHECK(syscall(SYS_close_range, 3u, ~0u, 0u) == 0);
	pthread_mutex_unlock(&alone);
}

static void toggle_dumpable(void)
{
	SELF_CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
	usleep(500);
	SELF_CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
}

/*
 * By one thread at a time; all must have changed when the call returns. Where it is not root it
 * sets what it has, which is as much work.
 */
static void change_identity(void)
{
	static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
	const uid_t own = geteuid(), other = own == 0 ? 65534 : own;

	if (pthread_mutex_trylock(&alone))
		return;
	SELF_CHECK(setresuid((uid_t)-1, other, (uid_t)-1) == 0 && geteuid() == other);
	SELF_CHECK(setresuid((uid_t)-1, own, (uid_t)-1) == 0 && geteuid() == own);
	pthread_mutex_unlock(&alone);
	usleep(200);
}

static int unshared;

static void write_file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	SELF_CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void unshare_sometimes(void)
{
	static uint64_t last_ns;
	char users[40], groups[40];

	if (unshared == UNSHARED_MAX || self_now_ns() < last_ns + UNSHARE_EVERY_NS)
		return;
	last_ns = self_now_ns();
	snprintf(users, sizeof(users), "0 %u 1", geteuid());
	snprintf(groups, sizeof(groups), "0 %u 1", getegid());
	SELF_CHECK(unshare(CLONE_NEWUSER) == 0);
	/* who is nobody there may not enter a further one */
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", users);
	write_file("/proc/self/gid_map", groups);
	unshared++;
}

static const struct kind {
	const char *name;
	int threads; /* besides the main one */
	void (*prepare)(void);
	void (*act)(void);
} kinds[] = {
	{"trap-ignored", THREADS, ignore_trap, check_trap_ignored},
	{"trap-blocked", THREADS, block_trap, check_trap_blocked},
	{"close-all", THREADS, nothing, close_all},
	{"dumpable", 1, nothing, toggle_dumpable},
	{"identity", THREADS, expect_own_signals, change_identity},
	{"leaderless", THREADS, nothing, nothing},
	{"unshare", 0, nothing, unshare_sometimes},
};

static const struct kind *kind;
static pthread_t thread[THREADS];

static void *work(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	while (!self_is_stopping()) {
		use_blocks(worker, blocks);
		kind->act();
		self_step(worker);
	}
	for (int i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
	return unused;
}

static void work_and_serve(void)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	while (self_serve(0)) {
		use_blocks(worker, blocks);
		kind->act();
		self_step(worker);
	}
	for (int i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
}

static void *serve(void *unused)
{
	self_ready();
	while (self_serve(-1))
		;
	for (int i = 0; i < kind->threads; i++)
		pthread_join(thread[i], NULL);
	exit(self_end());
	return unused;
}

static int figures(char *into, size_t room)
{
	return unshared ? snprintf(into, room, " unshared=%d", unshared) : 0;
}

int main(int argc, char **argv)
{
	pthread_t server;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc == 2 && strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (!kind)
		return 2;
	self.figures = figures;
	kind->prepare();
	for (int i = 0; i < kind->threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	if (strcmp(kind->name, "leaderless") == 0) {
		pthread_create(&server, NULL, serve, NULL);
		pthread_exit(NULL);
	}
	if (kind->threads)
		serve(NULL);
	setenv("SELFCHECK_MONITOR", "0", 1);
	self_ready();
	work_and_serve();
	return self_end();
}
