/* SPDX-License-Identifier: MIT */
/*
 * shapes.c - a process whose memory has a known shape. `shapes NAME` makes it, says "ready", and
 * then obeys lines: "info" prints what its allocator says (inside.h), "trim" has the allocator give
 * back what it can and prints how much less is resident. A shape that grows goes on growing in a
 * thread. It ends when its input does.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "inside.h"

#define MB (1024u * 1024u)
#define PAGE 4096u

static unsigned random_state = 12345;
static unsigned next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static void *touched(size_t size)
{
	char *block = malloc(size);

	if (!block)
		abort();
	memset(block, 7, size);
	return block;
}

/* With stacks as large as glibc's: those of musl are small. */
static void start(void *(*function)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	inside_has_threads = true;
	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, 8 * MB) ||
	    pthread_create(&thread, &attributes, function, argument))
		abort();
}

/* A thread that has done its work, and stays. */
static unsigned staying;
static void stay(void)
{
	__atomic_add_fetch(&staying, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static void wait_until_stay(unsigned threads)
{
	while (__atomic_load_n(&staying, __ATOMIC_ACQUIRE) < threads)
		usleep(1000);
}

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

/* Of glibc; others obey none or have no such function. */
#ifdef __GLIBC__
#define set_option(option, value) mallopt(option, value)
#else
#define set_option(option, value) (void)0
#endif

#define MANY 600000
static void *many[MANY];

/* Blocks in a list that a global refers to. */
static void **kept;
static void keep(void *block)
{
	*(void **)block = kept;
	kept = block;
}

/* ---- in use ---------------------------------------------------------------------------------- */

static void small(void)
{
	for (unsigned i = 0; i < 300000; i++)
		keep(touched(16 + next_random() % 200));
}

static void large(void)
{
	for (unsigned i = 0; i < 40; i++)
		keep(touched(MB + next_random() % MB));
}

/* Of more than 8 MB, of which allocators keep apart; some are resized, some freed. */
static void huge(void)
{
	for (unsigned i = 0; i < 12; i++)
		many[i] = touched((size_t)(4 + next_random() % 12) * MB);
	for (unsigned i = 0; i < 12; i += 2) {
		const size_t size = (size_t)(2 + next_random() % 16) * MB;

		many[i] = memset(realloc(many[i], size), 7, size);
	}
	for (unsigned i = 0; i < 12; i += 3)
		free(many[i]);
}

static void aligned(void)
{
	static const size_t alignment[] = {32, 64, 256, 1024, 4096, 65536, 2 * MB};

	for (unsigned i = 0; i < 600; i++) {
		const size_t size = i % 7 ? 1 + next_random() % 50000 : 200000 + next_random() % MB;
		void *block = aligned_alloc(alignment[i % 7], size);

		memset(block, 1, size);
		keep(block);
	}
}

static void resized(void)
{
	char *block[200] = {0};

	for (unsigned i = 0; i < 20000; i++) {
		const size_t size = 16 + next_random() % (i % 50 ? 3000 : 400000);

		block[i % 200] = realloc(block[i % 200], size);
		memset(block[i % 200], 1, size);
	}
	for (unsigned i = 0; i < 200; i++)
		keep(block[i]);
}

/* Sizes and lifetimes of all kinds. */
static void *churn_some(void *argument)
{
	static __thread void *block[20000];
	unsigned state = (unsigned)(size_t)argument;

	for (unsigned i = 0; i < 400000; i++) {
		state = state * 1664525u + 1013904223u;
		const unsigned at = (state >> 8) % 20000;
		const size_t size = 1 + (state >> 4) % (i % 100 ? 400 : 30000);

		free(block[at]);
		block[at] = malloc(size);
		memset(block[at], 1, size);
	}
	for (unsigned i = 0; i < 20000; i++)
		if (i % 3) {
			free(block[i]);
			block[i] = NULL;
		}
	return NULL;
}

static void churn(void)
{
	churn_some((void *)1);
}

static void *churn_and_wait(void *argument)
{
	churn_some(argument);
	stay();
	return NULL;
}

static void churn_threads(void)
{
	for (size_t i = 0; i < 6; i++)
		start(churn_and_wait, (void *)(i + 2));
	wait_until_stay(6);
}

static void *churn_forever(void *argument)
{
	for (;;)
		churn_some(argument);
}

static void storm(void)
{
	for (size_t i = 0; i < 3; i++)
		start(churn_forever, (void *)(i + 2));
	sleep(1);
}

/* A cache that is full, and replaces what it has. */
static void *cache[60000];
static void *replace(void *unused)
{
	(void)unused;
	for (;;) {
		for (unsigned i = 0; i < 500; i++) {
			const unsigned at = next_random() % 60000;

			free(cache[at]);
			cache[at] = touched(1000 + next_random() % 1000);
		}
		usleep(10000);
	}
}

/* In one arena: in its own the thread would leave the first one free. */
static void bounded(void)
{
	set_option(M_ARENA_MAX, 1);
	for (unsigned i = 0; i < 60000; i++)
		cache[i] = touched(1000 + next_random() % 1000);
	start(replace, NULL);
}

/* A file that is never read: who looks at this process must not do that for it, either. */
static void map_unread(void)
{
	const int fd = open("unread", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, PAGE) ||
	    mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		abort();
	close(fd);
}

static void nothing(void)
{
}

/* ---- growing --------------------------------------------------------------------------------- */

static void *grow_small(void *unused)
{
	(void)unused;
	for (;;) {
		for (unsigned i = 0; i < 300; i++)
			keep(touched(100));
		usleep(10000);
	}
}

static void leak(void)
{
	small();
	start(grow_small, NULL);
}

static void *grow_large(void *unused)
{
	(void)unused;
	for (;;) {
		keep(touched(MB));
		usleep(300000);
	}
}

static void leak_large(void)
{
	small();
	start(grow_large, NULL);
}

static void *leak_in_thread(void *unused)
{
	(void)unused;
	for (;;) {
		for (unsigned i = 0; i < 100; i++)
			*(volatile char *)touched(200) = 1;
		usleep(10000);
	}
}

static void leak_threads(void)
{
	for (unsigned i = 0; i < 4; i++)
		start(leak_in_thread, NULL);
	sleep(1);
}

static void *grow_maps(void *unused)
{
	(void)unused;
	for (;;) {
		memset(map(MB), 1, MB);
		usleep(300000);
	}
}

static void maps_grow(void)
{
	small();
	start(grow_maps, NULL);
}

/* ---- freed, and kept ------------------------------------------------------------------------- */

static void free_but(unsigned size, unsigned every)
{
	for (unsigned i = 0; i < MANY; i++)
		many[i] = touched(size);
	for (unsigned i = 0; i < MANY; i++)
		if (i % every != every - 1)
			free(many[i]);
}

static void retention(void)
{
	free_but(150, MANY);
}

static void retention_sparse(void)
{
	free_but(150, 5000);
}

static void retention_threshold(void)
{
	set_option(M_TRIM_THRESHOLD, 1 << 30);
	free_but(150, MANY + 1);
}

static void retention_fast(void)
{
	free_but(40, MANY);
}

static void fragmentation(void)
{
	free_but(150, 20);
}

static void fragmentation_quarter(void)
{
	free_but(200, 4);
}

static void fragmentation_large(void)
{
	for (unsigned i = 0; i < 40000; i++)
		many[i] = touched(i % 2 ? 3000 : 100);
	for (unsigned i = 1; i < 40000; i += 2)
		free(many[i]);
}

static void *fill_and_free(void *unused)
{
	void *block[2000];

	(void)unused;
	for (unsigned i = 0; i < 2000; i++)
		block[i] = touched(2000);
	for (unsigned i = 0; i < 1999; i++)
		free(block[i]);
	stay();
	return NULL;
}

static void arenas(void)
{
	for (unsigned i = 0; i < 32; i++)
		start(fill_and_free, NULL);
	wait_until_stay(32);
}

static void *fill_cache(void *unused)
{
	void *block[7];

	(void)unused;
	for (size_t size = 24; size <= 1032; size += 16) {
		for (unsigned i = 0; i < 7; i++)
			block[i] = touched(size);
		for (unsigned i = 0; i < 7; i++)
			free(block[i]);
	}
	stay();
	return NULL;
}

static void caches(void)
{
	for (unsigned i = 0; i < 200; i++)
		start(fill_cache, NULL);
	wait_until_stay(200);
}

/* One half of what a thread has allocated, and this one frees. */
static void *fill_and_leave(void *argument)
{
	void **block = argument;

	for (unsigned i = 0; i < 20000; i++)
		block[i] = touched(16 + i % 900);
	return NULL;
}

static void *fill_and_stay(void *argument)
{
	fill_and_leave(argument);
	stay();
	return NULL;
}

static void handed(void)
{
	for (unsigned i = 0; i < 8; i++)
		start(fill_and_stay, many + i * 20000);
	wait_until_stay(8);
	for (unsigned i = 0; i < 160000; i += 2)
		free(many[i]);
}

/* Their threads have ended; they themselves are in use, but for some. */
static void left_behind(void)
{
	pthread_t thread[8];

	inside_has_threads = true;
	for (unsigned i = 0; i < 8; i++)
		if (pthread_create(&thread[i], NULL, fill_and_leave, many + i * 20000))
			abort();
	for (unsigned i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < 160000; i++)
		if (i % 20000 < 12000)
			free(many[i]);
}

/* ---- not of the allocator -------------------------------------------------------------------- */

static void huge_pages(void)
{
	char *at = map(258 * MB);

	at = (char *)(((size_t)at + 2 * MB - 1) / (2 * MB) * (2 * MB));
	if (madvise(at, 256 * MB, MADV_HUGEPAGE))
		puts("no huge pages");
	for (unsigned i = 0; i < 128; i++)
		at[(size_t)i * 2 * MB] = 1;
}

static void *use_stack(void *unused)
{
	volatile char room[3 * MB];

	(void)unused;
	for (size_t i = 0; i < sizeof(room); i += PAGE)
		room[i] = 1;
	stay();
	return NULL;
}

static void stacks(void)
{
	for (unsigned i = 0; i < 40; i++)
		start(use_stack, NULL);
	wait_until_stay(40);
}

static void read_file(int flags)
{
	const int fd = open("big", O_RDONLY | O_CLOEXEC);
	const size_t size = 64 * MB;
	volatile const char *at = mmap(NULL, size, PROT_READ, flags, fd, 0);
	unsigned sum = 0;

	if (at == MAP_FAILED)
		abort();
	for (size_t i = 0; i < size; i += PAGE)
		sum += (unsigned char)at[i];
	random_state += sum;
}

static void files(void)
{
	read_file(MAP_PRIVATE);
}

static void files_shared(void)
{
	read_file(MAP_SHARED);
}

static void share(int fd)
{
	if (fd < 0 || ftruncate(fd, 80 * MB))
		abort();
	void *at = mmap(NULL, 80 * MB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		abort();
	memset(at, 1, 80 * MB);
}

static void tmpfs(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/shapes.%d", (int)getpid());
	share(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	unlink(path);
}

static void memory_file(void)
{
	share(memfd_create("shapes", MFD_CLOEXEC));
}

static void system_v(void)
{
	const int id = shmget(IPC_PRIVATE, 80 * MB, 0600);
	void *at = shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	if (at == (void *)-1)
		abort();
	memset(at, 1, 80 * MB);
}

static void pool(void)
{
	for (unsigned i = 0; i < 50; i++)
		memset(map(2 * MB), 1, 2 * MB);
}

/* Equal parts of everything. */
static void mixed(void)
{
	for (unsigned i = 0; i < 20000; i++)
		keep(touched(1000));
	memset(map(20 * MB), 1, 20 * MB);
	void *shared =
		mmap(NULL, 20 * MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(shared, 1, 20 * MB);
	for (unsigned i = 0; i < 7; i++)
		start(use_stack, NULL);
	wait_until_stay(7);
}

/* ---- all ------------------------------------------------------------------------------------- */

static const struct shape {
	const char *name;
	void (*make)(void);
} shapes[] = {
	{"aligned", aligned},
	{"arenas", arenas},
	{"bounded", bounded},
	{"caches", caches},
	{"churn", churn},
	{"churn_threads", churn_threads},
	{"files", files},
	{"files_shared", files_shared},
	{"fragmentation", fragmentation},
	{"fragmentation_large", fragmentation_large},
	{"fragmentation_quarter", fragmentation_quarter},
	{"handed", handed},
	{"huge", huge},
	{"huge_pages", huge_pages},
	{"large", large},
	{"leak", leak},
	{"leak_large", leak_large},
	{"leak_threads", leak_threads},
	{"left_behind", left_behind},
	{"maps_grow", maps_grow},
	{"memory_file", memory_file},
	{"mixed", mixed},
	{"nothing", nothing},
	{"pool", pool},
	{"resized", resized},
	{"retention", retention},
	{"retention_fast", retention_fast},
	{"retention_sparse", retention_sparse},
	{"retention_threshold", retention_threshold},
	{"small", small},
	{"stacks", stacks},
	{"storm", storm},
	{"system_v", system_v},
	{"tmpfs", tmpfs},
};

/* Of files nothing: to print brings in more of the C library. */
static long resident_bytes(void)
{
	char text[128] = "";
	long pages = 0, shared = 0;
	const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	sscanf(text, "%*d %ld %ld", &pages, &shared);
	return (pages - shared) * (long)PAGE;
}

static void obey(const char *line)
{
	if (!strncmp(line, "info", 4)) {
		inside_say();
	} else {
		const long before = resident_bytes();

		inside_trim();
		printf("given=%ld\n", before - resident_bytes());
	}
}

int main(int argc, char **argv)
{
	static char line[64];

	setvbuf(stdout, NULL, _IONBF, 0);
	inside_init();
	map_unread();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (argc > 1 && !strcmp(shapes[i].name, argv[1]))
			shapes[i].make();
	puts("ready");
	for (ssize_t size; (size = read(STDIN_FILENO, line, sizeof(line) - 1)) > 0;)
		obey(line);
	return 0;
}
