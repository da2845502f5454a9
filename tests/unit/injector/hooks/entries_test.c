/* SPDX-License-Identifier: MIT */
/*
 * entries: which functions of real allocators can be hooked where they begin, and what is changed
 * for that.
 */
#include "entries_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hi_page.h"
#include "nesting.h"
#include "own_images.h"
#include "unit.h"

struct view {
	struct own own;
	struct allocators allocators;
	struct entries entries;
};

static void look(struct view *view)
{
	view->own = own_open();
	CHECK_EQ(allocators_find(&view->own.images, &view->own.memory, NULL, &view->allocators), 0);
	CHECK_EQ(entries_find(&view->own.images, &view->own.maps, &view->own.memory,
			      &view->allocators, &view->entries),
		 0);
	CHECK_EQ(nesting_find(&view->own.images, &view->allocators, &view->entries), 0);
}

/* ---- functions of this very program ---------------------------------------------------------- */

UNIT_TEST(the_functions_of_this_libc_can_be_hooked)
{
	static struct view view;
	look(&view);
	const enum hi_function wanted[] = {HI_FN_MALLOC,  HI_FN_CALLOC,         HI_FN_REALLOC,
					   HI_FN_FREE,    HI_FN_POSIX_MEMALIGN, HI_FN_ALIGNED_ALLOC,
					   HI_FN_MEMALIGN};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		CHECK(entries_have(&view.entries, wanted[i]));
	CHECK_EQ(view.entries.entry[HI_FN_MALLOC].at,
		 hook_original(&view.allocators, HI_FN_MALLOC));
	CHECK_EQ(view.entries.nesting[HI_FN_MALLOC], ENTRY_INNERMOST);
	CHECK_EQ(view.entries.nesting[HI_FN_FREE], ENTRY_INNERMOST);
	CHECK_EQ(view.entries.nesting[HI_FN_POSIX_MEMALIGN], ENTRY_NESTS);
	CHECK_EQ(view.entries.nesting[HI_FN_CALLOC], ENTRY_INNERMOST);
#ifndef __SANITIZE_ADDRESS__ /* whose realloc it is then */
	CHECK_EQ(view.entries.nesting[HI_FN_REALLOC], ENTRY_NULL);
#endif
}

/*
 * By slots alone only what goes through one is met: glibc's reallocarray jumps to realloc that way,
 * its realloc to malloc directly.
 */
UNIT_TEST(what_reaches_another_function_by_a_slot_is_known_without_entries)
{
	static struct view view;
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's functions are looked at by itself");
#endif
	look(&view);
	entries_clear(&view.entries);
	CHECK_EQ(nesting_find(&view.own.images, &view.allocators, &view.entries), 0);
	CHECK_EQ(view.entries.nesting[HI_FN_REALLOCARRAY], ENTRY_NESTS);
	CHECK_EQ(view.entries.nesting[HI_FN_REALLOC], ENTRY_INNERMOST);
	CHECK_EQ(view.entries.nesting[HI_FN_MALLOC], ENTRY_INNERMOST);
	CHECK_EQ(view.entries.nested_from[0].hi, 0);
}

/* The gate has room for so many: no function may be hooked that has no gate entry. */
UNIT_TEST(entries_without_room_in_the_gate_are_dropped)
{
	static struct view view;
	look(&view);
	const size_t all = entries_count(&view.entries);
	CHECK(all > 3);
	CHECK(!entries_keep_first(&view.allocators, &view.entries, HOOKS_MAX));
	CHECK_EQ(entries_count(&view.entries), all);
	CHECK(entries_keep_first(&view.allocators, &view.entries, 3));
	CHECK(entries_count(&view.entries) <= 3);
	CHECK(view.entries.entry[HI_FN_MALLOC].at);
	CHECK(!view.entries.entry[HI_FN_PVALLOC].at);
	CHECK_EQ(view.entries.obstacle[HI_FN_PVALLOC], ENTRY_NO_PLACE);
}

/*
 * What a function calls is counted if the function itself is not hooked any more. One of the first
 * allocator is then hooked by its slots.
 */
UNIT_TEST(what_a_dropped_function_calls_is_not_nested)
{
	enum { FIRST = HI_FN_REALLOC, OTHER = HI_FUNCTION_COUNT + HI_FN_REALLOC, ALIAS };
	static struct entries entries;
	entries_clear(&entries);
	entries.entry[FIRST].at = entries.entry[OTHER].at = 0x1000;
	entries.covered_by[ALIAS] = OTHER;
	const unsigned hooks[] = {OTHER, FIRST, ALIAS};
	for (size_t i = 0; i < 3; i++) {
		entries.nested_from[i].hook = hooks[i];
		entries.nested_from[i].lo = 0x1000;
		entries.nested_from[i].hi = 0x1100;
	}
	entries_drop(&entries, FIRST);
	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(entries.nested_from[i].hi, 0x1100);
	entries_drop(&entries, OTHER);
	CHECK_EQ(entries.nested_from[0].hi, 0);
	CHECK_EQ(entries.nested_from[1].hi, 0x1100);
	CHECK_EQ(entries.nested_from[2].hi, 0);
}

