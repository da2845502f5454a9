/* SPDX-License-Identifier: MIT */
/*
 * allocator_calls.c - calls each function of the allocator that it runs with through a moved first
 * instruction, and checks what the function does. moved_allocators_test.c builds it, for each C
 * library and for each way to link an allocator, and moves the instructions. Exit status 0: all did
 * what they should.
 */
#include "allocator_calls.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	PAGE = 4096,
	ALIGNMENT = 64,
	BLOCKS = 4,
	ROUNDS_MAX = 2000, /* until a freed block comes again: some allocators keep 10 MB of them */
	CYCLE_BYTES = 1 << 16,
	PLACES = 4,
};
#define FAR 0x78000000ll

/* What the arguments are. n: a std::nothrow_t, or nothing */
enum kind {
	ALLOC,              /* size, n */
	ALLOC_FLAGS,        /* size, flags */
	ALLOC_COUNT,        /* count, size */
	ALLOC_ZERO,         /* the same, and cleared */
	ALLOC_BOTH,         /* size, alignment, n */
	ALIGNED,            /* alignment, size */
	POSIX,              /* &block, alignment, size */
	REALLOC,            /* block, size, flags */
	REALLOC_ARRAY,      /* block, count, size */
	IN_PLACE,           /* block, size, extra, flags: the real size */
	USABLE,             /* block, flags: the real size */
	GOOD,               /* size, flags: the real size */
	FREE,               /* block, n */
	FREE_FLAGS,         /* block, flags */
	FREE_SIZED,         /* block, size, flags */
	FREE_ALIGNED,       /* block, alignment, n */
	FREE_SIZED_ALIGNED, /* block, size, alignment */
	FREE_ALIGNED_SIZED, /* block, alignment, size */
};

/* name, kind, and the function that frees its blocks, or that makes the blocks for it */
#define NEW(new, delete)                                                                \
	F("_Zn" new "m", ALLOC, "_Zd" delete "Pv")                                      \
	F("_Zn" new "mRKSt9nothrow_t", ALLOC, "_Zd" delete "Pv")                        \
	F("_Zn" new "mSt11align_val_t", ALLOC_BOTH, "_Zd" delete "PvSt11align_val_t")   \
	F("_Zn" new "mSt11align_val_tRKSt9nothrow_t", ALLOC_BOTH,                       \
	  "_Zd" delete "PvSt11align_val_t")                                             \
	F("_Zd" delete "Pv", FREE, "_Zn" new "m")                                       \
	F("_Zd" delete "PvRKSt9nothrow_t", FREE, "_Zn" new "m")                         \
	F("_Zd" delete "Pvm", FREE_SIZED, "_Zn" new "m")                                \
	F("_Zd" delete "PvSt11align_val_t", FREE_ALIGNED, "_Zn" new "mSt11align_val_t") \
	F("_Zd" delete "PvSt11align_val_tRKSt9nothrow_t", FREE_ALIGNED,                 \
	  "_Zn" new "mSt11align_val_t")                                                 \
	F("_Zd" delete "PvmSt11align_val_t", FREE_SIZED_ALIGNED, "_Zn" new "mSt11align_val_t")
#define TC_NEW(new, delete)                                                    \
	F("tc_" new, ALLOC, "tc_" delete)                                      \
	F("tc_" new "_nothrow", ALLOC, "tc_" delete)                           \
	F("tc_" new "_aligned", ALLOC_BOTH, "tc_" delete "_aligned")           \
	F("tc_" new "_aligned_nothrow", ALLOC_BOTH, "tc_" delete "_aligned")   \
	F("tc_" delete, FREE, "tc_" new)                                       \
	F("tc_" delete "_nothrow", FREE, "tc_" new)                            \
	F("tc_" delete "_sized", FREE_SIZED, "tc_" new)                        \
	F("tc_" delete "_aligned", FREE_ALIGNED, "tc_" new "_aligned")         \
	F("tc_" delete "_aligned_nothrow", FREE_ALIGNED, "tc_" new "_aligned") \
	F("tc_" delete "_sized_aligned", FREE_SIZED_ALIGNED, "tc_" new "_aligned")
