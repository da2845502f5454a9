/* SPDX-License-Identifier: MIT */
/* journal.c - see journal.h. */
#include "journal.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t journal_used(const struct hi_control *control)
{
	return control->journal_count < HI_JOURNAL_CAPACITY ? control->journal_count
							    : HI_JOURNAL_CAPACITY;
}

/*
 * Finds an entry for this slot: its earlier one (of a slot that was overwritten, or of a library
 * mapped at the same place again), a new one, or a retired one.
 */
static struct hi_journal_entry *entry_for(struct hi_control *control, remote_addr slot)
{
	struct hi_journal_entry *retired = NULL;
	const uint32_t used = journal_used(control);
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		if (entry->slot == slot)
			return entry;
		if (entry->state == HI_JOURNAL_RESTORED)
			retired = entry;
	}
	if (used < HI_JOURNAL_CAPACITY) {
		control->journal_count = used + 1;
		return &control->journal[used];
	}
	return retired;
}

static void set_state(const struct journal *journal, struct hi_journal_entry *entry,
		      enum hi_journal_state state)
{
	entry->state = state;
	__atomic_store_n(&journal->shared->journal[entry - journal->own->journal].state, state,
			 __ATOMIC_RELEASE);
}

static void plan_entry(const struct journal *journal, struct hi_journal_entry *entry,
		       const struct hi_journal_entry *planned)
{
	/*
	 * FREE first: if the injector dies in the middle, a reader must not trust a half-written
	 * entry.
	 */
	set_state(journal, entry, HI_JOURNAL_FREE);
	*entry = *planned;
	journal->shared->journal[entry - journal->own->journal] = *entry;
	__atomic_store_n(&journal->shared->journal_count, journal->own->journal_count,
			 __ATOMIC_RELEASE);
	set_state(journal, entry, HI_JOURNAL_PLANNED);
}

/* Changes, and their journal entries. */
struct changes {
	struct word_patch *change;
	struct hi_journal_entry **entry;
	size_t count;
};

static void changes_close(struct changes *changes)
{
	free(changes->change);
	free(changes->entry);
}

static int changes_open(struct changes *changes, size_t room)
{
	*changes = (struct changes){.change = calloc(room + 1, sizeof(*changes->change)),
				    .entry = calloc(room + 1, sizeof(struct hi_journal_entry *))};
	if (changes->change && changes->entry)
		return 0;
	changes_close(changes);
	return -ENOMEM;
}

/* Records a change in the journal, and adds it to the list, which has room. */
static int plan_change(const struct journal *journal, const struct hi_journal_entry *planned,
		       struct changes *changes)
{
	struct hi_journal_entry *entry = entry_for(journal->own, planned->slot);
	if (!entry)
		return -ENOSPC;
	changes->change[changes->count] = (struct word_patch){.at = planned->slot,
							      .expected = planned->old_value,
							      .value = planned->new_value,
							      .read_only = planned->read_only};
	changes->entry[changes->count++] = entry;
	plan_entry(journal, entry, planned);
	return 0;
}

static int plan_slots(const struct journal *journal, const struct journal_plan *plan,
		      struct changes *changes)
{
	int err = 0;
	for (size_t i = 0; i < plan->slots->count && !err; i++) {
		const struct slot *slot = &plan->slots->slot[i];
		const struct mapping *mapping = maps_find(plan->maps, slot->address);
		uint64_t now;
		if (slot->pinned != (plan->which == JOURNAL_PINNED) ||
		    !plan->entry[slot->function] ||
		    memory_read_u64(plan->memory, slot->address, &now) || now != slot->value)
			continue;
		err = plan_change(
			journal,
			&(struct hi_journal_entry){
				.slot = slot->address,
				.old_value = slot->value,
				.new_value = plan->entry[slot->function],
				.original = slot->original,
				.function = (uint16_t)slot->function,
				.kind = slot->pinned ? HI_JOURNAL_PINNED : HI_JOURNAL_UNLOADABLE,
				.read_only = mapping && !mapping->writable,
			},
			changes);
	}
	return err;
}

