/* SPDX-License-Identifier: MIT */
/*
 * frozen_test.c - copies of a child whose threads write: what they wrote at the same time is the
 * same in the copy, and nobody is held for longer than the bound.
 */
#include "frozen.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "hold_register.h"
#include "victim.h"

#define SECOND_NS 1000000000ull
#define WORDS (1u << 20) /* 8 MB */

static volatile uint64_t *words;

/* The first word is written before the last one, and the two are far from each other. */
static void count_up(struct victim_page *page)
{
	words = mmap(NULL, WORDS * sizeof(*words), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset((void *)(uintptr_t)words, 1, WORDS * sizeof(*words));
	page->word[0] = (uintptr_t)words;
	for (uint64_t i = 0;; i++) {
		words[0] = i;
		words[WORDS - 1] = i;
		page->ready = 1;
	}
}

static const struct frozen_want want = {.bound_ns = 5 * SECOND_NS, .registers = true};

/* On a machine that is short of CPUs not the first attempt comes about. */
static void take(const struct victim *victim, struct frozen *frozen)
{
	int err = -EBUSY;

	for (int i = 0; i < 10 && err == -EBUSY; i++)
		err = frozen_take(&victim->memory, &want, frozen);
	CHECK_EQ(err, 0);
}

UNIT_TEST(what_is_copied_is_of_one_moment)
{
	struct frozen frozen = {0};
	struct victim victim;

	victim_start(&victim, count_up);
	for (unsigned i = 1; i <= 20; i++) {
		uint64_t first, last;
		struct memory memory = victim.memory;
		const remote_addr at = victim.page->word[0];

		take(&victim, &frozen);
		memory.copy = &frozen.copy;
		CHECK_EQ(memory_read_u64(&memory, at, &first), 0);
		CHECK_EQ(memory_read_u64(&memory, at + (WORDS - 1) * 8, &last), 0);
		CHECK(first == last || first == last + 1);
		CHECK(frozen.copy.threads == 1 && frozen.copy.thread[0].tid == victim.pid);
		CHECK(frozen.held_times >= i && frozen.held_ns && !frozen.why[0]);
	}
	frozen_close(&frozen);
	victim_end(&victim);
}

static void hold_in_register(struct victim_page *page)
{
	page->ready = 1;
	HOLD_FOREVER(0x1234567890abcdefull);
}

UNIT_TEST(registers_are_a_mapping)
{
	struct frozen frozen = {0};
	struct victim victim;
	bool is_there = false;
	struct maps maps;

	victim_start(&victim, hold_in_register);
	victim_pause_us(10000);
	struct memory memory = victim.memory;
	take(&victim, &frozen);
	memory.copy = &frozen.copy;
	CHECK_EQ(maps_of(&memory, &maps), 0);
	const struct mapping *mapping = maps_find(&maps, MEMORY_COPY_REGISTERS);
	CHECK(mapping && !strcmp(mapping->path, MEMORY_COPY_REGISTERS_NAME));
	for (remote_addr at = mapping->lo; at < mapping->hi; at += 8) {
		uint64_t word;

		CHECK_EQ(memory_read_u64(&memory, at, &word), 0);
		is_there |= word == 0x1234567890abcdefull;
	}
	CHECK(is_there);
	for (size_t i = 1; i < frozen.copy.count; i++)
		CHECK(frozen.copy.run[i - 1].hi <= frozen.copy.run[i].lo);
	maps_close(&maps);
	frozen_close(&frozen);
	victim_end(&victim);
}

static void have_much(struct victim_page *page)
{
	const size_t size = 256u << 20;
	char *much = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(much, 1, size);
	for (page->ready = 1;; page->progress++)
		;
}

/* So much is not copied in ten milliseconds. */
UNIT_TEST(when_the_bound_is_over_it_is_let_go_and_why_is_said)
{
	const struct frozen_want soon = {.bound_ns = FROZEN_BOUND_NS_MIN};
	struct frozen frozen = {0};
	struct victim victim;

	victim_start(&victim, have_much);
	const int err = frozen_take(&victim.memory, &soon, &frozen);
	CHECK(err == -ETIME || err == -EBUSY);
	CHECK(err == -EBUSY || strstr(frozen.why, "--freeze"));
	const uint64_t before = victim.page->progress;
	WAIT_FOR(victim.page->progress > before);
	frozen_close(&frozen);
	victim_end(&victim);
}

UNIT_TEST(a_process_that_is_gone_is_an_error_code)
{
	struct frozen frozen = {0};
	struct victim victim;

	victim_start(&victim, have_much);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
	CHECK_EQ(frozen_take(&victim.memory, &want, &frozen), -ESRCH);
	CHECK(!frozen.why[0]);
	frozen_close(&frozen);
	victim_forget(&victim);
}

UNIT_MAIN()
