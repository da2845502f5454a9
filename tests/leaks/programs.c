/* SPDX-License-Identifier: MIT */
/*
 * programs.c - runs one program of the leak suite: programs NAME [LEDGER [SEED]].
 *
 * It prints `ready` once it is prepared, and works until its parent goes, or for LIMIT_SECONDS.
 * LEDGER is a file that gets the bytes lost so far, as a 64-bit number in the machine's order.
 * `programs --list` prints a line for each program: name, kind, right answers, what it does, by
 * tabs. `programs --spin` does nothing but keep a core busy.
 */
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_SECONDS 150
#define SPIN_LIMIT_SECONDS 7200
#define TICK_NS (1000000000 / TICKS_PER_SECOND)
/* Of what was missed because the process stood still, only so much is made up for. */
#define LATE_NS_MAX 1000000000

static const struct program *const tables[] = {
	leaky_calls,    leaky_shapes,  leaky_parts,       leaky_cplusplus,
	healthy_tables, healthy_times, healthy_cplusplus,
};

static const struct program *program;
static _Atomic int64_t unread_ledger;
static _Atomic int64_t *ledger = &unread_ledger;
static uint64_t seed = 1;
static unsigned threads;

static _Thread_local int64_t tick_now;
static _Thread_local int64_t tick_end_ns;
static _Thread_local uint64_t random_state;
static _Thread_local unsigned number;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

unsigned due(double per_second)
{
	const double per_tick = per_second / TICKS_PER_SECOND;

	return (unsigned)((int64_t)((double)(tick_now + 1) * per_tick) -
			  (int64_t)((double)tick_now * per_tick));
}

bool is_time(double every_seconds)
{
	const int64_t ticks = (int64_t)(every_seconds * TICKS_PER_SECOND);

	return tick_now && tick_now % ticks == 0;
}

double seconds(void)
{
	return (double)tick_now / TICKS_PER_SECOND;
}

uint32_t random_below(uint32_t below)
{
	if (!random_state)
		random_state = (seed + number) * 0x9e3779b97f4a7c15u | 1;
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) * below >> 32);
}

unsigned by_chance(double expected)
{
	const unsigned whole = (unsigned)expected;

	return whole + (random_below(1 << 20) < (expected - whole) * (1 << 20));
}

unsigned thread_number(void)
{
	return number;
}

void count_leaked(int64_t bytes)
{
	atomic_fetch_add_explicit(ledger, bytes, memory_order_relaxed);
}

static void sleep_until(int64_t ns)
{
	const struct timespec until = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void tick_on(void (*tick)(void))
{
	const int64_t begin = clock_ns(CLOCK_MONOTONIC);
	int64_t now = begin;

	tick_end_ns = begin;
	for (tick_now = 0; now - begin < LIMIT_SECONDS * 1000000000LL; tick_now++) {
		tick_end_ns += TICK_NS;
		tick();
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - tick_end_ns > LATE_NS_MAX)
			tick_end_ns = now;
		else
			sleep_until(tick_end_ns);
	}
}

struct start {
	void (*tick)(void);
	unsigned number;
};

static void *run_thread(void *argument)
{
	const struct start start = *(struct start *)argument;

	free(argument);
	number = start.number;
	tick_on(start.tick);
	return NULL;
}

void start_ticking(void (*tick)(void))
{
	struct start *start = malloc(sizeof(*start));
	pthread_t thread;

	if (!start)
		abort();
	*start = (struct start){tick, ++threads};
	if (pthread_create(&thread, NULL, run_thread, start) != 0 || pthread_detach(thread) != 0)
		abort();
}

/* For that share of a tick, and no longer than the tick: what it allocates must not be late. */
static void compute(unsigned percent)
{
	static uint64_t sum;
	const int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)percent * TICK_NS / 100;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end && clock_ns(CLOCK_MONOTONIC) < tick_end_ns) {
		for (int i = 0; i < 1000; i++) {
			sum = sum * 31 + (uint64_t)i;
			__asm__ volatile("" : "+r"(sum));
		}
	}
}

static void main_tick(void)
{
	service_tick(program->requests);
	if (program->tick)
		program->tick();
	compute(program->busy);
}

static int list(void)
{
	for (size_t i = 0; i < LENGTH(tables); i++) {
		for (const struct program *row = tables[i]; row->name; row++)
			printf("%s\t%s\t%s\t%s\n", row->name, *row->answers ? "leaky" : "healthy",
			       row->answers, row->about);
	}
	return 0;
}

static const struct program *find(const char *name)
{
	for (size_t i = 0; i < LENGTH(tables); i++) {
		for (const struct program *row = tables[i]; row->name; row++) {
			if (strcmp(row->name, name) == 0)
				return row;
		}
	}
	return NULL;
}

static int open_ledger(const char *path)
{
	const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map = MAP_FAILED;

	if (file >= 0 && ftruncate(file, sizeof(*ledger)) == 0)
		map = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED) {
		perror(path);
		return 1;
	}
	close(file);
	ledger = map;
	return 0;
}

/* A leak of open files needs many. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc == 2 && strcmp(argv[1], "--spin") == 0) {
		tick_end_ns = INT64_MAX;
		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < SPIN_LIMIT_SECONDS * 1000000000LL)
			compute(100);
		return 0;
	}
	program = argc > 1 ? find(argv[1]) : NULL;
	if (!program) {
		fprintf(stderr, "usage: programs --list | --spin | NAME [LEDGER [SEED]]\n");
		return 2;
	}
	if (argc > 2 && open_ledger(argv[2]))
		return 1;
	if (argc > 3)
		seed = strtoull(argv[3], NULL, 10);
	allow_files();
	service_prepare();
	if (program->prepare)
		program->prepare();
	puts("ready");
	fflush(stdout);
	tick_on(main_tick);
	return 0;
}
