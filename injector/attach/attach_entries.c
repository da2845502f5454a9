/* SPDX-License-Identifier: MIT */
/* attach_entries.c - see attach_entries.h. */
#include "attach_entries.h"

#include <errno.h>
#include <string.h>

#include "code_swap.h"
#include "entries_find.h"
#include "entries_keep.h"
#include "journal.h"
#include "mapping_functions.h"
#include "nesting.h"

#define BORROW_DEADLINE_MS 5000

/* ---- which ----------------------------------------------------------------------------------- */

/* Does the process have locked pages? Duplicating their mapping would unlock them. */
static bool has_locked_memory(const struct attachment *attachment)
{
	struct proc_status status;
	return proc_status_read(attachment->pid, attachment->tid, &status) || status.locked_bytes;
}

int attach_entries_settle(struct attachment *attachment, enum hi_hook hook)
{
	if (hook == HI_HOOK_SLOT && mapping_functions_are_hooked(&attachment->allocators)) {
		attachment->step = "hooking the functions that map memory at their entry";
		return -ENXIO;
	}
	mapping_functions_settle(&attachment->allocators, &attachment->entries);
	if (attachment->named) {
		attachment->step = "hooking the functions that are named at their entry";
		const int err = named_functions_check(&attachment->allocators, &attachment->entries,
						      attachment->named, attachment->named_problem);
		if (err)
			return err;
	}
	attachment->by_slot = attachment->allocators.allocator[0];
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (entries_have(&attachment->entries, function))
			attachment->by_slot.original[function] = 0;
	if (hook != HI_HOOK_ENTRY || !attachment_needs_slots(attachment))
		return 0;
	attachment->step = "hooking all functions at their entry";
	return -EADDRNOTAVAIL;
}

int attach_entries_choose(struct attachment *attachment, enum hi_hook hook)
{
	int err = 0;
	entries_clear(&attachment->entries);
	if (hook != HI_HOOK_SLOT && !has_locked_memory(attachment))
		err = entries_find(&attachment->images, &attachment->maps, &attachment->memory,
				   &attachment->allocators, &attachment->entries);
	if (!err)
		err = nesting_find(&attachment->images, &attachment->allocators,
				   &attachment->entries);
	const int settled = attach_entries_settle(attachment, hook);
	return err ? err : settled;
}

/* ---- where ----------------------------------------------------------------------------------- */

/* Sets *out_dropped: some functions are left to slots, or not hooked. */
static bool find_ranges(struct attachment *attachment, struct hi_control *layout, bool *out_dropped)
{
	struct code_ranges ranges;

	*out_dropped = entries_keep(&attachment->allocators, &attachment->maps,
				    &attachment->entries, &ranges);
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX && ranges.range[i].mapping; i++)
		if (code_swap_add(layout, ranges.range[i].lo, ranges.range[i].hi))
			return false;
	return code_swap_look(layout, &attachment->memory, &attachment->images) == CODE_ORIGINAL;
}

int attach_entries_plan(struct attachment *attachment, enum hi_hook hook, struct hi_control *layout)
{
	bool has_dropped;
	int err = 0;
	const bool is_found = find_ranges(attachment, layout, &has_dropped);
	if (is_found && !has_dropped)
		return 0;
	if (!is_found) {
		memset(layout->code, 0, sizeof(layout->code));
		entries_drop_all(&attachment->entries);
	}
	err = nesting_find(&attachment->images, &attachment->allocators, &attachment->entries);
	const int settled = attach_entries_settle(attachment, hook);
	return err ? err : settled;
}

/* ---- the jumps ------------------------------------------------------------------------------- */

/* Two functions may lie so close together that they share a word. */
static int write_word(const struct attachment *attachment, const struct entry_word *word)
{
	const remote_addr staged = code_swap_staged(attachment->control, word->at);
	uint64_t old_value = word->old_value, new_value = word->new_value;
	if (!staged)
		return -ERANGE;
	if (journal_code_at(attachment->control, word->at, &old_value, &new_value))
		for (size_t i = 0; i < sizeof(new_value); i++) {
			const uint64_t byte = 0xffull << 8 * i;
			if ((word->new_value ^ word->old_value) & byte)
				new_value = (new_value & ~byte) | (word->new_value & byte);
		}
	const int err = journal_plan_code(attachment->control, word->at, old_value, new_value);
	return err ? err : memory_write_u64(&attachment->memory, staged, new_value);
}

