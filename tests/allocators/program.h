/* SPDX-License-Identifier: MIT */
/*
 * program.h - what the sources of the program of the allocator table share. program.rs repeats it.
 *
 * A site is one way to get a block, in a function of its own, alloc_NAME, and one way to free it.
 * The runner defines PREFIX (of the allocator's functions; may be empty), PREFIXED (0 or 1),
 * NEW_ABORTS (0 or 1: operator new aborts where it is to throw), and HAS_NAME (0 or 1) for each
 * function that not every allocator has.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#define ALIGNMENT 64
#define UNIT 16

struct site {
	const char *name;
	void *(*allocate)(size_t size); /* never NULL */
	void (*release)(void *block, size_t size);
	size_t unit; /* sizes are multiples of it, a power of two, and no less than 32 */
	bool moves;  /* the allocator's realloc may move the block */
};

/* Of the other language. There are none if the program is C alone. */
#ifdef __cplusplus
extern "C" {
#endif
extern const struct site more_sites[] __attribute__((weak));
extern const unsigned more_site_count __attribute__((weak));
#ifdef __cplusplus
}
#endif

#define JOIN_NAMES(prefix, name) prefix##name
#define JOIN(prefix, name) JOIN_NAMES(prefix, name)
#define CALL(name) JOIN(PREFIX, name)

/* No tail call, nothing optimized away: the function that called is on the stack. */
#define KEEP_FRAME(block) __asm__ volatile("" : "+r"(block) : : "memory")

/*
 * SITE defines the two functions of a site, ROW is its row in the table. `is_here` is 0 or 1; of a
 * site that is not here nothing is left.
 */
#define SITE(is_here, ...) JOIN(SITE_, is_here)(__VA_ARGS__)
#define ROW(is_here, ...) JOIN(ROW_, is_here)(__VA_ARGS__)
#define SITE_0(...)
#define ROW_0(...)
#define SITE_1(name, unit, moves, get, give)                                           \
	__attribute__((noinline)) static void *alloc_##name(size_t size)               \
	{                                                                              \
		void *block = NULL;                                                    \
		get;                                                                   \
		KEEP_FRAME(block);                                                     \
		return block;                                                          \
	}                                                                              \
	__attribute__((noinline)) static void release_##name(void *block, size_t size) \
	{                                                                              \
		(void)size;                                                            \
		give;                                                                  \
	}
#define ROW_1(name, unit, moves, ...) {"alloc_" #name, alloc_##name, release_##name, unit, moves},

#endif