#define C(prefix)                                                             \
	F(prefix "malloc", ALLOC, prefix "free")                              \
	F(prefix "calloc", ALLOC_ZERO, prefix "free")                         \
	F(prefix "realloc", REALLOC, prefix "malloc")                         \
	F(prefix "reallocarray", REALLOC_ARRAY, prefix "malloc")              \
	F(prefix "memalign", ALIGNED, prefix "free")                          \
	F(prefix "posix_memalign", POSIX, prefix "free")                      \
	F(prefix "aligned_alloc", ALIGNED, prefix "free")                     \
	F(prefix "valloc", ALLOC, prefix "free")                              \
	F(prefix "pvalloc", ALLOC, prefix "free")                             \
	F(prefix "free", FREE, prefix "malloc")                               \
	F(prefix "cfree", FREE, prefix "malloc")                              \
	F(prefix "free_sized", FREE_SIZED, prefix "malloc")                   \
	F(prefix "free_aligned_sized", FREE_ALIGNED_SIZED, prefix "memalign") \
	F(prefix "malloc_usable_size", USABLE, prefix "malloc")               \
	F(prefix "malloc_size", USABLE, prefix "malloc")                      \
	F(prefix "nallocx", GOOD, prefix "malloc")
#define FUNCTIONS                                                          \
	C("")                                                              \
	NEW("w", "l")                                                      \
	NEW("a", "a")                                                      \
	F("mallocx", ALLOC_FLAGS, "free")                                  \
	F("rallocx", REALLOC, "malloc")                                    \
	F("xallocx", IN_PLACE, "malloc")                                   \
	F("sallocx", USABLE, "malloc")                                     \
	F("dallocx", FREE_FLAGS, "malloc")                                 \
	F("sdallocx", FREE_SIZED, "malloc")                                \
	C("__libc_")                                                       \
	F("reallocf", REALLOC, "malloc")                                   \
	F("vfree", FREE, "malloc")                                         \
	C("tc_")                                                           \
	TC_NEW("new", "delete")                                            \
	TC_NEW("newarray", "deletearray")                                  \
	C("mi_")                                                           \
	F("mi_zalloc", ALLOC, "mi_free")                                   \
	F("mi_mallocn", ALLOC_COUNT, "mi_free")                            \
	F("mi_malloc_aligned", ALLOC_BOTH, "mi_free")                      \
	F("mi_zalloc_aligned", ALLOC_BOTH, "mi_free")                      \
	F("mi_new", ALLOC, "mi_free")                                      \
	F("mi_new_nothrow", ALLOC, "mi_free")                              \
	F("mi_new_aligned", ALLOC_BOTH, "mi_free")                         \
	F("mi_new_aligned_nothrow", ALLOC_BOTH, "mi_free")                 \
	F("mi_new_realloc", REALLOC, "mi_malloc")                          \
	F("mi_reallocf", REALLOC, "mi_malloc")                             \
	F("mi_rezalloc", REALLOC, "mi_zalloc")                             \
	F("mi_reallocn", REALLOC_ARRAY, "mi_malloc")                       \
	F("mi_recalloc", REALLOC_ARRAY, "mi_zalloc")                       \
	F("mi_free_size", FREE_SIZED, "mi_malloc")                         \
	F("mi_free_aligned", FREE_ALIGNED, "mi_malloc_aligned")            \
	F("mi_free_size_aligned", FREE_SIZED_ALIGNED, "mi_malloc_aligned") \
	F("mi_usable_size", USABLE, "mi_malloc")                           \
	F("mi_good_size", GOOD, "mi_malloc")