/* Writes the jumps into the duplicate, which no thread executes yet. */
static int write_words(struct attachment *attachment)
{
	struct entry_word words[ENTRY_WORDS_MAX];
	int err = 0;
	for (unsigned hook = 0; hook < HOOKS_MAX && !err; hook++) {
		const struct entry *entry = &attachment->entries.entry[hook];
		size_t count = 0;
		if (!entry->at)
			continue;
		if (!attachment->entry[hook]) /* a jump to nowhere would end the target */
			return -ERANGE;
		err = entry_words(entry, attachment->entry[hook], &attachment->memory, words,
				  &count);
		for (size_t i = 0; i < count && !err; i++)
			err = write_word(attachment, &words[i]);
	}
	attachment->control->code_functions = (uint32_t)entries_count(&attachment->entries);
	return err;
}

static int swap_in(void *context)
{
	struct attachment *attachment = context;
	struct remote remote;
	int err = remote_open(&remote, attachment->pid, &attachment->memory, &attachment->gadgets,
			      BORROW_DEADLINE_MS);
	if (err)
		return err;
	err = code_swap_in(attachment->control, &remote);
	const int closed = remote_close(&remote);
	if (remote.stopped_ns > attachment->attach_stop_ns)
		attachment->attach_stop_ns = remote.stopped_ns;
	return err ? err : closed;
}

int attach_entries_write(struct attachment *attachment)
{
	if (!entries_count(&attachment->entries))
		return 0;
	int err = write_words(attachment);
	if (!err)
		err = attachment_store(attachment);
	if (!err)
		err = tracee_worker(swap_in, attachment);
	if (err)
		return err;
	attachment->entries_written = entries_count(&attachment->entries);
	return 0;
}

/* ---- probes ---------------------------------------------------------------------------------- */

/*
 * A debugger that removes its breakpoint writes back the byte that it found, which is our jump's.
 * So a breakpoint is no concern as long as a debugger traces the process.
 */
static bool is_traced(const struct attachment *attachment)
{
	struct proc_status status;
	return proc_status_read(attachment->pid, attachment->tid, &status) || status.tracer;
}

static bool has_breakpoint(const struct attachment *attachment, const struct entry *entry)
{
	uint8_t first;
	return !memory_read(&attachment->memory, entry->jump_at, &first, sizeof(first)) &&
	       arch_is_breakpoint(first);
}

/* The first byte of our jump. */
static uint8_t jump_byte(const struct attachment *attachment, const struct entry *entry)
{
	const remote_addr in_word = entry->jump_at % sizeof(uint64_t);
	uint64_t old_value, new_value;
	if (!journal_code_at(attachment->control, entry->jump_at - in_word, &old_value, &new_value))
		return *entry_replaced(entry);
	return (uint8_t)(new_value >> 8 * in_word);
}

/*
 * A debugger's breakpoint is gone when the debugger is. So once no tracer is seen, the breakpoint
 * is looked for again. What is no jump of ours is looked at in each round, as what it means depends
 * on who traces the process.
 */
static bool yield(struct attachment *attachment, const struct entry *entry)
{
	const uint8_t jump = jump_byte(attachment, entry);
	uint8_t first;
	if (look_read(&attachment->look, &attachment->memory, entry->jump_at, &first,
		      sizeof(first)) ||
	    first == jump)
		return false;
	look_spoil(&attachment->look);
	if (first != *entry_replaced(entry) &&
	    (!arch_is_breakpoint(first) || is_traced(attachment) ||
	     !has_breakpoint(attachment, entry)))
		return false;
	return entry->size == 1 || !memory_write(&attachment->memory, entry->jump_at + 1,
						 entry_replaced(entry) + 1, entry->size - 1);
}

bool attach_entries_yield(struct attachment *attachment)
{
	bool has_yielded = false;
	if (!attachment->entries_written || attachment->is_unchanged)
		return false;
	for (unsigned hook = 0; hook < HOOKS_MAX; hook++)
		has_yielded |= attachment->entries.entry[hook].at &&
			       yield(attachment, &attachment->entries.entry[hook]);
	return has_yielded;
}
