/* SPDX-License-Identifier: MIT */
/*
 * copies FILE [marked] - while heapinject is attached the GOT leads to its gate, and what a program
 * copies from there it may keep where nobody turns it back. Here that is a file, mapped shared:
 * each session leaves a set of operations in it that lead to the gate. All threads allocate through
 * the newest as fast as they can, and now and then through those of earlier sessions, whose gates
 * are pages of plain jumps by then; so at any instant of a detach some stand in the midst of a gate
 * entry.
 *
 * In FILE stands first, in eight bytes, how many sets were taken. The first of them are the
 * originals, from before anybody attached. `marked`: the sets are in private memory instead, with a
 * bit in each address that is taken out before it is called.
 */
#include "selfcheck.h"

#include <fcntl.h>
#include <sys/mman.h>

#define WORKERS 4
#define SETS 512 /* of the last sessions */
#define BLOCKS 16
#define PASSES 200 /* between two looks at blocks that live for longer */

struct operations {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void (*free)(void *);
};

struct kept {
	unsigned long taken;
	struct operations set[SETS];
};

#define MARK 2ul

static struct kept *file;
static struct operations *sets;
static unsigned long mark;
static struct operations originals;

/*
 * The compiler must not know whose addresses these are, or it calls the functions themselves; nor
 * keep them from one time to the next.
 */
__attribute__((noinline)) static struct operations read_slots(void)
{
	struct operations now = {malloc, calloc, realloc, aligned_alloc, posix_memalign, free};

	__asm__ volatile("" : "+m"(now));
	return now;
}

/* The bit put in, or taken out. */
static struct operations remark(const struct operations *operations)
{
	unsigned long word[sizeof(*operations) / sizeof(unsigned long)];
	struct operations remarked;

	memcpy(word, operations, sizeof(word));
	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
		word[i] ^= mark;
	memcpy(&remarked, word, sizeof(word));
	return remarked;
}

static bool have_all_changed(const struct operations *now, const struct operations *before)
{
	return now->malloc != before->malloc && now->calloc != before->calloc &&
	       now->realloc != before->realloc && now->free != before->free &&
	       now->aligned_alloc != before->aligned_alloc &&
	       now->posix_memalign != before->posix_memalign;
}

/* Others may be calling through the set that goes for it, of a session long ago. */
static void store(const struct operations *now, struct operations *set)
{
	__atomic_store_n(&set->malloc, now->malloc, __ATOMIC_RELAXED);
	__atomic_store_n(&set->calloc, now->calloc, __ATOMIC_RELAXED);
	__atomic_store_n(&set->realloc, now->realloc, __ATOMIC_RELAXED);
	__atomic_store_n(&set->aligned_alloc, now->aligned_alloc, __ATOMIC_RELAXED);
	__atomic_store_n(&set->posix_memalign, now->posix_memalign, __ATOMIC_RELAXED);
	__atomic_store_n(&set->free, now->free, __ATOMIC_RELAXED);
}

/* Once in each session, as soon as all slots lead to its gate. By one thread only. */
static void take(void)
{
	const struct operations now = read_slots(), marked = remark(&now);
	const unsigned long taken = file->taken;

	if (!have_all_changed(&now, &originals) ||
	    !have_all_changed(&marked, &sets[(taken - 1) % SETS]))
		return;
	store(&marked, &sets[taken % SETS]);
	__atomic_store_n(&file->taken, taken + 1, __ATOMIC_RELEASE);
}

static struct operations newest(void)
{
	return remark(&sets[(__atomic_load_n(&file->taken, __ATOMIC_ACQUIRE) - 1) % SETS]);
}

static struct operations any(struct self_worker *worker)
{
	const unsigned long taken = __atomic_load_n(&file->taken, __ATOMIC_ACQUIRE);

	return remark(&sets[self_random(worker) % (taken < SETS ? taken : SETS)]);
}

/* As fast as can be: little is done but to come through the gate. */
static void pass(struct self_worker *worker, const struct operations *by)
{
	for (unsigned long i = 0; i < PASSES; i++) {
		const unsigned long tag = (uintptr_t)worker + i;
		unsigned long *block = by->malloc(16 + i % 32 * 8);

		*block = tag;
		block = by->realloc(block, 16 + i % 16 * 16);
		if (*block != tag)
			self_wrong("block %p: %lx, not %lx", (void *)block, *block, tag);
		by->free(block);
	}
}

static void *allocate(struct self_worker *worker, const struct operations *by, size_t size)
{
	void *at = NULL;

	switch (self_random(worker) % 4) {
	case 0:
		at = by->calloc(3, size / 3 + 1);
		for (size_t i = 0; at && i < size; i++)
			SELF_CHECK(((unsigned char *)at)[i] == 0);
		return at;
	case 1:
		at = by->aligned_alloc(64, (size + 63) / 64 * 64);
		SELF_CHECK((uintptr_t)at % 64 == 0);
		return at;
	case 2:
		SELF_CHECK(by->posix_memalign(&at, 256, size) == 0 && (uintptr_t)at % 256 == 0);
		return at;
	default:
		return by->malloc(size);
	}
}

static void resize(struct self_worker *worker, const struct operations *by,
		   struct self_block *block, size_t size)
{
	unsigned char *at = by->realloc(block->at, size);
	const struct self_block moved = {at, size, block->tag};

	if (!at) {
		self_wrong("realloc to %zu bytes failed", size);
		return;
	}
	self_check_range(&moved, 0, self_head(size < block->size ? size : block->size));
	self_block_take(worker, block, at, size);
}

static void replace(struct self_worker *worker, const struct operations *by,
		    struct self_block *block)
{
	const size_t size = 1 + self_random(worker) % 4000;

	if (block->at)
		self_block_check(block);
	if (block->at && self_random(worker) % 2) {
		resize(worker, by, block, size);
		return;
	}
	by->free(block->at);
	self_block_take(worker, block, allocate(worker, by, size), size);
}

static void *work(void *first)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	while (!self_is_stopping()) {
		if (first)
			take();
		struct operations by = newest();

		pass(worker, &by);
		replace(worker, &by, &blocks[self_random(worker) % BLOCKS]);
		by = any(worker);
		replace(worker, &by, &blocks[self_random(worker) % BLOCKS]);
		self_step(worker);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at)
			self_block_check(&blocks[i]);
	for (int i = 0; i < BLOCKS; i++)
		any(worker).free(blocks[i].at);
	return NULL;
}

static int say_taken(char *into, size_t room)
{
	return snprintf(into, room, " taken=%lu", __atomic_load_n(&file->taken, __ATOMIC_RELAXED));
}

int main(int argc, char **argv)
{
	const int descriptor =
		argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	pthread_t thread[WORKERS];

	if (descriptor < 0 || ftruncate(descriptor, sizeof(*file)))
		return 2;
	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	if (file == MAP_FAILED)
		return 2;
	originals = read_slots();
	sets = file->set;
	if (argc > 2) {
		sets = mmap(NULL, sizeof(file->set), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mark = MARK;
	}
	if (sets == MAP_FAILED)
		return 2;
	sets[0] = remark(&originals);
	file->taken = 1;
	self.figures = say_taken;
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&thread[i], NULL, work, i == 0 ? file : NULL))
			return 2;
	self_ready();
	while (self_serve(-1))
		;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	return self_end();
}
