/* SPDX-License-Identifier: MIT */
/*
 * libtagging.c - an allocator that returns pointers with a tag in their top byte, another one each
 * time, and that takes a block back by any tag, as allocators with memory tagging do. The blocks
 * are those of the C library.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#define TAG_AT 56

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* Else a system call refuses a pointer that has a tag. */
__attribute__((constructor)) static void allow_tags(void)
{
	prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0);
}

static void *tagged(void *block)
{
	static uint64_t last;
	const uint64_t tag = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) % 15 + 1;

	return block ? (void *)((uintptr_t)block | tag << TAG_AT) : NULL;
}

static void *plain(void *block)
{
	return (void *)((uintptr_t)block & ((1ull << TAG_AT) - 1));
}

void *malloc(size_t size)
{
	return tagged(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return tagged(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
	return tagged(__libc_realloc(plain(block), size));
}

void *memalign(size_t alignment, size_t size)
{
	return tagged(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out_block, size_t alignment, size_t size)
{
	void *block = memalign(alignment, size);

	if (block)
		*out_block = block;
	return block ? 0 : ENOMEM;
}

void free(void *block)
{
	__libc_free(plain(block));
}
