/* SPDX-License-Identifier: MIT */
/* verdict: from accounts by hand. */
#include "verdict.h"

#include <string.h>

#include "hi_runtimes.h"
#include "unit.h"

#define MB (1ull << 20)
#define SECOND_NS 1000000000ull

static struct account account_of(uint64_t at_s)
{
	struct account account = {.at_ns = at_s * SECOND_NS};

	account.heaps.count = 1;
	strcpy(account.heaps.found[0].name, "glibc 2.36");
	account.arena_count = 1;
	return account;
}

static void put(struct account *account, enum account_part part, uint64_t bytes)
{
	account->part[part].resident = account->part[part].bytes = bytes;
	account->part[part].count++;
}

static enum verdict_kind kind_of(const struct account *before, const struct account *now)
{
	const struct verdict_facts facts = {.before = before, .now = now, .steps = 5, .rising = 5};
	struct verdict verdict;

	verdict_find(&facts, &verdict);
	CHECK(*verdict.why && *verdict.remedy);
	return verdict.kind;
}

UNIT_TEST(the_largest_part_that_need_not_be_there)
{
	static const struct {
		enum account_part part;
		enum verdict_kind kind;
	} want[] = {
		{ACCOUNT_CACHED, VERDICT_CACHES},      {ACCOUNT_FREE, VERDICT_FRAGMENTATION},
		{ACCOUNT_STACKS, VERDICT_STACKS},      {ACCOUNT_SHARED, VERDICT_SHARED},
		{ACCOUNT_ANONYMOUS, VERDICT_MAPPINGS}, {ACCOUNT_FILES, VERDICT_FILES},
		{ACCOUNT_USED, VERDICT_HELD},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct account now = account_of(1);

		put(&now, ACCOUNT_USED, 20 * MB);
		put(&now, want[i].part, 80 * MB);
		CHECK_EQ(kind_of(NULL, &now), want[i].kind);
	}
}

/* It is in no verdict, neither by its size nor by its growth, and no part of what is shared out. */
UNIT_TEST(what_a_session_has_in_it_is_not_the_programs)
{
	struct account before = account_of(1), now = account_of(6);

	put(&before, ACCOUNT_USED, 20 * MB);
	put(&now, ACCOUNT_USED, 20 * MB);
	put(&before, ACCOUNT_SESSION, 10 * MB);
	put(&now, ACCOUNT_SESSION, 200 * MB);
	CHECK_EQ(kind_of(&before, &now), VERDICT_HELD);
	CHECK_EQ(kind_of(NULL, &now), VERDICT_HELD);
}

UNIT_TEST(what_a_trim_gives_back_is_retained)
{
	struct account now = account_of(1);

	put(&now, ACCOUNT_USED, 50 * MB);
	put(&now, ACCOUNT_FREE, 60 * MB);
	now.trimmable = 40 * MB;
	CHECK_EQ(kind_of(NULL, &now), VERDICT_RETENTION);
	now.trimmable = 20 * MB;
	CHECK_EQ(kind_of(NULL, &now), VERDICT_FRAGMENTATION);
}

UNIT_TEST(free_memory_in_many_arenas)
{
	struct account_arena arena[8] = {{0}};
	struct account now = account_of(1);

	put(&now, ACCOUNT_USED, 50 * MB);
	put(&now, ACCOUNT_FREE, 60 * MB);
	for (unsigned i = 1; i < 8; i++)
		arena[i].free_resident = 8 * MB;
	now.arena = arena;
	now.arena_count = 8;
	CHECK_EQ(kind_of(NULL, &now), VERDICT_ARENAS);
	/* other allocators have no such option */
	strcpy(now.heaps.found[0].name, "jemalloc 5.3");
	CHECK_EQ(kind_of(NULL, &now), VERDICT_FRAGMENTATION);
}

UNIT_TEST(zeros_in_huge_pages_go_before_the_part_that_they_are_in)
{
	struct account now = account_of(1);

	put(&now, ACCOUNT_ANONYMOUS, 100 * MB);
	now.huge = 100 * MB;
	now.huge_zero = 90 * MB;
	CHECK_EQ(kind_of(NULL, &now), VERDICT_HUGE_PAGES);
}

