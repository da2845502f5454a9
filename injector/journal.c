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

static void plan(struct hi_journal_entry *entry, const struct slot *slot, remote_addr gate_entry)
{
	/* FREE first: a reader who finds us dead in the middle must not trust a half-written entry. */
	__atomic_store_n(&entry->state, HI_JOURNAL_FREE, __ATOMIC_RELEASE);
	entry->slot = slot->address;
	entry->old_value = slot->value;
	entry->new_value = gate_entry;
	entry->original = slot->original;
	entry->function = (uint32_t)slot->function;
	__atomic_store_n(&entry->state, HI_JOURNAL_PLANNED, __ATOMIC_RELEASE);
}

int journal_write(struct hi_control *control, const struct memory *memory, const struct slots *slots, const remote_addr entry[HI_FUNCTION_COUNT],
		  size_t *out_written)
{
	size_t written = 0;
	int err = 0;
	for (size_t i = 0; i < slots->count && !err; i++) {
		const struct slot *slot = &slots->slot[i];
		uint64_t now;
		if (!entry[slot->function] || memory_read_u64(memory, slot->address, &now) || now != slot->value)
			continue;
		struct hi_journal_entry *record = entry_for(control, slot->address);
		if (!record) {
			err = -ENOSPC;
			break;
		}
		plan(record, slot, entry[slot->function]);
		err = memory_write_u64(memory, slot->address, entry[slot->function]);
		if (err == -EFAULT) /* the library went away since */
			err = 0;
		else if (!err) {
			__atomic_store_n(&record->state, HI_JOURNAL_WRITTEN, __ATOMIC_RELEASE);
			written++;
		}
	}
	*out_written = written;
	return err;
}

void journal_retire(struct hi_control *control, const struct memory *memory, const struct elf_images *images)
{
	const uint32_t used = journal_used(control);
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		uint64_t now = 0;
		if (elf_images_find(images, entry->slot))
			continue;
		if (memory_read_u64(memory, entry->slot, &now) || now != entry->new_value)
			entry->state = HI_JOURNAL_RESTORED;
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

int journal_restore(struct hi_control *control, const struct memory *memory, struct journal_restored *out_result)
{
	struct journal_restored result = {0};
	int first = 0;
	const uint32_t used = journal_used(control);
	for (uint32_t i = 0; i < used; i++) {
		struct hi_journal_entry *entry = &control->journal[i];
		if (entry->state != HI_JOURNAL_PLANNED && entry->state != HI_JOURNAL_WRITTEN)
			continue;
		result.written++;
		int err = restore_one(entry, memory, &result);
		if (err && !first)
			first = err;
	}
	*out_result = result;
	return first;
}
