/* SPDX-License-Identifier: MIT */
/* journal.c - see journal.h. */
#include "journal.h"

#include <errno.h>

static uint32_t journal_used(const struct hi_control *control)
{
	return control->journal_count < HI_JOURNAL_CAPACITY ? control->journal_count : HI_JOURNAL_CAPACITY;
}

/* An entry for this slot: its own from before (a slot that was overwritten, or a library mapped at the same place again), a retired one, or a new one. */
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

static void set_state(const struct journal *journal, struct hi_journal_entry *entry, enum hi_journal_state state)
{
	entry->state = state;
	__atomic_store_n(&journal->shared->journal[entry - journal->own->journal].state, state, __ATOMIC_RELEASE);
}

static void plan(const struct journal *journal, struct hi_journal_entry *entry, const struct slot *slot, remote_addr gate_entry)
{
	/* FREE first: a reader who finds us dead in the middle must not trust a half-written entry. */
	set_state(journal, entry, HI_JOURNAL_FREE);
	*entry = (struct hi_journal_entry){
		.slot = slot->address,
		.old_value = slot->value,
		.new_value = gate_entry,
		.original = slot->original,
		.function = (uint16_t)slot->function,
		.lasting = slot->lasting,
	};
	journal->shared->journal[entry - journal->own->journal] = *entry;
	__atomic_store_n(&journal->shared->journal_count, journal->own->journal_count, __ATOMIC_RELEASE);
	set_state(journal, entry, HI_JOURNAL_PLANNED);
}

int journal_write(const struct journal *journal, const struct memory *memory, const struct slots *slots, const remote_addr entry[HI_FUNCTION_COUNT],
		  enum journal_slots which, size_t *out_written)
{
	size_t written = 0;
	int err = 0;
	for (size_t i = 0; i < slots->count && !err; i++) {
		const struct slot *slot = &slots->slot[i];
		uint64_t now;
		if (slot->lasting != (which == JOURNAL_LASTING) || !entry[slot->function] || memory_read_u64(memory, slot->address, &now) || now != slot->value)
			continue;
		struct hi_journal_entry *record = entry_for(journal->own, slot->address);
		if (!record) {
			err = -ENOSPC;
			break;
		}
		plan(journal, record, slot, entry[slot->function]);
		err = memory_write_u64(memory, slot->address, entry[slot->function]);
		if (err == -EFAULT) /* the library went away since */
			err = 0;
		else if (!err) {
			set_state(journal, record, HI_JOURNAL_WRITTEN);
			written++;
		}
	}
	*out_written = written;
	return err;
}

void journal_retire(const struct journal *journal, const struct memory *memory, const struct elf_images *images)
{
	const uint32_t used = journal_used(journal->own);
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &journal->own->journal[i];
		uint64_t now = 0;
		if (elf_images_find(images, entry->slot))
			continue;
		if (memory_read_u64(memory, entry->slot, &now) || now != entry->new_value)
			set_state(journal, entry, HI_JOURNAL_RESTORED);
	}
}

static int restore_one(struct hi_journal_entry *entry, const struct memory *memory, struct journal_restored *result)
{
	uint64_t now;
	int err = memory_read_u64(memory, entry->slot, &now);
	if (!err && now == entry->new_value) {
		err = memory_write_u64(memory, entry->slot, entry->old_value);
		result->restored += !err;
	} else if (!err && now == entry->old_value) {
		result->restored++;
	} else if (!err) {
		result->overwritten++;
	}
	if (err == -EFAULT) {
		result->vanished++;
		err = 0;
	}
	if (!err)
		entry->state = HI_JOURNAL_RESTORED;
	return err;
}

static bool is_to_restore(const struct hi_journal_entry *entry, enum journal_slots which)
{
	return (entry->state == HI_JOURNAL_PLANNED || entry->state == HI_JOURNAL_WRITTEN) && (entry->lasting != 0) == (which == JOURNAL_LASTING);
}

bool journal_has(const struct hi_control *control, enum journal_slots which)
{
	const uint32_t used = journal_used(control);
	for (uint32_t i = 0; i < used; i++)
		if (is_to_restore(&control->journal[i], which))
			return true;
	return false;
}

int journal_restore(struct hi_control *control, const struct memory *memory, enum journal_slots which, struct journal_restored *result)
{
	int first = 0;
	const uint32_t used = journal_used(control);
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		if (!is_to_restore(entry, which))
			continue;
		result->written++;
		int err = restore_one(entry, memory, result);
		if (err && !first)
			first = err;
	}
	return first;
}