/* Whatever is changed lies in a first instruction, or in filling: no other byte. */
UNIT_TEST(only_first_instructions_and_filling_are_changed)
{
	static struct view view;
	look(&view);
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &view.entries.entry[hook];
		struct entry_word words[ENTRY_WORDS_MAX];
		size_t count;
		if (!entry->at)
			continue;
		CHECK_EQ(entry_words(entry,
				     entry->by == ENTRY_FAR_AWAY ? entry->relay + 4096
								 : entry->at + (1u << 20),
				     &view.own.memory, words, &count),
			 0);
		CHECK(count >= 1 && count <= ENTRY_WORDS_MAX);
		for (size_t i = 0; i < count; i++)
			for (unsigned byte = 0; byte < 8; byte++) {
				const remote_addr at = words[i].at + byte;
				const bool is_first =
					at >= entry->jump_at && at < entry->jump_at + entry->size;
				const bool is_relay = entry->by == ENTRY_IN_GAP &&
						      at >= entry->relay &&
						      at < entry->relay + ARCH_JUMP_BYTES;
				if ((words[i].old_value ^ words[i].new_value) >> 8 * byte & 0xff)
					CHECK(is_first || is_relay);
			}
		CHECK(entry->by != ENTRY_IN_GAP ||
		      (entry->relay + ARCH_JUMP_BYTES <= entry->at &&
		       entry->at - entry->relay <= ARCH_SHORT_JUMP_REACH));
	}
}

UNIT_TEST(a_gate_too_far_away_is_said)
{
	static struct view view;
	struct entry_word words[ENTRY_WORDS_MAX];
	size_t count;
	look(&view);
	const struct entry *entry = &view.entries.entry[HI_FN_MALLOC];
	CHECK(entry->at && entry->by != ENTRY_FAR_AWAY);
	CHECK_EQ(entry_words(entry, entry->at - (1ull << 32), &view.own.memory, words, &count),
		 -ERANGE);
}

/* A breakpoint, a uprobe, another tool's jump. */
UNIT_TEST(a_function_whose_code_is_not_its_files_is_left_to_slots)
{
	static struct view view;
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's functions are looked at by itself");
#endif
	look(&view);
	CHECK(view.entries.entry[HI_FN_PVALLOC].at);
	uint8_t *const code = (uint8_t *)(uintptr_t)view.entries.entry[HI_FN_PVALLOC].at;
	void *const page = (void *)((uintptr_t)code & ~(hi_page_bytes() - 1));
	CHECK_EQ(mprotect(page, 2 * hi_page_bytes(), PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	const bool is_malloc_beside = view.entries.entry[HI_FN_MALLOC].at / hi_page_bytes() ==
				      (uintptr_t)page / hi_page_bytes();
	code[0] = 0xcc;
	look(&view);
	CHECK(!entries_have(&view.entries, HI_FN_PVALLOC));
	/* a page is looked at as a whole */
	CHECK(entries_have(&view.entries, HI_FN_MALLOC) != is_malloc_beside);
}

/* The place where a jump of this size at the function leads; 0: there is none, or it is not free.
 */
static remote_addr free_place(const struct view *view, const struct entry *entry, size_t jump_size)
{
	remote_addr lo, hi;
	if (!arch_punned_reach(entry->code, entry->size, jump_size, entry->at, &lo, &hi))
		return 0;
	for (size_t i = 0; i < view->own.maps.count; i++) {
		const struct mapping *mapping = &view->own.maps.mapping[i];
		if (mapping->lo < hi + (4u << 20) && mapping->hi > lo - (4u << 20))
			return 0;
	}
	return lo;
}

/*
 * Nothing may be where a relay is to lie: with its place taken, another one is found for a longer
 * jump, or the function is left to slots.
 */
UNIT_TEST(a_relay_is_not_put_where_something_is)
{
	static struct view view;
	look(&view);
	unsigned hook = 0;
	while (hook < HOOKS_MAX &&
	       !(view.entries.entry[hook].at && view.entries.entry[hook].by == ENTRY_FAR_AWAY))
		hook++;
	if (hook == HOOKS_MAX)
		SKIP("this libc needs no relay far away");
	const struct entry before = view.entries.entry[hook];
	const remote_addr page = before.relay & ~4095ull;
	const remote_addr other = free_place(&view, &before, before.jump_size + 1u);
	CHECK(mmap((void *)page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		   -1, 0) == (void *)page);
	look(&view);
	CHECK(!view.entries.entry[hook].at || (view.entries.entry[hook].relay & ~4095ull) != page);
	if (other && before.size <= 2) /* with more there are further places for the same jump */
		CHECK_EQ(view.entries.entry[hook].relay, other);
}

UNIT_MAIN()
