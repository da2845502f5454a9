/* SPDX-License-Identifier: MIT */
/* publish.c - see publish.h. */
#include "publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

#define LEARNED_MAX 4096u
/* some seconds of work; the largest programs have a tenth of it */
#define BUILD_BYTES_MAX (1ull << 30)
/* of the room that is left, for changing code for which none was set aside: a part of so many */
#define LATE_CODE_SHARE 2
/* how far below its present mapping the main thread's stack may grow */
#define STACK_GROWTH (64ull << 20)

void publisher_open(struct publisher *publisher)
{
	*publisher = (struct publisher){.used = HI_PAGE_BYTES, .build_room = BUILD_BYTES_MAX};
}

void publisher_close(struct publisher *publisher)
{
	for (size_t i = 0; i < publisher->stored_count; i++) {
		unwind_table_close(&publisher->stored[i].table);
		free(publisher->stored[i].path);
	}
	free(publisher->stored);
	free(publisher->learned);
	*publisher = (struct publisher){0};
}

static struct stored_table *stored_find(const struct publisher *publisher,
					const struct elf_image *image, const struct elf_text *text)
{
	for (size_t i = 0; i < publisher->stored_count; i++) {
		struct stored_table *stored = &publisher->stored[i];
		if (stored->inode == image->inode && stored->device == image->device &&
		    stored->file_offset == text->file_offset &&
		    stored->size == text->hi - text->lo && !strcmp(stored->path, image->path))
			return stored;
	}
	return NULL;
}

static int build(struct publisher *publisher, const struct elf_image *image,
		 const struct elf_text *text, struct unwind_table *out_table)
{
	const uint64_t cost = unwind_table_cost(image);
	if (cost > publisher->build_room)
		return -EFBIG;
	publisher->build_room -= cost;
	return unwind_table_build(image, text, out_table);
}

static int store(struct publisher *publisher, const struct elf_image *image,
		 const struct elf_text *text)
{
	struct stored_table *grown =
		realloc(publisher->stored, (publisher->stored_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	publisher->stored = grown;
	struct stored_table stored = {
		.path = strdup(image->path),
		.device = image->device,
		.inode = image->inode,
		.file_offset = text->file_offset,
		.size = text->hi - text->lo,
	};
	if (!stored.path)
		return -ENOMEM;
	int err = build(publisher, image, text, &stored.table);
	if (err == -ENOMEM) {
		free(stored.path);
		return err;
	}
	/*
	 * A missing table (no .eh_frame, or a damaged one) is remembered, too: there the
	 * frame-pointer chain is used.
	 */
	stored.row_count = err ? 0 : stored.table.row_count;
	stored.index_count = err ? 0 : stored.table.index_count;
	publisher->stored[publisher->stored_count++] = stored;
	return 0;
}

int publisher_build(struct publisher *publisher, const struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		for (size_t j = 0; j < image->text_count; j++) {
			if (stored_find(publisher, image, &image->text[j]))
				continue;
			int err = store(publisher, image, &image->text[j]);
			if (err)
				return err;
		}
	}
	return 0;
}

static uint64_t rows_bytes(const struct stored_table *stored)
{
	return (uint64_t)stored->row_count * sizeof(struct hi_unwind_row);
}

static uint64_t table_bytes(const struct stored_table *stored)
{
	return (rows_bytes(stored) + (uint64_t)stored->index_count * sizeof(uint32_t) + 7) / 8 * 8;
}

uint64_t publisher_bytes(const struct publisher *publisher)
{
	uint64_t bytes = publisher->used;
	for (size_t i = 0; i < publisher->stored_count; i++)
		if (!publisher->stored[i].copied)
			bytes += table_bytes(&publisher->stored[i]);
	return bytes;
}

static void copy_table(struct publisher *publisher, struct stored_table *stored, uint8_t *tables,
		       uint64_t room)
{
	const uint64_t bytes = table_bytes(stored);
	if (stored->copied || !stored->row_count)
		return;
	if (bytes > room - publisher->used) {
		publisher->missing++;
		return;
	}
	stored->rows = publisher->used;
	stored->index = stored->rows + rows_bytes(stored);
	memcpy(tables + stored->rows, stored->table.row, rows_bytes(stored));
	memcpy(tables + stored->index, stored->table.index, stored->index_count * sizeof(uint32_t));
	publisher->used += bytes;
	stored->copied = true;
	unwind_table_close(&stored->table);
}

void publisher_reserve_code(struct publisher *publisher, uint64_t bytes)
{
	struct published_code *code = &publisher->code;
	const uint64_t left = publisher->room ? publisher->room - publisher->used : UINT64_MAX;
	const uint64_t most = left / LATE_CODE_SHARE / 2;

	if (code->bytes)
		return;
	code->bytes = (bytes < most ? bytes : most) / 8 * 8;
	code->place[0] = publisher->used;
	code->place[1] = publisher->used + code->bytes;
	publisher->used += 2 * code->bytes;
}

/*
 * Copies a table to this offset of the tables part, and moves that on. False: it does not fit
 * before `end`.
 */
static bool put_table(const struct unwind_table *table, uint8_t *tables, uint64_t *at, uint64_t end,
		      struct hi_unwind_module *out_module)
{
	const uint64_t rows = (uint64_t)table->row_count * sizeof(*table->row);
	const uint64_t index = (uint64_t)table->index_count * sizeof(*table->index);

	if (*at > end || rows + index + 8 > end - *at)
		return false;
	memcpy(tables + *at, table->row, rows);
	memcpy(tables + *at + rows, table->index, index);
	*out_module = (struct hi_unwind_module){.lo = table->lo,
						.hi = table->hi,
						.rows = *at,
						.index = *at + rows,
						.row_count = table->row_count,
						.index_count = table->index_count};
	*at += (rows + index + 7) / 8 * 8;
	return true;
}

int publisher_set_code(struct publisher *publisher, const struct unwind_table *table, size_t count,
		       uint8_t *tables)
{
	struct published_code *code = &publisher->code;
	uint64_t at = code->place[code->next];
	const uint64_t end = at + code->bytes;

	code->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == PUBLISH_CODE_MAX ||
		    !put_table(&table[i], tables, &at, end, &code->module[code->count])) {
			code->count = 0;
			return -ENOSPC;
		}
		code->count++;
	}
	code->next = !code->next;
	return 0;
}

