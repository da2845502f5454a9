/* SPDX-License-Identifier: MIT */
/*
 * workload pairs THREADS | replace | maps THREADS | pools THREADS - the loops whose cost
 * tests/bench measures, each by its own clocks.
 *
 *   pairs    W1: malloc and free of 16..512 bytes, evenly distributed, nothing in between, in each
 *            of THREADS threads.
 *   replace  W2: 100,000 live blocks of 16..4096 bytes, their logarithm evenly distributed; one at
 *            random is freed and allocated anew, 20 calls deep, on one of 1024 paths.
 *   maps     W3: mmap of 64 KB, a byte written, and munmap, in each of THREADS threads.
 *   pools    W4: 16..512 bytes of a pool of 64 KB, which is emptied when it is full, in each of
 *            THREADS threads.
 *
 * Prints `ready`. For each line SECONDS on standard input it runs for so long and prints
 * `OPERATIONS CPU_NS WALL_NS`, summed over the threads; in between it does nothing, so that a
 * profiler may come and go while no clock runs. Ends with its standard input.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define THREADS_MAX 64
#define SIZES 8192 /* a power of two */
#define BATCH 1024 /* operations between two looks at the clock */
#define LIVE 100000
#define SMALLEST 16
#define PAIRS_LARGEST 512
#define REPLACE_LARGEST 4096
#define MAPPED (64u << 10)
#define POOL_BYTES (64u << 10)

/*
 * Some frame of its own for each function, no two functions the same, and something left to do
 * after the call, so that it stays a call.
 */
#define NOINLINE __attribute__((noinline))
#define OWN_FRAME(words, value)     \
	uint64_t frame[words];      \
	frame[(words)-1] = (value); \
	__asm__ volatile("" : : "r"(frame) : "memory")
#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

struct worker {
	uint64_t random;
	uint64_t operations;
	int64_t cpu_ns;
	int64_t wall_ns;
	void **live;
	struct pool {
		size_t used;
		char *bytes;
	} pool;
};

struct job {
	size_t size;
	unsigned path;
	void *block;
};

static uint16_t sizes[SIZES];
static struct worker workers[THREADS_MAX];
static pthread_barrier_t begin, end;
static int64_t window_ns;
static void (*run_batch)(struct worker *worker);

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t next_random(struct worker *worker)
{
	uint64_t x = worker->random;

	x ^= x << 13;
	x ^= x >> 7;
	return worker->random = x ^ x << 17;
}

/* ---- W1 -------------------------------------------------------------------------------------- */

static void pairs(struct worker *worker)
{
	const uint64_t at = worker->operations;

	for (unsigned i = 0; i < BATCH; i++) {
		void *block = malloc(sizes[(at + i) % SIZES]);

		__asm__ volatile("" : "+r"(block) : : "memory");
		free(block);
	}
}

/* ---- W2 -------------------------------------------------------------------------------------- */

/*
 * Level 0 is called by the loop, level 19 calls malloc; every other level exists twice, and a bit
 * of the path decides.
 */

static NOINLINE void level_19(struct job *job)
{
	OWN_FRAME(3, 19);
	job->block = malloc(job->size);
	NO_TAIL_CALL();
}

#define TWINS(level, below)                                        \
	static NOINLINE void level_##level##_even(struct job *job) \
	{                                                          \
		OWN_FRAME(1 + (level) % 5, 2 * (level));           \
		level_##below(job);                                \
		NO_TAIL_CALL();                                    \
	}                                                          \
	static NOINLINE void level_##level##_odd(struct job *job)  \
	{                                                          \
		OWN_FRAME(4 + (level) % 7, 2 * (level) + 1);       \
		level_##below(job);                                \
		NO_TAIL_CALL();                                    \
	}

#define CHOICE(level, below)                                \
	static NOINLINE void level_##level(struct job *job) \
	{                                                   \
		OWN_FRAME(1 + (level) % 3, 2 * (level));    \
		if (job->path >> (below) / 2 & 1)           \
			level_##below##_odd(job);           \
		else                                        \
			level_##below##_even(job);          \
		NO_TAIL_CALL();                             \
	}

TWINS(18, 19)
CHOICE(17, 18)
TWINS(16, 17)
CHOICE(15, 16)
TWINS(14, 15)
CHOICE(13, 14)
TWINS(12, 13)
CHOICE(11, 12)
TWINS(10, 11)
CHOICE(9, 10)
TWINS(8, 9)
CHOICE(7, 8)
TWINS(6, 7)
CHOICE(5, 6)
TWINS(4, 5)
CHOICE(3, 4)
TWINS(2, 3)
CHOICE(1, 2)
TWINS(0, 1)

static void *allocate(uint64_t random)
{
	struct job job = {.size = sizes[random % SIZES], .path = (unsigned)(random >> 16) & 1023};

	if (job.path & 1)
		level_0_odd(&job);
	else
		level_0_even(&job);
	return job.block;
}

