// SPDX-License-Identifier: MIT
/*
 * target.c - makes heaps of several shapes, and says what its allocator counts in them.
 *
 *     shape NAME   makes one more
 *     truth        `name=bytes ...` of what the allocator itself knows: used, cached, free, by the
 *                  names of tests/heaps/walk.c; used+cached where it does not tell them apart;
 *                  kept: malloc_usable_size of all blocks that this program has
 *     purge        has the allocator give back what it can
 *     storm, calm  threads that allocate and free without end, and their end
 */
#include "../target.h"

#include <pthread.h>

#include "../purging.h"

/* dprintf allocates: then the figures that it says would be those of before. */
#define say(...)                                                                      \
	do {                                                                          \
		char text_[256];                                                      \
		const int length_ = snprintf(text_, sizeof(text_), __VA_ARGS__);      \
                                                                                      \
		if (write(STDOUT_FILENO, text_, (size_t)length_) != (ssize_t)length_) \
			_exit(1);                                                     \
	} while (0)

#define KEPT_MAX 2000000u
#define STORMERS 3

static void *kept[KEPT_MAX]; /* not on the heap */
static size_t kept_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Sizes of all magnitudes up to 2^bits. */
static size_t any_size(uint32_t *state, unsigned bits)
{
	return 1 + next_random(state) % (1u << (1 + next_random(state) % bits));
}

static void *touched(void *block, size_t size)
{
	if (block)
		memset(block, 1, size);
	return block;
}

static void keep(void *block)
{
	pthread_mutex_lock(&lock);
	if (kept_count < KEPT_MAX)
		kept[kept_count++] = block;
	pthread_mutex_unlock(&lock);
}

/* Frees every n-th of the blocks from `first` on. */
static void free_some(size_t first, unsigned n)
{
	size_t left = first;

	for (size_t i = first; i < kept_count; i++)
		if ((i - first) % n == 0)
			free(kept[i]);
		else
			kept[left++] = kept[i];
	kept_count = left;
}

static void make_small(void)
{
	uint32_t state = 1;
	const size_t first = kept_count;

	for (int i = 0; i < 300000; i++) {
		const size_t size = 1 + next_random(&state) % 700;

		keep(touched(malloc(size), size));
	}
	free_some(first, 3);
}

static void make_mixed(void)
{
	uint32_t state = 2;
	const size_t first = kept_count;

	for (int i = 0; i < 20000; i++) {
		const size_t size = any_size(&state, 18);

		keep(touched(calloc(1, size), size));
	}
	free_some(first, 2);
}

static void make_big(void)
{
	uint32_t state = 3;
	const size_t first = kept_count;

	for (int i = 0; i < 120; i++) {
		const size_t size = 20000 + next_random(&state) % 3000000;

		keep(touched(malloc(size), size));
	}
	for (size_t i = first; i < kept_count; i += 3)
		kept[i] = realloc(kept[i], 10000 + next_random(&state) % 4000000);
	free_some(first, 4);
}

static void make_aligned(void)
{
	uint32_t state = 4;
	const size_t first = kept_count;

	for (int i = 0; i < 3000; i++) {
		const size_t alignment = (size_t)16 << next_random(&state) % 13;
		const size_t size = any_size(&state, 16);
		void *block = NULL;

		if (posix_memalign(&block, alignment, size) == 0)
			keep(touched(block, size));
	}
	free_some(first, 2);
}

/* Whole pages, then free again. */
static void make_holes(void)
{
	const size_t first = kept_count;

	for (int i = 0; i < 1500; i++)
		keep(touched(malloc(40000), 40000));
	for (int i = 0; i < 100000; i++)
		keep(touched(malloc(300), 300));
	free_some(first, 1);
}

/* Threads that stay keep what they have freed in their caches. */
static int idle[2];

