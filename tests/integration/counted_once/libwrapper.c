/* SPDX-License-Identifier: MIT */
/*
 * A wrapper of malloc as many programs preload one: it hands on to the next malloc, and its
 * functions reach each other in each way that there is: by a call, a jump, through a helper,
 * through a pointer in the GOT, through one of its own. It has an operator new that throws, and
 * none that does not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

#define NOT_A_TAIL_CALL(block) __asm__ volatile("" : "+r"(block) : : "memory")
#define PAGE 4096

static void *(*next_malloc)(size_t size);
static void *(*next_memalign)(size_t alignment, size_t size);
static void (*next_free)(void *block);

__attribute__((constructor)) static void find_next(void)
{
	if (next_free)
		return;
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&next_memalign = dlsym(RTLD_NEXT, "memalign");
	*(void **)&next_free = dlsym(RTLD_NEXT, "free");
}

void *malloc(size_t size)
{
	find_next();
	return next_malloc(size);
}

void free(void *block)
{
	find_next();
	next_free(block);
}

__attribute__((noinline)) static void *helper(size_t size)
{
	void *block = malloc(size);

	NOT_A_TAIL_CALL(block);
	return block;
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	block = malloc(bytes);
	NOT_A_TAIL_CALL(block);
	return block ? memset(block, 0, bytes) : NULL;
}

__attribute__((optimize("O2"))) void *realloc(void *old, size_t size)
{
	size_t had;
	void *block;

	if (!old)
		return malloc(size);
	had = malloc_usable_size(old);
	block = malloc(size);
	NOT_A_TAIL_CALL(block);
	if (!block)
		return NULL;
	memcpy(block, old, had < size ? had : size);
	free(old);
	return block;
}

void *memalign(size_t alignment, size_t size)
{
	find_next();
	return next_memalign(alignment, size);
}

__attribute__((optimize("O2"))) void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

__attribute__((optimize("O2"), noplt)) void *valloc(size_t size)
{
	return memalign(PAGE, size);
}

int posix_memalign(void **out_block, size_t alignment, size_t size)
{
	void *block = aligned_alloc(alignment, size);

	NOT_A_TAIL_CALL(block);
	*out_block = block;
	return block ? 0 : ENOMEM;
}

void *new_one(size_t size) __asm__("_Znwm");
void *new_one(size_t size)
{
	void *block = malloc(size);

	NOT_A_TAIL_CALL(block);
	return block;
}

void *new_some(size_t size) __asm__("_Znam");
void *new_some(size_t size)
{
	return helper(size);
}

void *own_malloc(size_t size) __attribute__((alias("malloc"), visibility("hidden")));
__attribute__((visibility("hidden"))) void *(*through_pointer)(size_t size) = own_malloc;

/* Its first instruction is a jump through a word that no symbol stands for. */
__attribute__((optimize("O2"))) void *mallocx(size_t size, int flags)
{
	(void)flags;
	return through_pointer(size);
}

void *rallocx(void *old, size_t size, int flags)
{
	(void)flags;
	return realloc(old, size);
}

size_t xallocx(void *block, size_t size, size_t extra, int flags)
{
	(void)size;
	(void)extra;
	(void)flags;
	return malloc_usable_size(block);
}

void dallocx(void *block, int flags)
{
	(void)flags;
	free(block);
}

void sdallocx(void *block, size_t size, int flags)
{
	(void)size;
	(void)flags;
	free(block);
}