/* All of them take at most four words and return one. */
typedef uintptr_t call(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const struct function {
	const char *name;
	enum kind kind;
	const char *partner;
} functions[] = {
#define F(name, kind, partner) {name, kind, partner},
	FUNCTIONS
#undef F
};
enum { FUNCTIONS_COUNT = sizeof(functions) / sizeof(*functions) };

static const struct function *current;

#define CHECK(expression)                                                             \
	do {                                                                          \
		if (!(expression)) {                                                  \
			fprintf(stderr, "%s, line %d: %s\n", current->name, __LINE__, \
				#expression);                                         \
			_exit(1);                                                     \
		}                                                                     \
	} while (0)

static call *find(const char *name)
{
#ifdef FULLY_STATIC
	/* libc.a has no others, and dlsym finds nothing. */
	static const struct {
		const char *name;
		void *function;
	} here[] = {{"malloc", malloc},
		    {"calloc", calloc},
		    {"realloc", realloc},
		    {"reallocarray", reallocarray},
		    {"free", free},
		    {"posix_memalign", posix_memalign},
		    {"aligned_alloc", aligned_alloc},
		    {"memalign", memalign},
		    {"valloc", valloc},
		    {"malloc_usable_size", malloc_usable_size}};

	for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++)
		if (strcmp(here[i].name, name) == 0)
			return (call *)(uintptr_t)here[i].function;
	return NULL;
#else
	return (call *)(uintptr_t)dlsym(RTLD_DEFAULT, name);
#endif
}

/* ---- what a function has to do --------------------------------------------------------------- */

static const char nothrow;

static const struct function *partner_of(const struct function *function)
{
	for (int i = 0; i < FUNCTIONS_COUNT; i++)
		if (strcmp(functions[i].name, function->partner) == 0)
			return &functions[i];
	return NULL;
}

static void release(const struct function *function, call *by, uintptr_t block, size_t size)
{
	const uintptr_t n = (uintptr_t)&nothrow;

	switch (function->kind) {
	case FREE_FLAGS:
		by(block, 0, 0, 0);
		break;
	case FREE_SIZED:
		by(block, size, 0, 0);
		break;
	case FREE_ALIGNED:
		by(block, ALIGNMENT, n, 0);
		break;
	case FREE_SIZED_ALIGNED:
		by(block, size, ALIGNMENT, 0);
		break;
	case FREE_ALIGNED_SIZED:
		by(block, ALIGNMENT, size, 0);
		break;
	default:
		CHECK(function->kind == FREE);
		by(block, n, 0, 0);
	}
}

/* A new block of that size, checked. `from` makes the block that is enlarged. */
static uintptr_t make(const struct function *function, call *by, call *from, size_t size)
{
	const uintptr_t n = (uintptr_t)&nothrow;
	uintptr_t block = 0, alignment = 16;

	switch (function->kind) {
	case ALLOC:
		block = by(size, n, 0, 0);
		break;
	case ALLOC_FLAGS:
		block = by(size, 0, 0, 0);
		break;
	case ALLOC_COUNT:
	case ALLOC_ZERO:
		block = by(size / 8, 8, 0, 0);
		break;
	case ALLOC_BOTH:
		block = by(size, ALIGNMENT, n, 0);
		alignment = ALIGNMENT;
		break;
	case ALIGNED:
		block = by(ALIGNMENT, size, 0, 0);
		alignment = ALIGNMENT;
		break;
	case POSIX:
		CHECK((int)by((uintptr_t)&block, ALIGNMENT, size, 0) == 0);
		alignment = ALIGNMENT;
		break;
	default:
		CHECK(function->kind == REALLOC || function->kind == REALLOC_ARRAY);
		block = from(size / 2, n, 0, 0);
		CHECK(block);
		memset((void *)block, 0x5c, size / 2);
		block = function->kind == REALLOC ? by(block, size, 0, 0)
						  : by(block, size / 8, 8, 0);
		CHECK(block);
		for (size_t i = 0; i < size / 2; i++)
			CHECK(((unsigned char *)block)[i] == 0x5c);
	}
	CHECK(block && block % alignment == 0);
	for (size_t i = 0; function->kind == ALLOC_ZERO && i < size; i++)
		CHECK(((unsigned char *)block)[i] == 0);
	return block;
}

/* Blocks can be written to in full, and do not overlap. */
static void check_allocating(const struct function *function, call *by)
{
	static const size_t sizes[] = {64, 192, 4096, 300032};
	const struct function *partner = partner_of(function);
	call *other = find(partner->name);

	CHECK(other);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		unsigned char *block[BLOCKS];
		const size_t size = sizes[s];

		for (int i = 0; i < BLOCKS; i++) {
			block[i] = (unsigned char *)make(function, by, other, size);
			memset(block[i], i + 1, size);
		}
		for (int i = 0; i < BLOCKS; i++)
			for (size_t at = 0; at < size; at++)
				CHECK(block[i][at] == i + 1);
		if (function->kind == REALLOC || function->kind == REALLOC_ARRAY)
			partner = partner_of(partner);
		for (int i = 0; i < BLOCKS; i++)
			release(partner, find(partner->name), (uintptr_t)block[i], size);
		partner = partner_of(function);
	}
}

