/* SPDX-License-Identifier: MIT */
/* entries.c - see entries.h. */
#include "entries.h"

#include <errno.h>
#include <string.h>

#define WORD 8u

void entries_clear(struct entries *entries)
{
	*entries = (struct entries){0};
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		entries->covered_by[hook] = ENTRY_NOT_COVERED;
}

void entries_drop_all(struct entries *entries)
{
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		entries->entry[hook].at = 0;
}

size_t entries_count(const struct entries *entries)
{
	size_t count = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		count += entries->entry[hook].at != 0;
	return count;
}

void entries_drop(struct entries *entries, unsigned hook)
{
	entries->entry[hook].at = 0;
	entries->obstacle[hook] = ENTRY_NO_PLACE;
	for (unsigned i = 0; i < HI_NESTED_FROM_MAX; i++) {
		const unsigned caller = entries->nested_from[i].hook;

		if (entries->nested_from[i].hi && caller >= HI_FUNCTION_COUNT &&
		    !entries_have(entries, caller))
			entries->nested_from[i].lo = entries->nested_from[i].hi = 0;
	}
}

bool entries_keep_first(const struct allocators *allocators, struct entries *entries, size_t most)
{
	bool has_dropped = false;
	size_t gates = 0;

	for (unsigned hook = 0; hook < HOOKS_MAX; hook++) {
		const bool is_by_slots = hook < HI_FUNCTION_COUNT &&
					 hook_original(allocators, hook) &&
					 !entries_have(entries, hook);

		if (entries->entry[hook].at && gates >= most) {
			entries_drop(entries, hook);
			has_dropped = true;
		} else if (entries->entry[hook].at || is_by_slots) {
			gates++;
		}
	}
	return has_dropped;
}

/* ---- words ----------------------------------------------------------------------------------- */

struct bytes {
	remote_addr lo; /* whole words, */
	size_t words;
	uint64_t old_value[2], new_value[2];
};

/* Reads the words that contain the bytes [at, at + size). */
static int read_bytes(const struct memory *memory, remote_addr at, size_t size, struct bytes *out)
{
	out->lo = at / WORD * WORD;
	out->words = (size_t)((at + size - 1) / WORD - at / WORD + 1);
	const int err = memory_read(memory, out->lo, out->old_value, out->words * WORD);

	memcpy(out->new_value, out->old_value, sizeof(out->new_value));
	return err;
}

static void push_words(const struct bytes *bytes, struct entry_word *out_words, size_t *count)
{
	for (size_t i = 0; i < bytes->words; i++)
		out_words[(*count)++] = (struct entry_word){.at = bytes->lo + i * WORD,
							    .old_value = bytes->old_value[i],
							    .new_value = bytes->new_value[i]};
}

/* The jump at the function itself. */
static bool make_first(const struct entry *entry, remote_addr to, uint8_t *out)
{
	const size_t size = entry->jump_size;
	uint8_t jump[ARCH_PADDED_JUMP_MAX];

	if (!arch_make_jump(jump, size, entry->jump_at, to))
		return false;
	memcpy(out, jump, size < entry->size ? size : entry->size);
	return size <= entry->size ||
	       memcmp(jump + entry->size, entry_replaced(entry) + entry->size,
		      size - entry->size) == 0;
}

int entry_words(const struct entry *entry, remote_addr gate, const struct memory *memory,
		struct entry_word out_words[ENTRY_WORDS_MAX], size_t *out_count)
{
	struct bytes first, relay;
	const remote_addr to = entry->cell ? entry->cell : gate;
	size_t count = 0;
	int err = read_bytes(memory, entry->jump_at, entry->size, &first);

	if (!err && entry->by == ENTRY_IN_GAP)
		err = read_bytes(memory, entry->relay, ARCH_JUMP_BYTES, &relay);
	if (err)
		return err;
	if (memcmp((const uint8_t *)first.old_value + (entry->jump_at - first.lo),
		   entry_replaced(entry), entry->size) != 0)
		return -EBUSY;
	if (!make_first(entry, entry->by == ENTRY_DIRECT ? to : entry->relay,
			(uint8_t *)first.new_value + (entry->jump_at - first.lo)))
		return -ERANGE;
	if (entry->by == ENTRY_IN_GAP) {
		if (!arch_make_jump((uint8_t *)relay.new_value + (entry->relay - relay.lo),
				    ARCH_JUMP_BYTES, entry->relay, to))
			return -ERANGE;
		push_words(&relay, out_words, &count);
	}
	push_words(&first, out_words, &count);
	*out_count = count;
	return 0;
}