/* Half of them stay, and say when they have done their work. */
static void *thread_of_some(void *argument)
{
	uint32_t state = 5 + (uint32_t)(uintptr_t)argument;
	void *block[2000];

	for (int i = 0; i < 2000; i++) {
		const size_t size = any_size(&state, 11);

		block[i] = touched(malloc(size), size);
	}
	for (int i = 0; i < 2000; i++)
		if (next_random(&state) % 3)
			free(block[i]);
		else
			keep(block[i]);
	while ((uintptr_t)argument % 2 && write(idle[1], "x", 1) == 1)
		pause();
	return NULL;
}

static void make_threads(void)
{
	pthread_t thread[16];
	char byte;

	if (pipe(idle) != 0)
		return;
	for (uintptr_t i = 0; i < 16; i++)
		pthread_create(&thread[i], NULL, thread_of_some, (void *)i);
	for (int i = 0; i < 16; i++)
		if (i % 2)
			(void)!read(idle[0], &byte, 1);
		else
			pthread_join(thread[i], NULL);
}

static const struct {
	const char *name;
	void (*make)(void);
} shapes[] = {
	{"small", make_small},     {"mixed", make_mixed}, {"big", make_big},
	{"aligned", make_aligned}, {"holes", make_holes}, {"threads", make_threads},
};

static void shape(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].name, name) == 0) {
			shapes[i].make();
			say("made %zu\n", kept_count);
			return;
		}
	say("no such shape\n");
}

/* ---- what the allocators say ----------------------------------------------------------------- */

static unsigned long long kept_bytes(void)
{
	unsigned long long bytes = 0;

	for (size_t i = 0; i < kept_count; i++)
		bytes += malloc_usable_size(kept[i]);
	return bytes;
}

/* Of an allocator that is linked into the program; NULL: it is in a library, or is another one. */
typedef int tcmalloc_get(const char *, size_t *);
extern tcmalloc_get MallocExtension_GetNumericProperty __attribute__((weak));

static size_t tcmalloc_bytes(tcmalloc_get *get, const char *name)
{
	size_t value = 0;

	get(name, &value);
	return value;
}

static bool tcmalloc_truth(void)
{
	tcmalloc_get *get = (tcmalloc_get *)allocator_function(MallocExtension_GetNumericProperty);

	if (!get)
		return false;
	const size_t free_bytes = tcmalloc_bytes(get, "tcmalloc.pageheap_free_bytes");

	say("used=%zu cached=%zu free=%zu trimmable=%zu kept=%llu\n",
	    tcmalloc_bytes(get, "generic.current_allocated_bytes"),
	    tcmalloc_bytes(get, "tcmalloc.thread_cache_free_bytes") +
		    tcmalloc_bytes(get, "tcmalloc.transfer_cache_free_bytes"),
	    free_bytes + tcmalloc_bytes(get, "tcmalloc.pageheap_unmapped_bytes") +
		    tcmalloc_bytes(get, "tcmalloc.central_cache_free_bytes"),
	    free_bytes, kept_bytes());
	return true;
}

typedef bool mimalloc_visit(const void *heap, const void *area, void *block, size_t bytes,
			    void *context);

static bool add_block(const void *heap, const void *area, void *block, size_t bytes, void *context)
{
	(void)heap, (void)area;
	*(size_t *)context += block ? bytes : 0;
	return true;
}

/*
 * An aligned block begins within one of mimalloc's, which only mimalloc knows: it visits those of
 * this thread. No other thread makes aligned ones.
 */
static bool mimalloc_truth(void)
{
	void *(*get_heap)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "mi_heap_get_default");
	bool (*visit)(void *, bool, mimalloc_visit *, void *) =
		(bool (*)(void *, bool, mimalloc_visit *, void *))dlsym(RTLD_DEFAULT,
									"mi_heap_visit_blocks");
	bool (*has)(void *, const void *) =
		(bool (*)(void *, const void *))dlsym(RTLD_DEFAULT, "mi_heap_contains_block");
	size_t bytes = 0;

	if (!get_heap || !visit || !has)
		return false;
	visit(get_heap(), true, add_block, &bytes);
	for (size_t i = 0; i < kept_count; i++)
		bytes += has(get_heap(), kept[i]) ? 0 : malloc_usable_size(kept[i]);
	say("kept=%zu\n", bytes);
	return true;
}