int publisher_add_own(struct publisher *publisher, const struct unwind_table *table,
		      uint8_t *tables)
{
	struct hi_unwind_module module;
	uint32_t i = publisher->own_count;

	if (i == PUBLISH_OWN_MAX ||
	    !put_table(table, tables, &publisher->used, publisher->room, &module))
		return -ENOSPC;
	for (; i && publisher->own[i - 1].lo > module.lo; i--)
		publisher->own[i] = publisher->own[i - 1];
	publisher->own[i] = module;
	publisher->own_count++;
	return 0;
}

/*
 * The generation is odd while the copy changes, so that a payload preempted in the middle of it
 * notices.
 */
static void begin_change(uint64_t *generation)
{
	__atomic_store_n(generation, *generation | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	fault_pass("publish");
}

static void end_change(uint64_t *generation, uint32_t *current, uint32_t which)
{
	__atomic_store_n(generation, *generation + 1, __ATOMIC_RELEASE);
	__atomic_store_n(current, which, __ATOMIC_RELEASE);
}

/* Sorted modules that are of no object; the first `added` of them are in the directory. */
struct apart {
	const struct hi_unwind_module *module;
	uint32_t count, added;
};
#define APART 2u

/* Adds to the directory those whose place is before `lo`, unless they were added. */
static void add_apart(struct apart apart[APART], remote_addr lo,
		      struct hi_unwind_directory *directory, uint32_t *count)
{
	while (*count < HI_MODULE_CAPACITY) {
		struct apart *first = NULL;
		remote_addr first_lo = lo;

		for (unsigned i = 0; i < APART; i++)
			if (apart[i].added < apart[i].count &&
			    apart[i].module[apart[i].added].lo < first_lo) {
				first = &apart[i];
				first_lo = first->module[first->added].lo;
			}
		if (!first)
			return;
		directory->module[(*count)++] = first->module[first->added++];
	}
}

/*
 * The bounds only grow: a walk may still use tables of before. With either of two places that a
 * walk may find, the size that it reads afterwards covers what was within the bounds before.
 */
static void publish_bounds(const struct published_code *code, struct hi_control *control)
{
	if (!code->count)
		return;
	const uint64_t lo = code->module[0].lo, hi = code->module[code->count - 1].hi;
	const uint64_t had = control->code_bytes, had_hi = control->code_lo + had;
	const uint64_t first = had && control->code_lo < lo ? control->code_lo : lo;

	__atomic_store_n(&control->code_bytes, (had && had_hi > hi ? had_hi : hi) - first,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&control->code_lo, first, __ATOMIC_RELEASE);
}

void publisher_publish_tables(struct publisher *publisher, const struct elf_images *images,
			      struct hi_control *control, uint8_t *tables)
{
	const uint64_t room = publisher->room ? publisher->room : control->tables.size;
	const uint32_t next = !control->current_directory;
	struct hi_unwind_directory *directory = &control->directory[next];
	begin_change(&directory->generation);
	publisher->missing = 0;
	publish_bounds(&publisher->code, control);
	struct apart apart[APART] = {
		{.module = publisher->code.module, .count = publisher->code.count},
		{.module = publisher->own, .count = publisher->own_count},
	};
	uint32_t count = 0;
	/* images and their texts are sorted by address, and so is the directory */
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		for (size_t j = 0; j < image->text_count; j++) {
			struct stored_table *stored =
				stored_find(publisher, image, &image->text[j]);
			if (stored)
				copy_table(publisher, stored, tables, room);
			if (!stored || !stored->copied)
				continue;
			add_apart(apart, image->text[j].lo, directory, &count);
			if (count == HI_MODULE_CAPACITY)
				break;
			directory->module[count++] = (struct hi_unwind_module){
				.lo = image->text[j].lo,
				.hi = image->text[j].hi,
				.rows = stored->rows,
				.index = stored->index,
				.row_count = stored->row_count,
				.index_count = stored->index_count,
			};
		}
	}
	add_apart(apart, UINT64_MAX, directory, &count);
	directory->count = count;
	end_change(&directory->generation, &control->current_directory, next);
}

