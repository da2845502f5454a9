/* SPDX-License-Identifier: MIT */
/*
 * Calls each function of the allocator so many times, from a function of its own (alloc_NAME), by
 * sizes that are known, and keeps every other block; the rest goes by each of the functions that
 * may free it. Also what reaches the allocator from libc, or from an operator new[] whose
 * constructors allocate.
 *
 * Commands: go COUNT = so many rounds, answered with NAME:LIVE-BYTES:LIVE-BLOCKS:BYTES:BLOCKS for
 * each; clear = free what is kept. It is plain C as well, without the operators: for musl.
 */
#include "../target.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
#include <new>
extern "C" {
#endif
/* Of jemalloc only. */
void *mallocx(size_t, int) __attribute__((weak));
void *rallocx(void *, size_t, int) __attribute__((weak));
size_t xallocx(void *, size_t, size_t, int) __attribute__((weak));
void dallocx(void *, int) __attribute__((weak));
void sdallocx(void *, size_t, int) __attribute__((weak));
void *pvalloc(size_t) __attribute__((weak));
void *reallocarray(void *, size_t, size_t) __attribute__((weak));
#ifdef __cplusplus
}
#endif

#define ALIGNMENT 64
#define ALIGNMENT_FLAG 6 /* the same for mallocx */
#define IMPOSSIBLE ((size_t)1 << 60)

struct counts {
	uint64_t live_bytes, live_blocks, bytes, blocks;
};
static struct counts *now; /* of the function that is called */

/* One more was allocated, of which nothing is left. */
static void passes(size_t size)
{
	now->bytes += size;
	now->blocks++;
}

/* No tail calls, nothing optimized away. */
#define KEEP_FRAME(block) __asm__ volatile("" : "+r"(block) : : "memory")

#define ALLOC(name, ...)                                                 \
	__attribute__((noinline)) static void *alloc_##name(size_t size) \
	{                                                                \
		void *block;                                             \
		__VA_ARGS__;                                             \
		KEEP_FRAME(block);                                       \
		return block;                                            \
	}

static void *must(void *block)
{
	KEEP_FRAME(block);
	if (!block)
		abort();
	return block;
}

#define FIRST(size_of_first) (passes(size_of_first), must(malloc(size_of_first)))

ALLOC(malloc, block = malloc(size))
ALLOC(calloc, block = calloc(size / 8, 8))
ALLOC(realloc_null, block = realloc(NULL, size))
ALLOC(realloc_grown, block = FIRST(size / 2); block = realloc(block, size))
ALLOC(realloc_shrunk, block = FIRST(size * 3); block = realloc(block, size))
ALLOC(realloc_refused, block = must(malloc(size)); if (realloc(block, IMPOSSIBLE)) abort())
ALLOC(reallocarray_null, block = reallocarray(NULL, size / 8, 8))
ALLOC(reallocarray_grown, block = FIRST(size / 2); block = reallocarray(block, size / 8, 8))
ALLOC(posix_memalign, if (posix_memalign(&block, ALIGNMENT, size)) abort())
ALLOC(posix_memalign_8, if (posix_memalign(&block, 8, size)) abort())
ALLOC(aligned_alloc, block = aligned_alloc(ALIGNMENT, size))
ALLOC(aligned_alloc_16, block = aligned_alloc(16, size))
ALLOC(memalign, block = memalign(ALIGNMENT, size))
ALLOC(memalign_8, block = memalign(8, size))
ALLOC(valloc, block = valloc(size))
ALLOC(pvalloc, block = pvalloc(size))
ALLOC(mallocx, block = mallocx(size, 0))
ALLOC(mallocx_aligned, block = mallocx(size, ALIGNMENT_FLAG))
ALLOC(rallocx, block = FIRST(size / 2); block = rallocx(block, size, 0))
ALLOC(xallocx, block = FIRST(size); if (xallocx(block, size, 0, 0) < size) abort())

static char text[4096]; /* of x */

static const char *text_of(size_t length)
{
	return text + sizeof(text) - 1 - length;
}

ALLOC(strdup, block = strdup(text_of(size - 1)))
ALLOC(strndup, block = strndup(text, size - 1))

static void release(void *block, size_t size)
{
	(void)size;
	free(block);
}

#ifdef __cplusplus
static const std::align_val_t aligned{ALIGNMENT};

