/* SPDX-License-Identifier: MIT */
/*
 * Pools of apr with a child: fill, clear, destroy. apr keeps no statistics, so each answer is what
 * the program has asked for that is still there: bytes and blocks.
 */
#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>

#include "../target.h"

#define BLOCKS 500

struct asked {
	size_t bytes, blocks;
};

static apr_pool_t *parent, *child;
static struct asked in_parent, in_child;

static void count(struct asked *asked, size_t bytes)
{
	asked->bytes += bytes;
	asked->blocks++;
}

static void fill(apr_pool_t *pool, struct asked *asked)
{
	for (unsigned i = 1; i <= BLOCKS; i++) {
		(void)!apr_palloc(pool, 3 * i);
		count(asked, 3 * i);
		(void)!apr_pcalloc(pool, 40 * i);
		count(asked, 40 * i);
		(void)!apr_pstrdup(pool, "fourteen bytes");
		count(asked, sizeof("fourteen bytes"));
	}
}

int main(void)
{
	static const struct asked none;
	char command[TARGET_COMMAND_MAX];

	apr_initialize();
	apr_pool_create(&parent, NULL);
	apr_pool_create(&child, parent);
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "fill")) {
			fill(parent, &in_parent);
			fill(child, &in_child);
		} else if (!strcmp(command, "clear")) {
			apr_pool_clear(child);
			in_child = none;
		} else if (!strcmp(command, "destroy")) {
			apr_pool_destroy(parent); /* and its child */
			in_parent = in_child = none;
		}
		target_say("%zu %zu\n", in_parent.bytes + in_child.bytes,
			   in_parent.blocks + in_child.blocks);
	}
	return 0;
}
