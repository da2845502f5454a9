// SPDX-License-Identifier: MIT
// Keeps a record each millisecond, or as many as its argument says, and checks at the end that
// nobody has changed them. On SIGTERM it says `intact RECORDS`, and ends with 0.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECORD_BYTES 700
#define CACHED 64

struct record {
	struct record *next;
	unsigned char bytes[RECORD_BYTES];
};

static struct record *kept;
static uint64_t records;
static int at_once = 1;
static volatile sig_atomic_t is_asked_to_end;

static void ask_to_end(int signal)
{
	(void)signal;
	is_asked_to_end = 1;
}

// A system call that fails for no reason of the program's own counts as a fault.
static void nap(void)
{
	const struct timespec time = {.tv_nsec = 1000000};

	if (nanosleep(&time, NULL) && !(errno == EINTR && is_asked_to_end)) {
		perror("nanosleep");
		exit(1);
	}
}

static inline __attribute__((always_inline)) struct record *record_new(void)
{
	return malloc(sizeof(struct record)); // mark: record_new
}

static __attribute__((noinline)) void keep_record(void)
{
	struct record *record = record_new(); // mark: keep_record

	if (!record)
		abort();
	record->next = kept;
	memset(record->bytes, (int)(records++ % 251), sizeof(record->bytes));
	kept = record;
}

static __attribute__((noinline)) void use_cache(void)
{
	static char *cached[CACHED];
	static unsigned next;
	char **slot = &cached[next++ % CACHED];

	*slot = realloc(*slot, 100 + next * 37 % 2000);
	free(strdup("a copy that is not kept"));
	if (next % 3 == 0) {
		free(*slot);
		*slot = calloc(3, 100);
	}
}

static void *work(void *unused)
{
	while (!is_asked_to_end) {
		for (int i = 0; i < at_once; i++)
			keep_record(); // mark: work
		nap();
	}
	return unused;
}

static int check_records(void)
{
	uint64_t number = records;

	for (struct record *record = kept; record; record = record->next) {
		number--;
		for (size_t i = 0; i < sizeof(record->bytes); i++) {
			if (record->bytes[i] != number % 251) {
				printf("record %llu is damaged\n", (unsigned long long)number);
				return 1;
			}
		}
	}
	printf("intact %llu\n", (unsigned long long)records);
	return number != 0;
}

int main(int argc, char **argv)
{
	pthread_t worker;
	sigset_t terminate;

	if (argc > 1)
		at_once = atoi(argv[1]);

	signal(SIGTERM, ask_to_end);
	sigemptyset(&terminate);
	sigaddset(&terminate, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &terminate, NULL);
	if (pthread_create(&worker, NULL, work, NULL))
		return 1;
	pthread_sigmask(SIG_UNBLOCK, &terminate, NULL);
	puts("ready");
	fflush(stdout);
	while (!is_asked_to_end) {
		use_cache();
		nap();
	}
	pthread_join(worker, NULL);
	return check_records();
}
