/* SPDX-License-Identifier: MIT */
/* leaked.c - see leaked.h: the blocks. The report is leaked_print.c. */
#include "leaked.h"

#include <errno.h>
#include <stdlib.h>

#include "hi_block.h"

static uint32_t stack_of(const struct profile *profile, const struct live_block *block)
{
	return profile->row[profile->breakdown.part[block->part].row].key.stack;
}

static uint64_t caller_of(const struct profile *profile, const struct live_block *block)
{
	const struct profile_stack *stack = &profile->stack[stack_of(profile, block)];

	return stack->frame_count ? profile->frame[stack->frame[0]].address : 0;
}

int leaked_write_blocks(const struct profile *profile, const struct live *live, FILE *out)
{
	const struct live_block *from;

	for (size_t at = 0; (from = live_next(live, &at));) {
		const struct hi_block block = {from->address, from->bytes,
					       caller_of(profile, from)};

		if (fwrite(&block, sizeof(block), 1, out) != 1)
			return errno ? -errno : -EIO;
	}
	return 0;
}

static int add(struct leaked *leaked, const struct leaked_block *block)
{
	if (leaked->count == leaked->room) {
		const size_t room = leaked->room ? 2 * leaked->room : 256;
		struct leaked_block *grown = realloc(leaked->block, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		leaked->block = grown;
		leaked->room = room;
	}
	leaked->block[leaked->count++] = *block;
	return 0;
}

int leaked_add(struct leaked *leaked, const struct profile *profile, const struct live *live,
	       const struct hi_stream_leaked *record)
{
	const struct hi_stream_leaked_block *list = (const void *)(record + 1);
	int err = 0;

	leaked->is_known = true;
	for (uint32_t i = 0; i < record->count && !err; i++) {
		const struct live_block *block = live_find(live, list[i].address);
		const struct live_block *leader = live_find(live, list[i].leader);

		if (block)
			err = add(leaked,
				  &(struct leaked_block){
					  .bytes = block->bytes,
					  .stack = stack_of(profile, block),
					  .leader = stack_of(profile, leader ? leader : block),
					  .is_direct = list[i].is_direct != 0});
	}
	return err;
}

void leaked_close(struct leaked *leaked)
{
	free(leaked->block);
	*leaked = (struct leaked){0};
}