/* A block that was freed comes again. */
static void check_freeing(const struct function *function, call *by)
{
	static uintptr_t seen[ROUNDS_MAX];
	const struct function *partner = partner_of(function);
	call *from = find(partner->name);

	CHECK(from);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		seen[round] = make(partner, from, NULL, CYCLE_BYTES);
		release(function, by, seen[round], CYCLE_BYTES);
		for (int i = 0; i < round; i++)
			if (seen[i] == seen[round])
				return;
	}
	CHECK(!"no block comes again");
}

static void check_size(const struct function *function, call *by)
{
	const struct function *partner = partner_of(function);

	for (size_t size = 1; size < 300000; size = size * 3 + 5) {
		const uintptr_t block = find(partner->name)(size, 0, 0, 0);
		const uintptr_t found = function->kind == GOOD       ? by(size, 0, 0, 0)
					: function->kind == IN_PLACE ? by(block, size, 0, 0)
								     : by(block, 0, 0, 0);

		CHECK(block && found >= size && found < 2 * size + 2 * PAGE);
		release(partner_of(partner), find(partner->partner), block, size);
	}
}

static void check(const struct function *function, call *by)
{
	if (function->kind >= FREE)
		check_freeing(function, by);
	else if (function->kind >= IN_PLACE)
		check_size(function, by);
	else
		check_allocating(function, by);
}

#ifndef FULLY_STATIC
static void *object_of(const char *name)
{
	Dl_info info;

	return find(name) && dladdr((void *)(uintptr_t)find(name), &info) ? info.dli_fbase : NULL;
}
#endif

/*
 * A function of another object has to do with blocks of another allocator: glibc's pvalloc, with
 * jemalloc. Operators may come from libstdc++.
 */
static int is_of_this_allocator(const struct function *function)
{
#ifdef FULLY_STATIC
	return find(function->name) != NULL;
#else
	return object_of(function->name) &&
	       object_of(function->name) == object_of(strncmp(function->name, "_Z", 2) == 0
							      ? function->partner
							      : "malloc");
#endif
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A free page at `distance` from the function or, step by step, farther away (far: nearer). */
static void *map_place(uintptr_t function, long long distance, long long step)
{
	for (int i = 0; i < 1000; i++, distance += step) {
		const long long at = (long long)function / PAGE * PAGE + distance;
		void *page;

		if (at < PAGE * 16 || at >= 0x7ffffffff000)
			continue;
		page = mmap((void *)at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (page == (void *)at)
			return page;
		if (page != MAP_FAILED)
			munmap(page, PAGE);
	}
	return NULL;
}

static void exchange(const struct move_request *request, struct move_reply *reply)
{
	CHECK(write(STDOUT_FILENO, request, sizeof(*request)) == sizeof(*request));
	CHECK(read(STDIN_FILENO, reply, sizeof(*reply)) == sizeof(*reply));
}

static void examine(const struct function *function)
{
	static const struct {
		long long distance, step;
	} places[PLACES] = {
		{-PAGE, -16 * PAGE}, {PAGE, 16 * PAGE}, {-FAR, 1 << 20}, {FAR, -1 << 20}};
	call *original = find(function->name);
	int near = 0, far = 0;

	current = function;
	if (!is_of_this_allocator(function))
		return;
	for (int i = 0; i < PLACES; i++) {
		uint8_t *at = map_place((uintptr_t)original, places[i].distance, places[i].step);
		struct move_request request = {.pc = (uintptr_t)original,
					       .at = (uintptr_t)at + 16 * i};
		struct move_reply reply;

		if (!at)
			continue;
		strncpy(request.name, function->name, sizeof(request.name) - 1);
		memcpy(request.code, (void *)(uintptr_t)original, CODE_BYTES);
		exchange(&request, &reply);
		if (!reply.is_moved)
			return;
		memcpy(at + 16 * i, reply.exit, CODE_BYTES);
		check(function, (call *)(uintptr_t)(at + 16 * i));
		munmap(at, PAGE);
		near += i < 2;
		far += i >= 2;
	}
	CHECK(near && far);
}

int main(void)
{
	for (int i = 0; i < FUNCTIONS_COUNT; i++)
		examine(&functions[i]);
	return 0;
}
