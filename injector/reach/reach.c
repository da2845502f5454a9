/* SPDX-License-Identifier: MIT */
/*
 * reach.c - see reach.h.
 *
 * The dynamic linker keeps what it allocates (thread-local storage and its index, the list of
 * objects) where no program can refer to it, partly in memory of its own first allocator. These
 * blocks are never leaked by the program, and count as roots, as in LeakSanitizer.
 */
#include "reach.h"

#include <stdbool.h>
#include <errno.h>
#include <stdlib.h>

#include "glibc_bins.h"
#include "glibc_links.h"
#include "words.h"

static int compare(const void *left, const void *right)
{
	const struct reach_block *a = left, *b = right;

	return (a->block.address > b->block.address) - (a->block.address < b->block.address);
}

/* Of blocks with the same address one stays, and none at address 0. Returns how many there are. */
static size_t sort(struct reach_block *block, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(block, count, sizeof(*block), compare);
	for (size_t i = 0; i < count; i++)
		if (block[i].block.address &&
		    (!kept || block[i].block.address != block[kept - 1].block.address))
			block[kept++] = block[i];
	return kept;
}

static bool is_of_linker(const struct elf_images *images, remote_addr caller)
{
	const struct elf_image *image = caller ? elf_images_find(images, caller - 1) : NULL;

	return image && image->is_loader;
}

static int mark_roots(const struct reach_target *target, const struct mark_memory *memory,
		      struct marks *marks)
{
	struct root_ranges roots;
	int err = root_ranges_find(target, &roots);

	for (size_t i = 0; i < roots.count && !err; i++)
		err = glibc_bins_mark_range(marks, memory, roots.range[i].lo, roots.range[i].hi);
	root_ranges_close(&roots);
	for (size_t i = 0; i < target->thread_count && !err; i++)
		marks_words(marks, target->thread[i].word, target->thread[i].count);
	return err;
}

static int mark(const struct reach_target *target, struct words *words, struct marks *marks)
{
	const struct mark_memory memory = words_memory(words);
	int err = mark_roots(target, &memory, marks);

	if (!err)
		err = marks_spread(marks, &memory);
	return err ? err : marks_sort_out(marks, &memory);
}

/* The links have words of their own, which are read while others are looked at. */
static int mark_without_links(const struct reach_target *target, struct words *words,
			      struct marks *marks)
{
	struct words beside;
	int err = words_open(&beside, words->memory, words->deadline_ns);

	if (err)
		return err;
	const struct mark_memory memory = words_memory(&beside);
	struct glibc_links of_glibc = {.memory = &memory};
	const struct mark_links links = glibc_links(&of_glibc);

	marks->links = &links;
	err = mark(target, words, marks);
	marks->links = NULL;
	words_close(&beside);
	return err;
}

int reach_mark(const struct reach_target *target, struct reach_block *block, size_t count,
	       uint64_t deadline_ns, struct reach *out_reach)
{
	struct words words;

	count = sort(block, count);
	*out_reach = (struct reach){.block = malloc((count + 1) * sizeof(*out_reach->block))};
	if (!out_reach->block)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		out_reach->block[i] = block[i].block;
	int err = marks_open(&out_reach->marks, out_reach->block, count);
	for (size_t i = 0; i < count && !err; i++)
		if (is_of_linker(target->images, block[i].caller))
			marks_block(&out_reach->marks, (uint32_t)i);
	if (!err)
		err = words_open(&words, target->memory, deadline_ns);
	if (err)
		return err;
	err = mark_without_links(target, &words, &out_reach->marks);
	out_reach->read_bytes = words.bytes;
	words_close(&words);
	return err;
}

void reach_close(struct reach *reach)
{
	marks_close(&reach->marks);
	free(reach->block);
	*reach = (struct reach){0};
}
