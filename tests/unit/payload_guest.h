/* SPDX-License-Identifier: MIT */
/*
 * payload_guest.h - an application's view of an arena: the allocation functions, each through its
 * gate entry, to the real allocator.
 */
#ifndef PAYLOAD_GUEST_H
#define PAYLOAD_GUEST_H

#include <malloc.h>

#include "payload_arena.h"
#include "thread_slot.h"

/* Under AddressSanitizer its malloc is the real one, and shall fail as others do. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

typedef void *malloc_fn(size_t);
typedef void *calloc_fn(size_t, size_t);
typedef void *realloc_fn(void *, size_t);
typedef void *reallocarray_fn(void *, size_t, size_t);
typedef void free_fn(void *);
typedef int posix_memalign_fn(void **, size_t, size_t);

/*
 * What the application would reach through its slots. Function pointers that change at run time:
 * the compiler must not know them.
 */
struct guest {
	struct arena arena;
	struct hi_gate_words *malloc_words, *free_words;
	malloc_fn *malloc;
	calloc_fn *calloc;
	realloc_fn *realloc;
	reallocarray_fn *reallocarray;
	free_fn *free;
	posix_memalign_fn *posix_memalign;
	calloc_fn *aligned_alloc, *memalign;
};

static inline struct guest guest_open_in(struct arena opened)
{
	struct guest guest = {.arena = opened};
	struct arena *arena = &guest.arena;

	guest.malloc_words = arena_gate(arena, HI_FN_MALLOC, hi_gate_alloc, hi_hook_malloc, malloc);
	guest.free_words = arena_gate(arena, HI_FN_FREE, hi_gate_free, hi_hook_free, free);
	guest.malloc = (malloc_fn *)arena_entry(guest.malloc_words);
	guest.free = (free_fn *)arena_entry(guest.free_words);
	guest.calloc = (calloc_fn *)arena_entry(
		arena_gate(arena, HI_FN_CALLOC, hi_gate_size2, hi_hook_calloc, calloc));
	guest.realloc = (realloc_fn *)arena_entry(
		arena_gate(arena, HI_FN_REALLOC, hi_gate_realloc, hi_hook_realloc, realloc));
	guest.reallocarray = (reallocarray_fn *)arena_entry(arena_gate(
		arena, HI_FN_REALLOCARRAY, hi_gate_always, hi_hook_reallocarray, reallocarray));
	guest.posix_memalign = (posix_memalign_fn *)arena_entry(
		arena_gate(arena, HI_FN_POSIX_MEMALIGN, hi_gate_sizearg3, hi_hook_posix_memalign,
			   posix_memalign));
	guest.aligned_alloc =
		(calloc_fn *)arena_entry(arena_gate(arena, HI_FN_ALIGNED_ALLOC, hi_gate_sizearg2,
						    hi_hook_aligned_alloc, aligned_alloc));
	guest.memalign = (calloc_fn *)arena_entry(
		arena_gate(arena, HI_FN_MEMALIGN, hi_gate_always, hi_hook_memalign, memalign));
	return guest;
}

static inline struct guest guest_open(uint64_t interval)
{
	return guest_open_in(arena_open(interval, 10, 1 << 16));
}

static inline struct hi_gate_words *words_of(void *entry)
{
	return (struct hi_gate_words *)(void *)((uint8_t *)entry + HI_GATE_BYTES);
}

static inline void expect_alloc(struct guest *guest, const void *block, uint64_t bytes,
				enum hi_function function)
{
	const struct hi_record_alloc *record = arena_expect(&guest->arena, HI_RECORD_ALLOC);

	CHECK_EQ(record->address, (uintptr_t)block);
	CHECK_EQ(record->bytes, bytes);
	CHECK_EQ(record->function, function);
	CHECK_EQ(record->header.thread, arch_thread_pointer());
	CHECK(record->frame_count >= 1);
}

static inline void expect_free(struct guest *guest, enum hi_record_type type, const void *block)
{
	CHECK_EQ(arena_expect(&guest->arena, type)->address, (uintptr_t)block);
}

static inline void expect_nothing(struct guest *guest)
{
	CHECK_EQ(guest->arena.ring->head, guest->arena.ring->tail);
}

static inline struct hi_thread_slot *own_slot(struct guest *guest)
{
	return thread_slot_home(guest->arena.state, arch_thread_pointer());
}

/* Makes the next byte allocated by this thread the sampled one, or one that is out of reach. */
static inline void set_countdown(struct guest *guest, int64_t countdown)
{
	own_slot(guest)->countdown = countdown;
}

#endif
