/* SPDX-License-Identifier: MIT */
/*
 * malloc_storm THREADS [KIND] - threads that do nothing but allocate, move, check and free; the
 * main thread is one of them. KIND: malloc (default, with some of the others), plain (malloc,
 * realloc and free only), aligned (posix_memalign, aligned_alloc, memalign, valloc), realloc (grows
 * and shrinks by every route, with sizes that must fail in between). With one thread there is no
 * monitor: in a process of one thread glibc takes no locks, and that is the case to be tested.
 */
#include "selfcheck.h"

#include <malloc.h>

/* Archives of allocators mostly lack it, and libc's belongs to another allocator. */
#ifdef LINKED_ALLOCATOR
#define reallocarray(block, count, size) realloc(block, (count) * (size))
#endif

#define BLOCKS 128
#define REPLACED_PER_ROUND 16

typedef void replace_function(struct self_worker *, struct self_block *);

static size_t random_size(struct self_worker *worker)
{
	return 1 + self_random(worker) % (self_random(worker) % 64 ? 2000 : 200000);
}

static void *zeroed(size_t size)
{
	unsigned char *at = calloc(1, size);

	for (size_t i = 0; at && i < size; i++)
		if (at[i])
			self_wrong("calloc: byte %zu of %zu is %02x", i, size, at[i]);
	return at;
}

static void *aligned(struct self_worker *worker, size_t size)
{
	const size_t alignment = (size_t)16 << self_random(worker) % 9;
	void *at = NULL;

	switch (self_random(worker) % 4) {
	case 0:
		SELF_CHECK(posix_memalign(&at, alignment, size) == 0);
		break;
	case 1:
		at = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
		break;
	case 2:
		at = memalign(alignment, size);
		break;
	default:
		at = valloc(size);
		SELF_CHECK((uintptr_t)at % 4096 == 0);
		return at;
	}
	if ((uintptr_t)at % alignment)
		self_wrong("%p is not aligned to %zu", at, alignment);
	return at;
}

static void *any(struct self_worker *worker, size_t size)
{
	switch (self_random(worker) % 8) {
	case 0:
		return zeroed(size);
	case 1:
		return aligned(worker, size);
	default:
		return malloc(size);
	}
}

/* The block moves; what it holds must move with it. */
static void move(struct self_worker *worker, struct self_block *block, size_t size)
{
	unsigned char *at = self_random(worker) % 4 ? realloc(block->at, size)
						    : reallocarray(block->at, 1, size);
	const struct self_block moved = {at, size, block->tag};

	if (!at) {
		self_wrong("realloc to %zu bytes failed", size);
		return;
	}
	self_check_range(&moved, 0, self_head(size < block->size ? size : block->size));
	if (size >= block->size)
		self_check_range(&moved, block->size - self_head(block->size), block->size);
	self_block_take(worker, block, at, size);
}

/* One block in eight; false: it is still to be replaced. */
static bool move_some(struct self_worker *worker, struct self_block *block, size_t size)
{
	if (!block->at || self_random(worker) % 8 != 0)
		return false;
	self_block_check(block);
	move(worker, block, size);
	return true;
}

static void replace_any(struct self_worker *worker, struct self_block *block)
{
	const size_t size = random_size(worker);

	if (move_some(worker, block, size))
		return;
	self_block_free(block);
	self_block_take(worker, block, any(worker, size), size);
}

static void replace_plainly(struct self_worker *worker, struct self_block *block)
{
	const size_t size = random_size(worker);

	if (!move_some(worker, block, size))
		self_block_renew(worker, block, size);
}

static void replace_aligned(struct self_worker *worker, struct self_block *block)
{
	const size_t size = random_size(worker);

	self_block_free(block);
	self_block_take(worker, block, aligned(worker, size), size);
}

/* A request that cannot be met must leave the block alone. */
static void fail_to_move(const struct self_block *block)
{
	/* volatile: or the compiler warns of it */
	const volatile size_t huge = (size_t)PTRDIFF_MAX - 100;

	errno = 0;
	SELF_CHECK(realloc(block->at, huge) == NULL && errno == ENOMEM);
	SELF_CHECK(reallocarray(block->at, huge, 3) == NULL && errno == ENOMEM);
	/* volatile: calls whose result nobody needs are left out */
	void *volatile none = malloc(huge);
	SELF_CHECK(none == NULL && errno == ENOMEM);
	none = calloc(huge, 2);
	SELF_CHECK(none == NULL && errno == ENOMEM);
	self_block_check(block);
}

static void replace_by_realloc(struct self_worker *worker, struct self_block *block)
{
	self_block_check(block);
	switch (self_random(worker) % 16) {
	case 0:
		if (block->at && realloc(block->at, 0) != NULL)
			self_wrong("realloc(p, 0) returned a block");
		self_block_take(worker, block, realloc(NULL, 100), 100);
		return;
	case 1:
		if (block->at)
			fail_to_move(block);
		return;
	default:
		if (block->at)
			move(worker, block, random_size(worker));
		else
			self_block_take(worker, block, any(worker, 50), 50);
	}
}

static replace_function *const kinds[] = {replace_any, replace_plainly, replace_aligned,
					  replace_by_realloc};
static const char *const kind_names[] = {"malloc", "plain", "aligned", "realloc"};
static replace_function *replace = replace_any;

/*
 * errno belongs to the program: a call that succeeds leaves it alone, and so must we. glibc's free
 * keeps it, its malloc too unless it fails.
 */
static void storm_round(struct self_worker *worker, struct self_block *blocks)
{
	for (int i = 0; i < REPLACED_PER_ROUND; i++) {
		struct self_block *block = &blocks[self_random(worker) % BLOCKS];

		errno = EBADE;
		replace(worker, block);
		if (errno != EBADE && replace != replace_by_realloc)
			self_wrong("errno became %d", errno);
	}
	self_step(worker);
}

static void storm_while(bool (*goes_on)(void))
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	while (goes_on())
		storm_round(worker, blocks);
	for (size_t i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
}

static bool is_going_on(void)
{
	return !self_is_stopping();
}

static bool serve(void)
{
	return self_serve(0);
}

static void *storm(void *unused)
{
	storm_while(is_going_on);
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[SELF_WORKERS_MAX];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc > 2 && strcmp(argv[2], kind_names[i]) == 0)
			replace = kinds[i];
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, storm, NULL))
			return 2;
	if (threads == 1)
		setenv("SELFCHECK_MONITOR", "0", 1);
	self_ready();
	storm_while(serve);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	return self_end();
}
