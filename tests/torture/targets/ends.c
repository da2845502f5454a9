/* SPDX-License-Identifier: MIT */
/*
 * ends KIND - a program that comes to its end by itself, some tenths of a second after it was first
 * asked for its state, whatever is done to it then: exit (by a thread that is not the first),
 * abort, crash (a write to nowhere), or becomes itself again, by exec from its first thread (exec)
 * or another one (thread-exec), for ever. Until then three threads allocate.
 */
#include "selfcheck.h"

#define THREADS 3
#define BLOCKS 32
#define LONGEST_US 500000
#define STATUS 7

static char **arguments;
/* nobody execs in the middle of an answer */
static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;

static void *allocate(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	while (!self_is_stopping()) {
		struct self_block *block = &blocks[self_random(worker) % BLOCKS];

		self_block_renew(worker, block, 1 + self_random(worker) % 3000);
		self_step(worker);
	}
	return unused;
}

static void begin_again(void)
{
	char so_far[24];

	pthread_mutex_lock(&speaking);
	self_count_progress();
	snprintf(so_far, sizeof(so_far), "%lu", self.progress);
	setenv("SELFCHECK_SO_FAR", so_far, 1);
	execv("/proc/self/exe", arguments);
	self_wrong("exec: errno %d", errno);
}

static void wait_a_while(void)
{
	while (!__atomic_load_n(&self.answers, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep((unsigned)(self_now_ns() / 1000 % LONGEST_US));
}

static void *end(void *unused)
{
	const char *kind = arguments[1];
	volatile char *volatile nowhere = (volatile char *)8;

	wait_a_while();
	if (self.is_wrong)
		return unused;
	if (strcmp(kind, "exit") == 0)
		exit(STATUS);
	else if (strcmp(kind, "abort") == 0)
		abort();
	else if (strcmp(kind, "crash") == 0)
		*nowhere = 1;
	else
		begin_again();
	return unused;
}

/* Speaks for short whiles, so that a thread that means to exec finds a time for it. */
static void serve(bool execs_here)
{
	const uint64_t patience_ns = self_now_ns() / 7 % LONGEST_US * 1000;
	uint64_t asked_ns = 0;
	bool goes_on = true;

	while (goes_on) {
		pthread_mutex_lock(&speaking);
		goes_on = self_serve(1);
		pthread_mutex_unlock(&speaking);
		if (!asked_ns && self.answers)
			asked_ns = self_now_ns();
		if (goes_on && execs_here && asked_ns && self_now_ns() > asked_ns + patience_ns)
			begin_again();
		usleep(200);
	}
}

/* "ready" is said once, by the first of all its lives. */
static void be_ready(void)
{
	const char *so_far = getenv("SELFCHECK_SO_FAR");
	int output;

	if (!so_far) {
		self_ready();
		return;
	}
	self.progress = strtoul(so_far, NULL, 10);
	self.answers = 1;
	output = dup(STDOUT_FILENO);
	close(STDOUT_FILENO);
	self_ready();
	dup2(output, STDOUT_FILENO);
	close(output);
}

int main(int argc, char **argv)
{
	const bool execs_here = argc == 2 && strcmp(argv[1], "exec") == 0;
	pthread_t thread[THREADS], ender;

	if (argc != 2)
		return 2;
	arguments = argv;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, allocate, NULL);
	be_ready();
	if (!execs_here)
		pthread_create(&ender, NULL, end, NULL);
	serve(execs_here);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return self_end();
}