int publisher_learn(struct publisher *publisher, remote_addr stack_pointer)
{
	if (publisher->learned_count == LEARNED_MAX) /* the oldest half has likely ended */
		memmove(publisher->learned, publisher->learned + LEARNED_MAX / 2,
			(publisher->learned_count = LEARNED_MAX / 2) * sizeof(remote_addr));
	remote_addr *grown =
		realloc(publisher->learned, (publisher->learned_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	publisher->learned = grown;
	publisher->learned[publisher->learned_count++] = stack_pointer;
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	const remote_addr x = *(const remote_addr *)a, y = *(const remote_addr *)b;
	return (x > y) - (x < y);
}

/* The learned stack pointers sorted by address; the caller frees them. NULL: none, or no memory. */
static remote_addr *sorted_pointers(const struct publisher *publisher, size_t *out_count)
{
	const size_t bytes = publisher->learned_count * sizeof(remote_addr);
	remote_addr *pointers = bytes ? malloc(bytes) : NULL;
	*out_count = pointers ? publisher->learned_count : 0;
	if (pointers)
		qsort(memcpy(pointers, publisher->learned, bytes), *out_count, sizeof(*pointers),
		      compare_addresses);
	return pointers;
}

/*
 * The main thread's stack grows: the addresses below its mapping belong to it, down to the next
 * mapping.
 */
static remote_addr region_start(const struct maps *maps, size_t i)
{
	const struct mapping *mapping = &maps->mapping[i];
	if (strcmp(mapping->path, "[stack]") != 0)
		return mapping->lo;
	const remote_addr below = i ? maps->mapping[i - 1].hi : 0;
	const remote_addr grown = mapping->hi > STACK_GROWTH ? mapping->hi - STACK_GROWTH : 0;
	return grown > below ? grown : below;
}

/*
 * Lists every mapping in which a stack may lie, whether one was seen there or not: a program may
 * begin to run on any memory that it can write. Superfluous regions do no harm, as a region is read
 * only for a stack pointer in it. Mappings of files are not listed, unless a stack was seen there:
 * reading a page beyond the end of the file is a SIGBUS, and reading a device may have effects.
 */
void publisher_publish_regions(struct publisher *publisher, const struct maps *maps,
			       struct hi_control *control)
{
	size_t pointer_count, next_pointer = 0;
	remote_addr *pointers = sorted_pointers(publisher, &pointer_count);
	const uint32_t next = !control->current_regions;
	struct hi_regions *regions = &control->regions[next];
	begin_change(&regions->generation);
	uint32_t count = 0;
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->mapping[i];
		const bool is_main = !strcmp(mapping->path, "[stack]");
		while (next_pointer < pointer_count && pointers[next_pointer] < mapping->lo)
			next_pointer++;
		const bool holds_stack = is_main || (next_pointer < pointer_count &&
						     pointers[next_pointer] < mapping->hi);
		if (is_main)
			control->main_stack = mapping->hi;
		if (!mapping->readable || !mapping->writable || (mapping->inode && !holds_stack))
			continue;
		/* one place is kept for the main stack */
		if (count + !is_main >= HI_REGION_CAPACITY)
			continue;
		regions->range[count].lo = region_start(maps, i);
		regions->range[count++].hi = mapping->hi;
	}
	regions->count = count;
	end_change(&regions->generation, &control->current_regions, next);
	free(pointers);
}