UNIT_TEST(what_grows_goes_before_what_is_large)
{
	struct account before = account_of(1), now = account_of(6);

	put(&before, ACCOUNT_FREE, 80 * MB);
	put(&before, ACCOUNT_USED, 20 * MB);
	put(&now, ACCOUNT_FREE, 80 * MB);
	put(&now, ACCOUNT_USED, 30 * MB);
	CHECK_EQ(kind_of(&before, &now), VERDICT_GROWS);
	now.part[ACCOUNT_USED].bytes = now.part[ACCOUNT_USED].resident = 20 * MB + 1000;
	CHECK_EQ(kind_of(&before, &now), VERDICT_FRAGMENTATION);
	put(&now, ACCOUNT_STACKS, 40 * MB);
	CHECK_EQ(kind_of(&before, &now), VERDICT_STACKS);
}

UNIT_TEST(blocks_that_come_and_go_do_not_grow)
{
	struct account before = account_of(1), now = account_of(6);
	struct verdict verdict;

	put(&before, ACCOUNT_USED, 20 * MB);
	put(&now, ACCOUNT_USED, 25 * MB);
	verdict_find(
		&(struct verdict_facts){
			.before = &before, .now = &now, .steps = 6, .rising = 4, .falling = 2},
		&verdict);
	CHECK_EQ(verdict.kind, VERDICT_HELD);
	verdict_find(
		&(struct verdict_facts){
			.before = &before, .now = &now, .steps = 6, .rising = 5, .falling = 1},
		&verdict);
	CHECK_EQ(verdict.kind, VERDICT_GROWS);
}

UNIT_TEST(large_blocks_that_come_one_at_a_time_grow)
{
	struct account before = account_of(1), now = account_of(6);
	struct verdict verdict;

	put(&before, ACCOUNT_USED, 20 * MB);
	put(&now, ACCOUNT_USED, 25 * MB);
	verdict_find(
		&(struct verdict_facts){.before = &before, .now = &now, .steps = 6, .rising = 3},
		&verdict);
	CHECK_EQ(verdict.kind, VERDICT_GROWS);
	verdict_find(
		&(struct verdict_facts){.before = &before, .now = &now, .steps = 6, .rising = 2},
		&verdict);
	CHECK_EQ(verdict.kind, VERDICT_HELD);
}

UNIT_TEST(a_limit_that_is_too_low)
{
	struct account before = account_of(1), now = account_of(6);
	struct verdict verdict;
	struct verdict_facts facts = {.before = &before, .now = &now, .limit = 100 * MB};

	put(&before, ACCOUNT_USED, 95 * MB);
	put(&now, ACCOUNT_USED, 95 * MB);
	verdict_find(&facts, &verdict);
	CHECK_EQ(verdict.kind, VERDICT_LIMIT);
	facts.limit = 1000 * MB;
	verdict_find(&facts, &verdict);
	CHECK_EQ(verdict.kind, VERDICT_HELD);
}

UNIT_TEST(mappings_may_be_of_an_allocator_that_was_not_read)
{
	struct account now = account_of(1);

	put(&now, ACCOUNT_ANONYMOUS, 100 * MB);
	strcpy(now.heaps.found[0].refusal, "its layout is not known");
	CHECK_EQ(kind_of(NULL, &now), VERDICT_UNKNOWN);
}

UNIT_TEST(mappings_of_a_runtime_are_named)
{
	struct account now = account_of(1);
	struct verdict verdict;

	put(&now, ACCOUNT_ANONYMOUS, 100 * MB);
	now.runtimes = 1u << HI_RUNTIME_JVM;
	verdict_find(&(struct verdict_facts){.now = &now}, &verdict);
	CHECK_EQ(verdict.kind, VERDICT_MAPPINGS);
	CHECK(strstr(verdict.why, "the Java heap") != NULL);
	CHECK(strstr(verdict.remedy, "jcmd") != NULL);
}

UNIT_TEST(no_part_stands_out)
{
	struct account now = account_of(1);

	CHECK_EQ(kind_of(NULL, &now), VERDICT_UNKNOWN);
	put(&now, ACCOUNT_USED, 25 * MB);
	put(&now, ACCOUNT_SHARED, 25 * MB);
	put(&now, ACCOUNT_ANONYMOUS, 25 * MB);
	put(&now, ACCOUNT_STACKS, 25 * MB);
	CHECK_EQ(kind_of(NULL, &now), VERDICT_UNKNOWN);
}

UNIT_TEST(every_kind_has_a_name)
{
	for (unsigned i = 0; i < VERDICT_KINDS; i++)
		CHECK(verdict_name((enum verdict_kind)i) != NULL);
}

UNIT_MAIN()
