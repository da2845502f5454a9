/* SPDX-License-Identifier: MIT */
/* unhooked.c - see unhooked.h. Start at unhooked_find(). */
#include "unhooked.h"

#include <stdio.h>
#include <string.h>

#include "hook_table.h"
#include "plain_text.h"

static enum hi_unhooked how_of(const struct allocator *allocator)
{
	static const enum hi_unhooked how[] = {[ALLOCATOR_BY_SLOTS] = HI_UNHOOKED_DIRECT,
					       [ALLOCATOR_DIRECT] = HI_UNHOOKED_DIRECT,
					       [ALLOCATOR_PREFIXED] = HI_UNHOOKED_PREFIXED,
					       [ALLOCATOR_BOUND] = HI_UNHOOKED_BOUND,
					       [ALLOCATOR_APART] = HI_UNHOOKED_NAMESPACE};

	return how[allocator->reach];
}

static void add_of(struct unhooked_list *list, const struct elf_image *image, const char *name,
		   enum hi_unhooked how)
{
	struct unhooked found = {.how = how, .is_main = image->is_main};

	plain_text_copy(found.function, sizeof(found.function), name);
	plain_text_copy(found.path, sizeof(found.path), image->path);
	for (size_t i = 0; i < list->count; i++)
		if (list->unhooked[i].how == found.how &&
		    strcmp(list->unhooked[i].path, found.path) == 0)
			return;
	if (list->count < UNHOOKED_MAX)
		list->unhooked[list->count++] = found;
}

static void add(struct unhooked_list *list, const struct allocator *allocator, const char *symbol,
		enum hi_unhooked how)
{
	char name[2 * HI_ALLOCATOR_NAME_MAX];

	snprintf(name, sizeof(name), "%s%s", allocator->prefix, symbol);
	add_of(list, allocator->image, name, how);
}

/* Operators whose blocks malloc does not see. */
static void add_pools(struct unhooked_list *list, const struct allocators *allocators)
{
	static const char *const names[OPERATORS_NEW] = {
		"operator new",
		"operator new[]",
		"operator new (nothrow)",
		"operator new[] (nothrow)",
		"operator new (aligned)",
		"operator new[] (aligned)",
		"operator new (aligned, nothrow)",
		"operator new[] (aligned, nothrow)",
	};

	for (unsigned i = 0; i < OPERATORS_NEW; i++)
		if (allocators->pool[i])
			add_of(list, allocators->pool[i], names[i], HI_UNHOOKED_POOL);
}

/* Is a function known that frees what the allocator allocates? */
static bool has_free(const struct allocator *allocator)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (allocator->original[function] && hook_table[function].gate == GATE_FREE)
			return true;
	return false;
}

static bool is_seen(const struct entries *entries, unsigned hook)
{
	return entries_have(entries, hook) || entries->is_seen_inside[hook];
}

/*
 * The first allocator is hooked by slots where its entry is not. Then it is only what the program
 * itself calls without a slot that is not seen.
 */
void unhooked_find(const struct allocators *allocators, const struct entries *entries,
		   struct unhooked_list *out_list)
{
	*out_list = (struct unhooked_list){0};
	for (size_t i = 0; i < allocators->count; i++) {
		const struct allocator *allocator = &allocators->allocator[i];

		if (!i && !allocator->image->is_main)
			continue;
		if (!allocator->original[HI_FN_MALLOC])
			add(out_list, allocator, hook_table[HI_FN_MALLOC].symbol,
			    how_of(allocator));
		if (allocator->hides_operators)
			add(out_list, allocator, "operator new", how_of(allocator));
		for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
			if (allocator->original[function] &&
			    !is_seen(entries, (unsigned)i * HI_FUNCTION_COUNT + function))
				add(out_list, allocator,
				    hook_name_after(allocator->prefix, function),
				    hook_table[function].gate == GATE_FREE ? HI_UNHOOKED_FREE
									   : how_of(allocator));
		if (*allocator->doubtful)
			add(out_list, allocator, allocator->doubtful, how_of(allocator));
		if (*allocator->copy)
			add_of(out_list, allocator->image, allocator->copy, HI_UNHOOKED_COPY);
		if (*allocator->free_copy)
			add_of(out_list, allocator->image, allocator->free_copy, HI_UNHOOKED_FREE);
		if (allocator->original[HI_FN_MALLOC] && !has_free(allocator) &&
		    is_seen(entries, (unsigned)i * HI_FUNCTION_COUNT + HI_FN_MALLOC))
			add(out_list, allocator, hook_table[HI_FN_FREE].symbol, HI_UNHOOKED_FREE);
	}
	add_pools(out_list, allocators);
}

void unhooked_add(const struct allocators *allocators, size_t first, struct unhooked_list *list)
{
	for (size_t i = first; i < allocators->count; i++) {
		const struct allocator *allocator = &allocators->allocator[i];

		add(list, allocator, hook_table[HI_FN_MALLOC].symbol, how_of(allocator));
	}
}

char *unhooked_describe(const struct unhooked_list *list, bool of_frees, char *text, size_t size)
{
	size_t at = 0;

	*text = 0;
	for (size_t i = 0; i < list->count && at < size; i++) {
		const struct unhooked *unhooked = &list->unhooked[i];

		if ((unhooked->how == HI_UNHOOKED_FREE) != of_frees)
			continue;
		const int length = snprintf(
			text + at, size - at, "%s%s in %s%s", at ? " and " : "", unhooked->function,
			unhooked->is_main ? "the program itself" : unhooked->path,
			hi_unhooked_calls(unhooked->how));

		at += length > 0 ? (size_t)length : size;
	}
	return text;
}
