/* SPDX-License-Identifier: MIT */
/* stacked_blocks.c - see stacked_blocks.h. */
#include "stacked_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "hi_block.h"
#include "stack_text.h"

struct writing {
	const struct profile *profile;
	const struct live *live;
	struct stack_text text;
	struct stack_groups groups;
	/* of all stacks, one after the other */
	char *texts;
	size_t text_bytes;
};

static int write_bytes(const void *bytes, size_t size, FILE *out)
{
	return !size || fwrite(bytes, size, 1, out) == 1 ? 0 : errno ? -errno : -EIO;
}

static int make_texts(struct writing *writing)
{
	FILE *out = open_memstream(&writing->texts, &writing->text_bytes);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < writing->groups.count; i++) {
		stack_text_print(&writing->text, writing->groups.stack[i], out);
		fputc(0, out);
	}
	return fclose(out) ? -ENOMEM : 0;
}

static int write_blocks(const struct writing *writing, FILE *out)
{
	const struct profile *profile = writing->profile;
	const struct live_block *from;
	int err = 0;

	for (size_t at = 0; !err && (from = live_next(writing->live, &at));) {
		const uint32_t row = profile->breakdown.part[from->part].row;
		const struct hi_stacked_block block = {
			.address = from->address,
			.stack = writing->groups.group_of[profile->row[row].key.stack],
		};

		err = write_bytes(&block, sizeof(block), out);
	}
	return err;
}

static int write_all(struct writing *writing, FILE *out)
{
	int err = make_texts(writing);
	const struct hi_stacked head = {
		.magic = HI_STACKED_MAGIC,
		.block_count = writing->live->count,
		.stack_count = writing->groups.count,
		.text_bytes = writing->text_bytes,
	};

	if (!err)
		err = write_bytes(&head, sizeof(head), out);
	if (!err)
		err = write_blocks(writing, out);
	return err ? err : write_bytes(writing->texts, writing->text_bytes, out);
}

int stacked_blocks_write(const struct profile *profile, const struct live *live, FILE *out)
{
	struct writing writing = {.profile = profile, .live = live};
	int err = stack_text_open(profile, &writing.text);

	if (!err)
		err = stack_groups_open(&writing.text, &writing.groups);
	if (!err)
		err = write_all(&writing, out);
	free(writing.texts);
	stack_groups_close(&writing.groups);
	stack_text_close(&writing.text);
	return err;
}