/* Tries all planned changes, and records the outcomes. */
static int make_changes(const struct journal *journal, const struct patcher *patcher,
			struct changes *changes, size_t *written)
{
	const int err = patch_words(patcher, changes->change, changes->count);
	for (size_t i = 0; i < changes->count; i++) {
		const enum patch_state state = changes->change[i].state;
		if (state == PATCH_PENDING) /* outcome unknown: stays planned */
			continue;
		set_state(journal, changes->entry[i],
			  state == PATCH_DONE ? HI_JOURNAL_WRITTEN : HI_JOURNAL_RESTORED);
		*written += state == PATCH_DONE;
	}
	return err;
}

int journal_write(const struct journal *journal, const struct journal_plan *plan,
		  const struct patcher *patcher, size_t *written)
{
	struct changes changes;
	int err = changes_open(&changes, plan->slots->count);
	if (err)
		return err;
	const int planned = plan_slots(journal, plan, &changes);
	err = make_changes(journal, patcher, &changes, written);
	changes_close(&changes);
	return err ? err : planned;
}

int journal_plan_code(struct hi_control *control, remote_addr at, uint64_t old_value,
		      uint64_t new_value)
{
	uint32_t i = 0;
	while (i < control->code_word_count && control->code_word[i].at != at)
		i++;
	if (i == HI_CODE_WORDS_MAX)
		return -ENOSPC;
	control->code_word[i] = (struct hi_code_word){at, old_value, new_value};
	control->code_word_count += i == control->code_word_count;
	return 0;
}

bool journal_code_at(const struct hi_control *control, remote_addr at, uint64_t *out_old_value,
		     uint64_t *out_new_value)
{
	for (uint32_t i = 0; i < control->code_word_count; i++) {
		if (control->code_word[i].at != at)
			continue;
		*out_old_value = control->code_word[i].old_value;
		*out_new_value = control->code_word[i].new_value;
		return true;
	}
	return false;
}

void journal_retire(const struct journal *journal, const struct memory *memory,
		    const struct elf_images *images)
{
	const uint32_t used = journal_used(journal->own);
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &journal->own->journal[i];
		uint64_t now = 0;
		if (entry->kind > HI_JOURNAL_PINNED || elf_images_find(images, entry->slot))
			continue;
		if (memory_read_u64(memory, entry->slot, &now) || now != entry->new_value)
			set_state(journal, entry, HI_JOURNAL_RESTORED);
	}
}

static bool is_to_restore(const struct hi_journal_entry *entry, enum journal_kind which)
{
	return (entry->state == HI_JOURNAL_PLANNED || entry->state == HI_JOURNAL_WRITTEN) &&
	       entry->kind == (uint8_t)which;
}

size_t journal_left(const struct hi_control *control, enum journal_kind which)
{
	const uint32_t used = journal_used(control);
	size_t left = 0;
	for (uint32_t i = 0; i < used; i++)
		left += is_to_restore(&control->journal[i], which);
	return left;
}

static void note_restored(struct hi_journal_entry *entry, const struct word_patch *change,
			  struct journal_restored *result)
{
	if (change->state == PATCH_PENDING)
		return;
	entry->state = HI_JOURNAL_RESTORED;
	if (change->state == PATCH_GONE)
		result->vanished++;
	else if (change->state == PATCH_DONE || change->expected == entry->old_value)
		result->restored++;
	else
		result->overwritten++;
}

int journal_restore(struct hi_control *control, const struct patcher *patcher,
		    enum journal_kind which, struct journal_restored *result)
{
	const uint32_t used = journal_used(control);
	struct changes changes;
	int err = changes_open(&changes, used);
	if (err)
		return err;
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		if (!is_to_restore(entry, which))
			continue;
		changes.change[changes.count] = (struct word_patch){.at = entry->slot,
								    .expected = entry->new_value,
								    .value = entry->old_value,
								    .read_only = entry->read_only};
		changes.entry[changes.count++] = entry;
	}
	err = patch_words(patcher, changes.change, changes.count);
	for (size_t i = 0; i < changes.count; i++)
		note_restored(changes.entry[i], &changes.change[i], result);
	changes_close(&changes);
	return err;
}