static void replace(struct worker *worker)
{
	for (unsigned i = 0; i < BATCH; i++) {
		const uint64_t random = next_random(worker);
		void **block = &worker->live[(random >> 32) % LIVE];

		free(*block);
		*block = allocate(random);
		memset(*block, 1, SMALLEST);
	}
}

/* ---- W3 -------------------------------------------------------------------------------------- */

static void maps(struct worker *worker)
{
	(void)worker;
	for (unsigned i = 0; i < BATCH; i++) {
		char *at = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

		if (at == MAP_FAILED)
			abort();
		*at = 1;
		if (munmap(at, MAPPED))
			abort();
	}
}

/* ---- W4 -------------------------------------------------------------------------------------- */

/* These two are named. */
NOINLINE void pool_reset(struct pool *pool);
NOINLINE void *pool_get(struct pool *pool, size_t size);

NOINLINE void pool_reset(struct pool *pool)
{
	if (pool->used > POOL_BYTES)
		abort();
	pool->used = 0;
}

NOINLINE void *pool_get(struct pool *pool, size_t size)
{
	void *block = pool->bytes + pool->used;

	if (size > PAIRS_LARGEST)
		abort();
	pool->used += (size + 15) & ~(size_t)15;
	return block;
}

static void pools(struct worker *worker)
{
	for (unsigned i = 0; i < BATCH; i++) {
		if (worker->pool.used > POOL_BYTES - PAIRS_LARGEST)
			pool_reset(&worker->pool);
		*(char *)pool_get(&worker->pool, sizes[next_random(worker) % SIZES]) = 1;
	}
}

/* ---- windows --------------------------------------------------------------------------------- */

static void run_window(struct worker *worker)
{
	const int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID),
		      wall_before = clock_ns(CLOCK_MONOTONIC);
	int64_t now;

	worker->operations = 0;
	do {
		run_batch(worker);
		worker->operations += BATCH;
		now = clock_ns(CLOCK_MONOTONIC);
	} while (now - wall_before < window_ns);
	worker->wall_ns = now - wall_before;
	worker->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
}

static void *run_windows(void *argument)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		run_window(argument);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void print_window(int threads)
{
	uint64_t operations = 0;
	int64_t cpu_ns = 0, wall_ns = 0;

	for (int i = 0; i < threads; i++) {
		operations += workers[i].operations;
		cpu_ns += workers[i].cpu_ns;
		wall_ns += workers[i].wall_ns;
	}
	printf("%llu %lld %lld\n", (unsigned long long)operations, (long long)cpu_ns,
	       (long long)wall_ns);
	fflush(stdout);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static void prepare_pairs(void)
{
	for (unsigned i = 0; i < SIZES; i++)
		sizes[i] = (uint16_t)(SMALLEST +
				      next_random(&workers[0]) % (PAIRS_LARGEST - SMALLEST + 1));
	run_batch = pairs;
}

static int prepare_pools(int threads)
{
	prepare_pairs();
	for (int i = 0; i < threads; i++) {
		workers[i].pool.bytes = malloc(POOL_BYTES);
		if (!workers[i].pool.bytes)
			return 1;
	}
	run_batch = pools;
	return 0;
}

static int prepare_replace(void)
{
	struct worker *worker = &workers[0];

	for (unsigned i = 0; i < SIZES; i++)
		sizes[i] = (uint16_t)(SMALLEST * pow((double)REPLACE_LARGEST / SMALLEST,
						     (double)i / (SIZES - 1)));
	worker->live = calloc(LIVE, sizeof(*worker->live));
	if (!worker->live)
		return 1;
	for (unsigned i = 0; i < LIVE; i++)
		worker->live[i] = allocate(next_random(worker));
	run_batch = replace;
	return 0;
}

int main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	const int is_pairs = argc > 1 && strcmp(argv[1], "pairs") == 0,
		  is_maps = argc > 1 && strcmp(argv[1], "maps") == 0,
		  is_pools = argc > 1 && strcmp(argv[1], "pools") == 0;
	double seconds;

	if (argc < 2 || threads < 1 || threads > THREADS_MAX ||
	    (!is_pairs && !is_maps && !is_pools &&
	     (strcmp(argv[1], "replace") != 0 || threads > 1)))
		return 2;
	for (int i = 0; i < threads; i++)
		workers[i].random = 88172645463325252u + (unsigned)i;
	if (is_pairs)
		prepare_pairs();
	else if (is_maps)
		run_batch = maps;
	else if (is_pools ? prepare_pools(threads) : prepare_replace())
		return 1;
	pthread_barrier_init(&begin, NULL, (unsigned)threads);
	pthread_barrier_init(&end, NULL, (unsigned)threads);
	for (int i = 1; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run_windows, &workers[i]))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (scanf("%lf", &seconds) == 1) {
		window_ns = (int64_t)(seconds * 1e9);
		pthread_barrier_wait(&begin);
		run_window(&workers[0]);
		pthread_barrier_wait(&end);
		print_window(threads);
	}
	return 0;
}
