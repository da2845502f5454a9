/* SPDX-License-Identifier: MIT */
/*
 * entry_landings.c - see entry_landings.h.
 *
 * Only branches that name their target are looked for, in all code of the object: where landing
 * pads are checked, a branch by a register leads to one, and the jump replaces none.
 */
#include "entry_landings.h"

#include "elf_segment.h"

static bool is_behind_landing(const struct entry *entry)
{
	return entry->at && entry->jump_at != entry->at;
}

/* Drops the entry whose jump would be at this address, under each of its names. */
static void drop_at(struct entries *entries, remote_addr at)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (is_behind_landing(&entries->entry[hook]) &&
		    entries->entry[hook].jump_at == at) {
			entries_drop(entries, hook);
			entries->obstacle[hook] = ENTRY_UNMOVABLE;
		}
}

/* Addresses: those that code may lead to, one for each entry, and a few in between. */
struct range {
	remote_addr lo;
	uint64_t span; /* a power of two; 0 = there is no such entry */
};

static struct range range_of(const struct elf_images *images, const struct elf_image *image,
			     const struct entries *entries)
{
	struct range range = {.lo = UINT64_MAX};
	remote_addr hi = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &entries->entry[hook];

		if (!is_behind_landing(entry) || elf_images_find(images, entry->at) != image)
			continue;
		range.lo = entry->jump_at < range.lo ? entry->jump_at : range.lo;
		hi = entry->jump_at > hi ? entry->jump_at : hi;
	}
	if (range.lo <= hi)
		for (range.span = 1; range.span <= hi - range.lo;)
			range.span *= 2;
	return range;
}

static void drop_range(const struct range *range, struct entries *entries)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		if (is_behind_landing(&entries->entry[hook]) &&
		    entries->entry[hook].jump_at - range->lo < range->span)
			drop_at(entries, entries->entry[hook].jump_at);
}

static void look_through(const uint8_t *code, size_t size, remote_addr at,
			 const struct range *range, struct entries *entries)
{
	struct arch_instruction instruction;

	for (size_t found = arch_find_operand(code, 0, size, at, range->lo, range->span);
	     found < size;
	     found = arch_find_operand(code, found + 1, size, at, range->lo, range->span))
		if (arch_decode(code + found, size - found, at + found, &instruction) &&
		    instruction.target)
			drop_at(entries, instruction.target);
}

void entry_landings_check(const struct elf_images *images, struct entries *entries)
{
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		const struct range range = range_of(images, image, entries);
		GElf_Phdr load;
		const void *code;

		for (size_t at = 0;
		     range.span && elf_segment_next(image->elf, PT_LOAD, &at, &load);) {
			if (!(load.p_flags & PF_X) || !load.p_filesz)
				continue;
			if (elf_segment_bytes(image->elf, load.p_vaddr, load.p_filesz, &code) < 0)
				drop_range(&range, entries);
			else
				look_through(code, load.p_filesz, image->bias + load.p_vaddr,
					     &range, entries);
		}
	}
}
