/* SPDX-License-Identifier: MIT */
/* entries_find.c - see entries_find.h. */
#include "entries_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls_out.h"
#include "elf_segment.h"
#include "entry_code.h"
#include "entry_landings.h"
#include "entry_relays.h"
#include "hook_table.h"
#include "unwind_table.h"

struct finder {
	const struct elf_images *images;
	struct entry_code code;
	const struct allocators *allocators;
	struct entries entries;
};

/* Is the function at this address hooked, perhaps under another name? */
static bool is_hooked(const struct entries *entries, remote_addr at)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (entries->entry[hook].at == at)
			return true;
	return false;
}

/* Looks whether the function's first instruction can be replaced. Fills in the entry's code. */
static enum entry_obstacle obstacle_at(const struct finder *finder, struct entry *entry)
{
	const remote_addr at = entry->at;
	const struct elf_image *image = elf_images_find(finder->images, at);
	const void *code;

	if (!image || !image->is_pinned)
		return ENTRY_MAY_UNLOAD;
	if (image->memory_copy ||
	    elf_segment_bytes(image->elf, at - image->bias, ARCH_ENTRY_MAX, &code) < 0)
		return ENTRY_NO_FILE;
	if (maps_find(finder->code.maps, at) && maps_find(finder->code.maps, at)->writable)
		return ENTRY_WRITABLE;
	if (!entry_code_is_as_in_file(&finder->code, image, at, code, ARCH_ENTRY_MAX) ||
	    !entry_code_is_page_as_in_file(&finder->code, image, at) ||
	    !entry_code_is_page_as_in_file(&finder->code, image, at + ARCH_ENTRY_MAX - 1))
		return ENTRY_CHANGED;
	memcpy(entry->code, code, sizeof(entry->code));
	const size_t size = arch_entry_size(entry->code, at);

	entry->jump_at = at + arch_landing(entry->code).size;
	entry->size = (uint8_t)(size < ARCH_JUMP_BYTES ? size : ARCH_JUMP_BYTES);
	entry->jump_size = ARCH_JUMP_BYTES;
	return size ? ENTRY_NO_OBSTACLE : ENTRY_UNMOVABLE;
}

static void look_at_entry(struct finder *finder, unsigned hook)
{
	struct entry entry = {.at = hook_original(finder->allocators, hook)};

	if (!entry.at)
		return;
	finder->entries.obstacle[hook] = obstacle_at(finder, &entry);
	if (!finder->entries.obstacle[hook] && !is_hooked(&finder->entries, entry.at))
		finder->entries.entry[hook] = entry;
}

/*
 * Is the function the same as an earlier one, or does it only jump to another? Then it is covered
 * by that one's entry.
 */
static void look_at_alias(struct finder *finder, unsigned hook)
{
	const remote_addr original = hook_original(finder->allocators, hook);
	struct entries *entries = &finder->entries;
	const remote_addr target = entries->entry[hook].at
					   ? arch_entry_target(entries->entry[hook].code, original)
					   : 0;

	for (unsigned other = 0; original && other < HOOKS_MAX; other++) {
		const remote_addr at = entries->entry[other].at;

		if (other == hook || !at || (at != original && at != target))
			continue;
		entries->covered_by[hook] = other;
		entries->entry[hook].at = 0;
		return;
	}
	/* it may be the same as an earlier one that only jumps */
	for (unsigned other = 0; original && !entries->entry[hook].at && other < hook; other++)
		if (hook_original(finder->allocators, other) == original &&
		    entries->covered_by[other] != ENTRY_NOT_COVERED)
			entries->covered_by[hook] = entries->covered_by[other];
}

/* Is it a function of an unknown allocator, or of a pool, in this image? */
static bool is_unknown_in(const struct finder *finder, const struct elf_image *image, unsigned hook)
{
	const remote_addr at = finder->entries.entry[hook].at;

	return at &&
	       (hook_allocator(finder->allocators, hook)->family == ALLOCATOR_UNKNOWN ||
		hook_table[hook_function(hook)].is_named) &&
	       elf_images_find(finder->images, at) == image;
}

/* Drops functions of these that may be compiled together with their callers. */
static int drop_closed(struct finder *finder, const struct elf_image *image)
{
	struct eh_section section;
	struct eh_frame frame = {0};
	bool is_parsed = false;
	int err = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX && !err; hook++) {
		if (!is_unknown_in(finder, image, hook))
			continue;
		if (!is_parsed && unwind_table_section(image, &section) == 0)
			err = eh_frame_parse(&section, 0, UINT64_MAX, &frame);
		is_parsed = true;
		if (err || calls_out(image, &frame, finder->entries.entry[hook].at))
			continue;
		finder->entries.entry[hook].at = 0;
		finder->entries.obstacle[hook] = ENTRY_REGISTERS;
	}
	eh_frame_close(&frame);
	return err;
}

int entries_find(const struct elf_images *images, const struct maps *maps,
		 const struct memory *memory, const struct allocators *allocators,
		 struct entries *out_entries)
{
	struct finder *finder = calloc(1, sizeof(*finder));
	int err = 0;

	if (!finder)
		return -ENOMEM;
	*finder =
		(struct finder){.images = images, .code = {maps, memory}, .allocators = allocators};
	entries_clear(&finder->entries);
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		look_at_entry(finder, hook);
	for (size_t i = 0; i < images->count && !err; i++)
		err = drop_closed(finder, &images->image[i]);
	if (!err)
		entry_landings_check(images, &finder->entries);
	if (!err)
		err = entry_relays_find(images, &finder->code, allocators->takes_heap,
					&finder->entries);
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		look_at_alias(finder, hook);
	if (!err)
		*out_entries = finder->entries;
	free(finder);
	return err;
}
