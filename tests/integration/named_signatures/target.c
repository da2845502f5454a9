/* SPDX-License-Identifier: MIT */
/* A pool of its own, whose functions have arguments of several types. */
#include "../target.h"

struct pool {
	size_t used;
};

__attribute__((noinline)) void *pool_get(struct pool *pool, size_t size)
{
	pool->used += size;
	return malloc(size);
}

__attribute__((noinline)) void *pool_array(struct pool *pool, unsigned count, int size)
{
	pool->used += (size_t)size * count;
	return calloc(count, (size_t)size);
}

__attribute__((noinline)) int pool_store(void **where, size_t size)
{
	*where = malloc(size);
	return *where != NULL;
}

__attribute__((noinline)) void *pool_share(double share, size_t size)
{
	return malloc((size_t)(share * (double)size));
}

__attribute__((noinline)) void pool_put(struct pool *pool, void *block)
{
	pool->used--;
	free(block);
}

int main(void)
{
	struct pool pool = {0};
	char command[TARGET_COMMAND_MAX];
	void *block;

	target_say("ready\n");
	while (target_read(command)) {
		pool_put(&pool, pool_get(&pool, 100));
		pool_put(&pool, pool_array(&pool, 3, 10));
		pool_put(&pool, pool_share(0.5, 20));
		if (pool_store(&block, 40))
			pool_put(&pool, block);
		target_say("right\n");
	}
	return 0;
}
