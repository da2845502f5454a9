/* SPDX-License-Identifier: MIT */
/* journal: slots of this very process, written and put back through /proc/self/mem; what somebody else wrote is left alone. */
#include "injector/journal.h"
#include "arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

#define SLOTS 8

static struct hi_control *control;
static struct journal journal;
static struct memory memory;
static uint64_t *words; /* a page of "GOT" */
static remote_addr entry[HI_FUNCTION_COUNT];

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
		slot[i] = (struct slot){
			.address = (remote_addr)(uintptr_t)&words[i], .value = 1000 + i, .original = 1000 + i, .function = HI_FN_FREE, .lasting = true};
	}
	return (struct slots){.slot = slot, .count = SLOTS};
}

UNIT_TEST(writes_and_restores_read_only_pages)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(mprotect(words, 4096, PROT_READ), 0); /* RELRO */
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	CHECK_EQ(written, SLOTS);
	for (size_t i = 0; i < SLOTS; i++)
		CHECK_EQ(words[i], entry[HI_FN_FREE]);
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(restored.written, SLOTS);
	CHECK_EQ(restored.restored, SLOTS);
	for (size_t i = 0; i < SLOTS; i++)
		CHECK_EQ(words[i], 1000 + i);
}

UNIT_TEST(skips_a_slot_that_changed_since_it_was_read)
{
	size_t written;
	const struct slots slots = prepare();
	words[3] = 5;
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	CHECK_EQ(written, SLOTS - 1);
	CHECK_EQ(words[3], 5);
}

UNIT_TEST(respects_whoever_wrote_after_us)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	words[2] = 7777;
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(restored.overwritten, 1);
	CHECK_EQ(restored.restored, SLOTS - 1);
	CHECK_EQ(words[2], 7777);
}

UNIT_TEST(survives_slots_whose_library_is_gone)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	munmap(words, 4096);
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(restored.vanished, SLOTS);
}

UNIT_TEST(restores_from_a_copy_and_only_once)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	struct hi_control *copy = arena_control_new();
	memcpy(copy, control, sizeof *copy);
	CHECK_EQ(journal_restore(copy, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(restored.restored, SLOTS);
	restored = (struct journal_restored){0};
	CHECK_EQ(journal_restore(copy, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(restored.written, 0);
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_LASTING, &restored), 0); /* the dead injector's own view: nothing to do any more */
	CHECK_EQ(restored.overwritten, 0);
	arena_control_free(copy);
}

UNIT_TEST(keeps_slots_that_may_vanish_apart)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	slots.slot[1].lasting = false;
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	CHECK_EQ(written, SLOTS - 1);
	CHECK_EQ(words[1], 1001);
	CHECK(!journal_has(control, JOURNAL_PASSING));
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_PASSING, &written), 0);
	CHECK_EQ(written, 1);
	CHECK(journal_has(control, JOURNAL_PASSING));
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(words[1], entry[HI_FN_FREE]);
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_PASSING, &restored), 0);
	CHECK_EQ(words[1], 1001);
	CHECK_EQ(restored.restored, SLOTS); /* both calls together */
	CHECK(!journal_has(control, JOURNAL_PASSING));
}

UNIT_TEST(plans_before_it_writes)
{
	size_t written;
	struct journal_restored restored = {0};
	const struct slots slots = prepare();
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	control->journal[4].state = HI_JOURNAL_PLANNED; /* killed between plan and write, or right after the write */
	CHECK_EQ(journal_restore(control, &memory, JOURNAL_LASTING, &restored), 0);
	CHECK_EQ(words[4], 1004);
}

UNIT_TEST(reuses_the_entry_of_a_slot)
{
	size_t written;
	const struct slots slots = prepare();
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	words[0] = 1000; /* the lazy resolver overwrote ours */
	CHECK_EQ(journal_write(&journal, &memory, &slots, entry, JOURNAL_LASTING, &written), 0);
	CHECK_EQ(written, 1);
	CHECK_EQ(control->journal_count, SLOTS);
}

UNIT_MAIN()
