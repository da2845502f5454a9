// SPDX-License-Identifier: MIT
// A program with operators of its own, and an allocator that is linked into it. "ready", then
// "keep N": N blocks of 1000 bytes from operator new, and N that are deleted; the answer says how
// many were not as operator new makes them.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../target.h"

#define BLOCK_BYTES 1000u
#define ALIGNMENT 64u
#define MAGIC 0x6d61676963ull

static void *volatile last;

#ifdef ARENA
// An allocator that never frees, so that operator delete and free are one function.
#define HEAP_BYTES (64u << 20)
alignas(ALIGNMENT) static char heap[HEAP_BYTES];
static size_t used;

#define APART __attribute__((noipa))

extern "C" {
APART void *malloc(size_t size)
{
	void *block = heap + used;

	used += (size + 15) / 16 * 16;
	if (used > HEAP_BYTES)
		abort(); // what calls nothing else is not hooked
	return block;
}

APART void free(void *block)
{
	if ((uintptr_t)block % 16)
		abort();
	__asm__ volatile(".fill 8, 1, 0x90"); // room for a jump
}

APART void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

APART void *realloc(void *block, size_t size)
{
	return block ? nullptr : malloc(size);
}
}

APART void *operator new(size_t size)
{
	used = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return malloc(size);
}

void operator delete(void *block) noexcept __attribute__((alias("free")));

static bool is_right(void *block)
{
	return reinterpret_cast<uintptr_t>(block) % ALIGNMENT == 0;
}
#elif defined(POOL)
// A pool (with LIBRARY, of a library): parts of large blocks, from malloc or (with MAPS) from the
// kernel.
#include <sys/mman.h>

#define CHUNK_BYTES (1u << 20)
static char *chunk;
static size_t left;
struct free_part {
	free_part *next;
};
static free_part *parts;

__attribute__((noinline)) static void refill()
{
#ifdef MAPS
	void *fresh = mmap(nullptr, CHUNK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#else
	void *fresh = malloc(CHUNK_BYTES);
#endif
	if (!fresh)
		throw std::bad_alloc();
	chunk = static_cast<char *>(fresh);
	left = CHUNK_BYTES;
}

__attribute__((noinline)) static void *take(size_t size)
{
	if (parts && size == BLOCK_BYTES) {
		void *block = parts;

		parts = parts->next;
		return block;
	}
	size = (size + 15) / 16 * 16;
	if (size > left)
		refill();
	left -= size;
	return chunk + left;
}

#ifdef ALIGNED
void *operator new(size_t size, std::align_val_t)
{
	return take(size);
}
#endif

void *operator new(size_t size)
{
#ifdef ALIGNED
	return malloc(size);
#else
	return take(size);
#endif
}

void operator delete(void *block) noexcept
{
#ifdef ALIGNED
	free(block);
#else
	auto *part = static_cast<free_part *>(block);

	part->next = parts;
	parts = part;
#endif
}

static bool is_right(void *block)
{
	return reinterpret_cast<uintptr_t>(block) % 16 == 0;
}
#elif defined(WRAPPER)
// A wrapper that counts and tries again, by functions of its own.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t count;

__attribute__((noinline)) static void *try_it(size_t size)
{
	void *block = malloc(size ? size : 1);

	pthread_mutex_lock(&lock);
	count += block != nullptr;
	pthread_mutex_unlock(&lock);
	return block;
}

#ifdef LIMITED
static char nothing[16];
#endif

void *operator new(size_t size)
{
	void *block;

	if (size > PTRDIFF_MAX)
		abort();
#ifdef LIMITED
	if (size == 0)
		return nothing;
	if (size > 1u << 30)
		return nullptr;
#endif
	while (!(block = try_it(size))) {
		std::new_handler handler = std::get_new_handler();

		if (!handler)
			throw std::bad_alloc();
		handler();
	}
	return block;
}

void operator delete(void *block) noexcept
{
#ifdef LIMITED
	if (block == nothing)
		return;
#endif
	free(block);
}

static bool is_right(void *block)
{
	return reinterpret_cast<uintptr_t>(block) % 16 == 0;
}
#elif defined(PLAIN)
// The C++ library's own.
static bool is_right(void *block)
{
	return reinterpret_cast<uintptr_t>(block) % 16 == 0;
}
#else
struct header {
	uint64_t magic, size;
};

void *operator new(size_t size)
{
	auto *header = static_cast<struct header *>(malloc(size + sizeof(struct header)));

	if (!header)
		throw std::bad_alloc();
	*header = {MAGIC, size};
	return header + 1;
}

static bool is_right(void *block)
{
	return (static_cast<header *>(block) - 1)->magic == MAGIC;
}

void operator delete(void *block) noexcept
{
	if (!block)
		return;
	if (!is_right(block))
		abort();
	free(static_cast<header *>(block) - 1);
}
#endif

#ifndef LIBRARY
static int keep(int count)
{
	int wrong = 0;

	for (int i = 0; i < count; i++) {
		last = operator new(BLOCK_BYTES);
		wrong += !is_right(last);
		last = malloc(16); // moves the arena on
		free(last);
		last = operator new(BLOCK_BYTES);
		wrong += !is_right(last);
		operator delete(last);
	}
	return wrong;
}

int main()
{
	char command[TARGET_COMMAND_MAX];
	int count;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %d", &count) != 1)
			return 1;
		target_say("%d are wrong\n", keep(count));
	}
}
#endif