/* Its constructor allocates, while the array that it lies in is the sample, perhaps. */
struct Element {
	void *own;

	Element()
	{
		own = FIRST(40);
		free(own);
	}
	~Element()
	{
	}
};

ALLOC(new, block = operator new(size))
ALLOC(new_array, block = operator new[](size))
ALLOC(new_nothrow, block = operator new(size, std::nothrow))
ALLOC(new_array_nothrow, block = operator new[](size, std::nothrow))
ALLOC(new_aligned, block = operator new(size, aligned))
ALLOC(new_array_aligned, block = operator new[](size, aligned))
ALLOC(new_aligned_nothrow, block = operator new(size, aligned, std::nothrow))
ALLOC(new_array_aligned_nothrow, block = operator new[](size, aligned, std::nothrow))
ALLOC(new_elements,
      block = (size_t *)(void *)new Element[size / 8 - 1] - 1) /* their number lies before them */

/* Allocates, gives that back, and gives up. */
static void handle_want()
{
	free(must(malloc(24)));
	std::set_new_handler(nullptr);
}

/* A handler in between does no harm to what comes after it. */
ALLOC(new_after_refusal, {
	std::set_new_handler(handle_want);
	if (operator new(IMPOSSIBLE, std::nothrow))
		abort();
	block = operator new(size);
})

#define RELEASE(name, ...)                                   \
	static void release_##name(void *block, size_t size) \
	{                                                    \
		(void)size;                                  \
		operator delete __VA_ARGS__;                 \
	}
RELEASE(plain, (block))
RELEASE(nothrow, (block, std::nothrow))
RELEASE(sized, (block, size))
RELEASE(array, [](block))
RELEASE(array_nothrow, [](block, std::nothrow))
RELEASE(array_sized, [](block, size))
RELEASE(aligned, (block, aligned))
RELEASE(aligned_nothrow, (block, aligned, std::nothrow))
RELEASE(aligned_sized, (block, size, aligned))
RELEASE(array_aligned, [](block, aligned))
RELEASE(array_aligned_nothrow, [](block, aligned, std::nothrow))
RELEASE(array_aligned_sized, [](block, size, aligned))
#endif

static void release_x(void *block, size_t size)
{
	(void)size;
	dallocx(block, 0);
}

static void release_sx(void *block, size_t size)
{
	sdallocx(block, size, 0);
}

static void release_sx_aligned(void *block, size_t size)
{
	sdallocx(block, size, ALIGNMENT_FLAG);
}

typedef void release_function(void *block, size_t size);

/* a row of `functions` */
#define FUNCTION(name, needs, ...)                                  \
	{                                                           \
		"alloc_" #name, alloc_##name, {__VA_ARGS__}, needs, \
		{                                                   \
			0, 0, 0, 0                                  \
		}                                                   \
	}