static jemalloc_control *jemalloc_ask;
#define ALL JEMALLOC_ALL

static size_t jemalloc_size(const char *name)
{
	size_t value = 0, size = sizeof(value);

	jemalloc_ask(name, &value, &size, NULL, 0);
	return value;
}

static unsigned jemalloc_number(const char *name)
{
	unsigned value = 0;
	size_t size = sizeof(value);

	jemalloc_ask(name, &value, &size, NULL, 0);
	return value;
}

/* Of blocks of this size that slabs have, those that are free. */
static size_t jemalloc_free_in_slabs(unsigned bin)
{
	static const char *const names[] = {"stats.arenas." ALL ".bins.%u.curslabs",
					    "stats.arenas." ALL ".bins.%u.curregs",
					    "arenas.bin.%u.size", "arenas.bin.%u.nregs"};
	char name[4][64];

	for (int i = 0; i < 4; i++)
		snprintf(name[i], sizeof(name[i]), names[i], bin);
	return (jemalloc_size(name[0]) * jemalloc_number(name[3]) - jemalloc_size(name[1])) *
	       jemalloc_size(name[2]);
}

static bool jemalloc_truth(void)
{
	uint64_t epoch = 1;
	size_t free_bytes = 0;

	jemalloc_ask = (jemalloc_control *)allocator_function(mallctl);
	if (!jemalloc_ask)
		return false;
	jemalloc_ask("epoch", NULL, NULL, &epoch, sizeof(epoch));
	for (unsigned i = 0; i < jemalloc_number("arenas.nbins"); i++)
		free_bytes += jemalloc_free_in_slabs(i);
	const size_t trimmable = 4096 * (jemalloc_size("stats.arenas." ALL ".pdirty") +
					 jemalloc_size("stats.arenas." ALL ".pmuzzy"));

	say("used+cached=%zu free=%zu trimmable=%zu kept=%llu\n", jemalloc_size("stats.allocated"),
	    free_bytes + trimmable + jemalloc_size("stats.retained"), trimmable, kept_bytes());
	return true;
}

static bool plain_truth(void)
{
	say("kept=%llu\n", kept_bytes());
	return true;
}

/* The first that is there answers. */
static void ask_truth(void)
{
	(void)(tcmalloc_truth() || mimalloc_truth() || jemalloc_truth() || plain_truth());
}

static void purge(void)
{
	purge_heap();
	say("purged\n");
}

/* ---- threads that never rest ----------------------------------------------------------------- */

static volatile bool is_storming;
static pthread_t stormer[STORMERS];

static void *storm_on(void *argument)
{
	uint32_t state = 77 + (uint32_t)(uintptr_t)argument;
	static __thread void *block[4000];
	static __thread size_t bytes[4000];

	while (is_storming) {
		const unsigned at = next_random(&state) % 4000;

		free(block[at]);
		bytes[at] = any_size(&state, next_random(&state) % 64 ? 12 : 18);
		block[at] = touched(malloc(bytes[at]), bytes[at]);
	}
	for (int i = 0; i < 4000; i++)
		free(block[i]);
	return NULL;
}

static void storm(void)
{
	is_storming = true;
	for (uintptr_t i = 0; i < STORMERS; i++)
		pthread_create(&stormer[i], NULL, storm_on, (void *)i);
	say("storming\n");
}

static void calm(void)
{
	is_storming = false;
	for (int i = 0; i < STORMERS; i++)
		pthread_join(stormer[i], NULL);
	say("calm\n");
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "shape ", 6) == 0)
			shape(command + 6);
		else if (strcmp(command, "truth") == 0)
			ask_truth();
		else if (strcmp(command, "purge") == 0)
			purge();
		else if (strcmp(command, "storm") == 0)
			storm();
		else
			calm();
	}
	return 0;
}
