/* SPDX-License-Identifier: MIT */
/* mapping_functions.c - see mapping_functions.h. */
#include "mapping_functions.h"

#include <string.h>

#include "elf_symbols.h"
#include "hook_table.h"

static bool is_c_library(const struct elf_image *image)
{
	remote_addr start;

	return !elf_image_symbol(image, "__libc_start_main", &start, NULL);
}

/*
 * In a program that is linked statically. What has such a name without underscores may be the
 * program's own; in glibc and in musl these are weak.
 */
static void take_static(void *context, const struct elf_function *function)
{
	struct allocator *allocator = context;

	if (strncmp(function->name, "__", 2) != 0)
		return;
	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++)
		if (hook_table[number].is_mapping && !function->is_indirect &&
		    strcmp(function->name + 2, hook_table[number].symbol) == 0)
			allocator->original[number] = function->address;
}

static void take_exported(const struct elf_image *image, struct allocator *allocator)
{
	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++)
		if (hook_table[number].is_mapping)
			(void)!elf_image_symbol(image, hook_table[number].symbol,
						&allocator->original[number], NULL);
}

/* A C library need not have brk. */
static bool is_needed(unsigned number)
{
	return hook_table[number].is_mapping && number != HI_FN_BRK;
}

static bool has_all(const struct allocator *allocator)
{
	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++)
		if (is_needed(number) && !allocator->original[number])
			return false;
	return true;
}

static void drop_all(struct allocators *allocators, struct entries *entries)
{
	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++) {
		if (!hook_table[number].is_mapping)
			continue;
		allocators->allocator[0].original[number] = 0;
		if (entries)
			entries_drop(entries, number);
	}
}

void mapping_functions_find(const struct elf_images *images, struct allocators *allocators)
{
	struct allocator *first = &allocators->allocator[0];
	size_t room = ELF_SYMBOLS_BYTES_MAX;

	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];

		if (!images->r_debug && image->is_main)
			elf_symbols_visit(image, &room, take_static, first);
		else if (images->r_debug && image->is_pinned && is_c_library(image) &&
			 !has_all(first))
			take_exported(image, first);
	}
	if (!has_all(first))
		drop_all(allocators, NULL);
}

void mapping_functions_settle(struct allocators *allocators, struct entries *entries)
{
	if (!entries_have(entries, HI_FN_BRK))
		allocators->allocator[0].original[HI_FN_BRK] = 0;
	for (unsigned number = 0; number < HI_FUNCTION_COUNT; number++)
		if (is_needed(number) && !entries_have(entries, number)) {
			drop_all(allocators, entries);
			return;
		}
}

bool mapping_functions_are_hooked(const struct allocators *allocators)
{
	return allocators->allocator[0].original[HI_FN_MMAP] != 0;
}
