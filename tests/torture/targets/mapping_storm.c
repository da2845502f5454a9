/* SPDX-License-Identifier: MIT */
/*
 * mapping_storm THREADS - threads that do nothing but map, unmap parts, move, replace, and check
 * what they hold; calls that must fail; and threads that come and go with their stacks.
 */
#define _GNU_SOURCE
#include "selfcheck.h"

#include <sys/mman.h>

#define MAPPINGS 16
#define PAGE ((size_t)4096)
#define PAGES_MAX 64
#define MORE_THAN_THERE_IS ((size_t)1 << 46)
#define ACCESS (PROT_READ | PROT_WRITE)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static size_t random_bytes(struct self_worker *worker)
{
	return PAGE * (1 + self_random(worker) % PAGES_MAX);
}

static void *checked(void *at)
{
	if (at == MAP_FAILED)
		self_wrong("a mapping failed, errno %d", errno);
	return at == MAP_FAILED ? NULL : at;
}

static void take(struct self_worker *worker, struct self_block *block)
{
	const size_t bytes = random_bytes(worker);

	self_block_take(worker, block, checked(mmap(NULL, bytes, ACCESS, ANONYMOUS, -1, 0)), bytes);
}

static void give_back(struct self_block *block)
{
	self_block_check(block);
	SELF_CHECK(munmap(block->at, block->size) == 0);
	block->at = NULL;
}

/* Unmaps its end, but for a page at least. */
static void cut(struct self_block *block)
{
	const size_t kept = (block->size / 2 + PAGE - 1) / PAGE * PAGE;

	self_block_check(block);
	if (kept < block->size)
		SELF_CHECK(munmap(block->at + kept, block->size - kept) == 0);
	block->size = kept;
	self_fill_range(block, kept - self_head(kept), kept);
}

static void move(struct self_worker *worker, struct self_block *block)
{
	const size_t bytes = random_bytes(worker), kept = bytes < block->size ? bytes : block->size;
	void *at;

	self_block_check(block);
	at = checked(mremap(block->at, block->size, bytes, MREMAP_MAYMOVE));
	if (!at)
		return;
	const struct self_block moved = {at, bytes, block->tag};

	self_check_range(&moved, 0, self_head(kept));
	self_block_take(worker, block, at, bytes);
}

/* A new mapping in its place is empty. */
static void replace(struct self_worker *worker, struct self_block *block)
{
	unsigned char *at;

	self_block_check(block);
	at = checked(mmap(block->at, block->size, ACCESS, ANONYMOUS | MAP_FIXED, -1, 0));
	if (at != block->at)
		self_wrong("MAP_FIXED at %p gave %p", (void *)block->at, (void *)at);
	else if (at[0] || at[block->size - 1])
		self_wrong("a new mapping is not empty");
	self_block_take(worker, block, block->at, block->size);
}

/* Calls that must fail do, and change nothing. */
static void fail(const struct self_block *block)
{
	errno = 0;
	SELF_CHECK(mmap(NULL, 4 * MORE_THAN_THERE_IS, ACCESS, ANONYMOUS, -1, 0) == MAP_FAILED &&
		   errno == ENOMEM);
	errno = 0;
	SELF_CHECK(mremap(block->at, block->size, MORE_THAN_THERE_IS, 0) == MAP_FAILED &&
		   errno == ENOMEM);
	errno = 0;
	SELF_CHECK(munmap(block->at + 1, block->size) == -1 && errno == EINVAL);
	errno = 0;
	SELF_CHECK(mmap(NULL, 0, ACCESS, ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
	self_block_check(block);
}

static void *errand(void *worker)
{
	struct self_block block;

	take(worker, &block);
	give_back(&block);
	return NULL;
}

static void run_thread(struct self_worker *worker)
{
	struct self_worker copy = *worker;
	pthread_t thread;
	const int err = pthread_create(&thread, NULL, errand, &copy);

	if (err)
		self_wrong("pthread_create: %d", err);
	else
		pthread_join(thread, NULL);
}

static void change(struct self_worker *worker, struct self_block *block)
{
	switch (self_random(worker) % 16) {
	case 0:
	case 1:
	case 2:
		cut(block);
		break;
	case 3:
	case 4:
	case 5:
		move(worker, block);
		break;
	case 6:
	case 7:
		replace(worker, block);
		break;
	case 8:
		fail(block);
		break;
	case 9:
		if (self_random(worker) % 8 == 0)
			run_thread(worker);
		break;
	default:
		give_back(block);
	}
}

/* errno belongs to the program: a call that succeeds leaves it alone. */
static void *storm(void *unused)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[MAPPINGS] = {{0}};

	while (!self_is_stopping()) {
		struct self_block *block = &blocks[self_random(worker) % MAPPINGS];

		errno = EBADE;
		if (block->at)
			change(worker, block);
		else
			take(worker, block);
		if (errno != EBADE && errno != EINVAL)
			self_wrong("errno became %d", errno);
		self_step(worker);
	}
	for (size_t i = 0; i < MAPPINGS; i++)
		if (blocks[i].at)
			give_back(&blocks[i]);
	return unused;
}

int main(int argc, char **argv)
{
	return self_run(argc > 1 ? (unsigned)atoi(argv[1]) : 1, storm, NULL);
}