#define ANY "malloc"
static struct function {
	const char *name;
	void *(*allocate)(size_t size);
	release_function *release[3];
	const char *needs; /* of the very object that defines malloc */
	struct counts counts;
} functions[] = {
	FUNCTION(malloc, ANY, release),
	FUNCTION(calloc, ANY, release),
	FUNCTION(realloc_null, ANY, release),
	FUNCTION(realloc_grown, ANY, release),
	FUNCTION(realloc_shrunk, ANY, release),
	FUNCTION(realloc_refused, ANY, release),
	FUNCTION(reallocarray_null, ANY, release),
	FUNCTION(reallocarray_grown, ANY, release),
	FUNCTION(posix_memalign, ANY, release),
	FUNCTION(posix_memalign_8, ANY, release),
	FUNCTION(aligned_alloc, ANY, release),
	FUNCTION(aligned_alloc_16, ANY, release),
	FUNCTION(memalign, "memalign", release),
	FUNCTION(memalign_8, "memalign", release),
	FUNCTION(valloc, "valloc", release),
	FUNCTION(pvalloc, "pvalloc", release),
	FUNCTION(mallocx, "mallocx", release, release_x, release_sx),
	FUNCTION(mallocx_aligned, "mallocx", release, release_x, release_sx_aligned),
	FUNCTION(rallocx, "mallocx", release_x),
	FUNCTION(xallocx, "mallocx", release_x),
	FUNCTION(strdup, ANY, release),
	FUNCTION(strndup, ANY, release),
#ifdef __cplusplus
	FUNCTION(new, ANY, release_plain, release_nothrow, release_sized),
	FUNCTION(new_array, ANY, release_array, release_array_nothrow, release_array_sized),
	FUNCTION(new_nothrow, ANY, release_plain, release_nothrow, release_sized),
	FUNCTION(new_array_nothrow, ANY, release_array, release_array_nothrow, release_array_sized),
	FUNCTION(new_aligned, ANY, release_aligned, release_aligned_nothrow, release_aligned_sized),
	FUNCTION(new_array_aligned, ANY, release_array_aligned, release_array_aligned_nothrow,
		 release_array_aligned_sized),
	FUNCTION(new_aligned_nothrow, ANY, release_aligned, release_aligned_nothrow,
		 release_aligned_sized),
	FUNCTION(new_array_aligned_nothrow, ANY, release_array_aligned,
		 release_array_aligned_nothrow, release_array_aligned_sized),
	FUNCTION(new_elements, ANY, release_array),
	FUNCTION(new_after_refusal, ANY, release_plain),
#endif
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* ---- what is kept, and what goes ------------------------------------------------------------- */

struct block {
	void *at;
	size_t size;
	release_function *release;
};
#define KEPT_MAX 2000000u
/* so many come between an allocation and the free: their addresses are given out again */
#define GOING 64u
static struct block kept[KEPT_MAX], going[GOING]; /* not from malloc: it would be counted */
static size_t kept_count, going_at;

static void give_up(struct block *block)
{
	if (block->at)
		block->release(block->at, block->size);
	block->at = NULL;
}

static void keep(struct block block)
{
	if (kept_count == KEPT_MAX)
		abort();
	now->live_bytes += block.size;
	now->live_blocks++;
	kept[kept_count++] = block;
}

static release_function *choose(const struct function *function, unsigned number)
{
	unsigned count = 0;

	while (count < 3 && function->release[count])
		count++;
	return function->release[number % count];
}

static void call(struct function *function, unsigned round)
{
	const size_t size = ALIGNMENT * (1 + round * 7 % 9); /* 64 to 576 */
	struct block block = {NULL, size, choose(function, round / 2)};

	now = &function->counts;
	block.at = must(function->allocate(size));
	now->bytes += size;
	now->blocks++;
	if (round % 2) {
		keep(block);
		return;
	}
	give_up(&going[going_at]);
	going[going_at] = block;
	going_at = (going_at + 1) % GOING;
}

static void drain(void)
{
	for (unsigned i = 0; i < GOING; i++)
		give_up(&going[i]);
}

static void clear(void)
{
	drain();
	while (kept_count)
		give_up(&kept[--kept_count]);
	for (size_t i = 0; i < FUNCTIONS; i++)
		memset(&functions[i].counts, 0, sizeof(functions[i].counts));
}

/* ---- commands -------------------------------------------------------------------------------- */

static bool is_of_allocator(const char *name)
{
	Dl_info own, allocator;
	void *const at = dlsym(RTLD_DEFAULT, name);

	return at && dladdr(at, &own) && dladdr(dlsym(RTLD_DEFAULT, "malloc"), &allocator) &&
	       own.dli_fbase == allocator.dli_fbase;
}

static bool is_there[FUNCTIONS];

/* rounds, and then a pause, in which who is told of each call has the time to read it */
#define BREATH 500u
#define BREATH_US 5000

static void go(unsigned rounds)
{
	for (unsigned round = 0; round < rounds; round++) {
		for (size_t i = 0; i < FUNCTIONS; i++)
			if (is_there[i])
				call(&functions[i], round);
		if (round % BREATH == BREATH - 1)
			usleep(BREATH_US);
	}
	drain();
}

static void say_truth(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		const struct counts *counts = &functions[i].counts;

		if (is_there[i])
			target_say("%s:%lu:%lu:%lu:%lu ", functions[i].name, counts->live_bytes,
				   counts->live_blocks, counts->bytes, counts->blocks);
	}
	target_say("\n");
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < FUNCTIONS; i++)
		is_there[i] = is_of_allocator(functions[i].needs);
	target_say("ready\n");
	while (target_read(command)) {
		if (strncmp(command, "go ", 3) == 0) {
			go((unsigned)atoi(command + 3));
			say_truth();
		} else {
			clear();
			target_say("clear\n");
		}
	}
	return 0;
}
