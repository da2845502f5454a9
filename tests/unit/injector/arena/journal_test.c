/* SPDX-License-Identifier: MIT */
/*
 * journal: slots of this very process, written and put back through /proc/self/mem; what somebody
 * else wrote is left alone.
 */
#include "journal.h"
#include "arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

#define SLOTS 8

static struct hi_control *control;
static struct journal journal;
static struct memory memory;
static uint64_t *words; /* a page of "GOT" */
static remote_addr entry[HOOKS_MAX];

static struct slots prepare(void)
{
	static struct slot slot[SLOTS];
	control = arena_control_new();
	journal = (struct journal){.own = control, .shared = arena_control_new()};
	words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_EQ(memory_open(&memory, getpid(), getpid()), 0);
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++)
		entry[i] = 0xabc000 + i * HI_GATE_STRIDE;
	for (size_t i = 0; i < SLOTS; i++) {
		words[i] = 1000 + i;
		slot[i] = (struct slot){.address = (remote_addr)(uintptr_t)&words[i],
					.value = 1000 + i,
					.original = 1000 + i,
					.function = HI_FN_FREE,
					.pinned = true};
	}
	return (struct slots){.slot = slot, .count = SLOTS};
}

static int write_slots(const struct slots *slots, enum journal_kind which, size_t *written)
{
	const struct patcher patcher = patcher_for_stopped(&memory);
	struct maps maps;
	CHECK_EQ(maps_read(getpid(), getpid(), &maps), 0);
	const struct journal_plan plan = {
		.slots = slots, .entry = entry, .memory = &memory, .maps = &maps, .which = which};
	*written = 0;
	const int err = journal_write(&journal, &plan, &patcher, written);
	maps_close(&maps);
	return err;
}

static int restore_slots(struct hi_control *from, enum journal_kind which,
			 struct journal_restored *result)
{
	const struct patcher patcher = patcher_for_stopped(&memory);
	return journal_restore(from, &patcher, which, result);
}

UNIT_TEST(writes_and_restores_read_only_pages)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(mprotect(words, 4096, PROT_READ), 0); /* RELRO */
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	CHECK_EQ(written, SLOTS);
	for (size_t i = 0; i < SLOTS; i++) {
		CHECK_EQ(words[i], entry[HI_FN_FREE]);
		CHECK_EQ(control->journal[i].read_only, 1);
	}
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.restored, SLOTS);
	for (size_t i = 0; i < SLOTS; i++)
		CHECK_EQ(words[i], 1000 + i);
}

UNIT_TEST(skips_a_slot_that_changed_since_it_was_read)
{
	size_t written;
	const struct slots slots = prepare();
	words[3] = 5;
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	CHECK_EQ(written, SLOTS - 1);
	CHECK_EQ(words[3], 5);
}

UNIT_TEST(respects_what_was_written_after_us)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	words[2] = 7777;
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.overwritten, 1);
	CHECK_EQ(restored.restored, SLOTS - 1);
	CHECK_EQ(words[2], 7777);
}

UNIT_TEST(survives_slots_whose_library_is_gone)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	munmap(words, 4096);
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.vanished, SLOTS);
}

UNIT_TEST(restores_from_a_copy_and_only_once)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	struct hi_control *copy = arena_control_new();
	memcpy(copy, control, sizeof(*copy));
	CHECK_EQ(restore_slots(copy, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.restored, SLOTS);
	restored = (struct journal_restored){0};
	CHECK_EQ(restore_slots(copy, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.restored + restored.overwritten + restored.vanished, 0);
	/* the dead injector's own view: nothing to do any more */
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.overwritten, 0);
	arena_control_free(copy);
}

UNIT_TEST(keeps_slots_that_may_vanish_apart)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	slots.slot[1].pinned = false;
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	CHECK_EQ(written, SLOTS - 1);
	CHECK_EQ(words[1], 1001);
	CHECK(!journal_left(control, JOURNAL_UNLOADABLE));
	CHECK_EQ(write_slots(&slots, JOURNAL_UNLOADABLE, &written), 0);
	CHECK_EQ(written, 1);
	CHECK_EQ(journal_left(control, JOURNAL_UNLOADABLE), 1);
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(words[1], entry[HI_FN_FREE]);
	CHECK_EQ(restore_slots(control, JOURNAL_UNLOADABLE, &restored), 0);
	CHECK_EQ(words[1], 1001);
	CHECK_EQ(restored.restored, SLOTS); /* both calls together */
	CHECK(!journal_left(control, JOURNAL_UNLOADABLE));
}

UNIT_TEST(plans_before_it_writes)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	/* killed between plan and write, or right after the write */
	control->journal[4].state = HI_JOURNAL_PLANNED;
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(words[4], 1004);
}

/* A patcher that fails after some of the words, as where the borrowed thread is lost. */
static int change_three(void *context, struct word_patch *change, size_t count)
{
	const struct patcher all = patcher_for_stopped(context);
	CHECK(count > 3);
	CHECK_EQ(patch_words(&all, change, 3), 0);
	return -EAGAIN;
}

UNIT_TEST(a_call_that_failed_may_be_repeated)
{
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	const struct patcher some = {.change = change_three, .context = &memory};
	struct maps maps;
	size_t written = 0, more;
	CHECK_EQ(maps_read(getpid(), getpid(), &maps), 0);
	const struct journal_plan plan = {.slots = &slots,
					  .entry = entry,
					  .memory = &memory,
					  .maps = &maps,
					  .which = JOURNAL_PINNED};
	CHECK_EQ(journal_write(&journal, &plan, &some, &written), -EAGAIN);
	CHECK_EQ(written, 3);
	/* also those of which nobody knows */
	CHECK_EQ(journal_left(control, JOURNAL_PINNED), SLOTS);
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &more), 0);
	CHECK_EQ(more, SLOTS - 3);
	CHECK_EQ(journal_left(control, JOURNAL_PINNED), SLOTS);
	CHECK_EQ(journal_restore(control, &some, JOURNAL_PINNED, &restored), -EAGAIN);
	CHECK_EQ(restored.restored, 3);
	CHECK_EQ(restore_slots(control, JOURNAL_PINNED, &restored), 0);
	CHECK_EQ(restored.restored, SLOTS);
	for (size_t i = 0; i < SLOTS; i++)
		CHECK_EQ(words[i], 1000 + i);
	maps_close(&maps);
}

UNIT_TEST(reuses_the_entry_of_a_slot)
{
	size_t written;
	const struct slots slots = prepare();
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	words[0] = 1000; /* the lazy resolver overwrote ours */
	CHECK_EQ(write_slots(&slots, JOURNAL_PINNED, &written), 0);
	CHECK_EQ(written, 1);
	CHECK_EQ(control->journal_count, SLOTS);
}

UNIT_MAIN()

/* Two functions that begin within eight bytes of each other. */
UNIT_TEST(functions_that_share_a_word_have_one_entry)
{
	(void)prepare();
	uint64_t old_value, new_value;

	CHECK_EQ(journal_plan_code(control, 0x1000, 1, 2), 0);
	CHECK_EQ(journal_plan_code(control, 0x1000, 1, 3), 0);
	CHECK_EQ(control->code_word_count, 1);
	CHECK(journal_code_at(control, 0x1000, &old_value, &new_value));
	CHECK(old_value == 1 && new_value == 3);
	CHECK(!journal_code_at(control, 0x1008, &old_value, &new_value));
}
