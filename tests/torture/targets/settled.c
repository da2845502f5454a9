/* SPDX-License-Identifier: MIT */
/*
 * settled [maps] - a program that has all it needs: it allocates and frees for ever within a heap
 * that it has from the start, asks the kernel for nothing more, and so can live under limits that
 * leave no room at all. With `maps` it uses up all mappings that vm.max_map_count allows it.
 */
#include "selfcheck.h"

#include <malloc.h>
#include <sys/mman.h>

#define BLOCKS 256
#define HEAP_BYTES (1 << 20)
#define BLOCK_BYTES 2000
#define PAGE 4096

/*
 * The heap is brought to its full size once, and is neither given back nor left for mappings from
 * then on.
 */
static void settle(void)
{
	SELF_CHECK(mallopt(M_MMAP_MAX, 0) && mallopt(M_TRIM_THRESHOLD, 1 << 30) &&
		   mallopt(M_ARENA_MAX, 1));
	void *heap = malloc(HEAP_BYTES);
	SELF_CHECK(heap != NULL);
	memset(heap, 1, HEAP_BYTES);
	free(heap);
}

/* Neighbours of different protection, which the kernel cannot merge. */
static void use_up_mappings(void)
{
	int protection = PROT_NONE;

	while (mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		protection ^= PROT_READ;
	SELF_CHECK(errno == ENOMEM);
}

int main(int argc, char **argv)
{
	struct self_worker *worker = self_worker_new();
	struct self_block blocks[BLOCKS] = {{0}};

	settle();
	self_ready();
	if (argc > 1 && strcmp(argv[1], "maps") == 0)
		use_up_mappings();
	while (self_serve(0)) {
		struct self_block *block = &blocks[self_random(worker) % BLOCKS];

		self_block_renew(worker, block, 1 + self_random(worker) % BLOCK_BYTES);
		self_step(worker);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		self_block_free(&blocks[i]);
	return self_end();
}
