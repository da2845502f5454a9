/* SPDX-License-Identifier: MIT */
/*
 * inside.h - what the allocator of this process says of itself, whichever it is: in the C library,
 * or preloaded. Included last: from here on blocks are counted as the program gets and frees them.
 *
 * Figures are `name=value`, by the names of the parts that `heapinject explain` prints; `counted`
 * are the usable bytes of all blocks that the program itself has.
 *
 *     glibc     mallinfo2, whose in_use has heads and caches in it
 *     jemalloc  stats.allocated without `internal`: what it takes for its caches is counted as
 *               allocated there, and is metadata of ours. Blocks in caches are allocated, too.
 *     tcmalloc  generic.current_allocated_bytes, and what caches hold
 *     mimalloc  mi_stats of a release build does not count blocks (MI_STAT=0 when it was built).
 * The heap of the main thread can be visited, and is all there is without other threads. A block
 * whose address had to be aligned begins before that, where only that visit knows: then nothing is
 * counted. musl      has no figures but `counted`
 */
#ifndef INSIDE_H
#define INSIDE_H

#include "../purging.h"

typedef bool mimalloc_visitor(const void *heap, const void *area, void *block, size_t bytes,
			      void *context);

static struct {
	jemalloc_control *jemalloc;
	int (*tcmalloc)(const char *, size_t *);
	void (*tcmalloc_release)(void);
	bool (*mimalloc_visit)(void *, bool, mimalloc_visitor *, void *);
	void (*mimalloc_collect)(bool);
	void *mimalloc_heap; /* of the main thread */
} inside;

static size_t inside_counted;
static bool inside_has_aligned, inside_has_threads;

/*
 * Before the first block: to look up names that are not there allocates, and an allocation can put
 * off what mimalloc is about to give back.
 */
static void inside_init(void)
{
	void *(*heap)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "mi_heap_get_default");

	inside.mimalloc_collect = (void (*)(bool))dlsym(RTLD_DEFAULT, "mi_collect");
	inside.mimalloc_visit = (bool (*)(void *, bool, mimalloc_visitor *, void *))dlsym(
		RTLD_DEFAULT, "mi_heap_visit_blocks");
	if (heap)
		inside.mimalloc_heap = heap();
	inside.tcmalloc = (int (*)(const char *, size_t *))dlsym(
		RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
	inside.tcmalloc_release =
		(void (*)(void))dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
	if (!heap && !inside.tcmalloc)
		inside.jemalloc = (jemalloc_control *)allocator_function(mallctl);
}

static void *inside_taken(void *block)
{
	const size_t bytes = block ? malloc_usable_size(block) : 0;

	__atomic_add_fetch(&inside_counted, bytes, __ATOMIC_RELAXED);
	return block;
}

static void *inside_given(void *block)
{
	const size_t bytes = block ? malloc_usable_size(block) : 0;

	__atomic_sub_fetch(&inside_counted, bytes, __ATOMIC_RELAXED);
	return block;
}

#define malloc(size) inside_taken(malloc(size))
#define aligned_alloc(alignment, size) \
	(inside_has_aligned = true, inside_taken(aligned_alloc(alignment, size)))
#define realloc(block, size) inside_taken(realloc(inside_given(block), size))
#define free(block) free(inside_given(block))

static bool inside_add(const void *heap, const void *area, void *block, size_t bytes, void *context)
{
	(void)heap, (void)area;
	*(size_t *)context += block ? bytes : 0;
	return true;
}

static size_t inside_jemalloc(const char *name)
{
	char text[64];
	size_t value = 0, size = sizeof(value);

	snprintf(text, sizeof(text), name, JEMALLOC_ALL);
	if (inside.jemalloc(text, &value, &size, NULL, 0))
		abort();
	return value;
}

static size_t inside_tcmalloc(const char *name)
{
	size_t value = 0;

	if (!inside.tcmalloc(name, &value))
		abort();
	return value;
}

static void inside_say_jemalloc(void)
{
	uint64_t epoch = 1;

	inside.jemalloc("epoch", NULL, NULL, &epoch, sizeof(epoch));
	const size_t cached = inside_jemalloc("stats.arenas.%s.tcache_bytes");
	const size_t allocated =
		inside_jemalloc("stats.allocated") - inside_jemalloc("stats.arenas.%s.internal");

	printf("used=%zu cached=%zu counted=%zu\n", allocated - cached, cached, inside_counted);
}

static void inside_say_tcmalloc(void)
{
	printf("used=%zu cached=%zu counted=%zu\n",
	       inside_tcmalloc("generic.current_allocated_bytes"),
	       inside_tcmalloc("tcmalloc.thread_cache_free_bytes") +
		       inside_tcmalloc("tcmalloc.transfer_cache_free_bytes"),
	       inside_counted);
}

static void inside_say_mimalloc(void)
{
	size_t visited = 0;

	inside.mimalloc_visit(inside.mimalloc_heap, true, inside_add, &visited);
	if (!inside_has_threads)
		printf("used=%zu ", visited);
	if (!inside_has_aligned)
		printf("counted=%zu", inside_counted);
	puts("");
}

/* Of the C library. */
static void inside_say_own(void)
{
#ifdef __GLIBC__
	const struct mallinfo2 info = mallinfo2();

	printf("in_use=%zu free=%zu ", info.uordblks + info.hblkhd, info.fordblks);
#endif
	printf("counted=%zu\n", inside_counted);
}

static void inside_say(void)
{
	if (inside.jemalloc)
		inside_say_jemalloc();
	else if (inside.tcmalloc)
		inside_say_tcmalloc();
	else if (inside.mimalloc_heap)
		inside_say_mimalloc();
	else
		inside_say_own();
}

static void inside_trim(void)
{
	if (inside.jemalloc)
		inside.jemalloc("arena." JEMALLOC_ALL ".purge", NULL, NULL, NULL, 0);
	else if (inside.tcmalloc)
		inside.tcmalloc_release();
	else if (inside.mimalloc_heap)
		inside.mimalloc_collect(true);
#ifdef __GLIBC__
	else
		malloc_trim(0);
#endif
}

#endif
