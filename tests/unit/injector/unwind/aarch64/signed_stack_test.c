/* SPDX-License-Identifier: MIT */
/*
 * signed_stack_test.c - aarch64: the stack of a thread that cannot stop, with a return address that
 * the function which keeps it has signed. What is known of the thread comes from here.
 */
#include <errno.h>

#include "blocked.h"
#include "blocked_stack.h"
#include "unit.h"

#define WORDS 16
#define INSIDE 0x7f0000010040ull

static const struct blocked_range range = {0x7f0000010000, 0x7f0000020000};
static uint64_t words[WORDS];
static struct mapping mapping;

int blocked_look(pid_t pid, pid_t tid, struct blocked *out_blocked)
{
	(void)pid, (void)tid;
	*out_blocked = (struct blocked){.is_blocked = true, .call = {.sp = (uintptr_t)words}};
	return 0;
}

int proc_status_read(pid_t pid, pid_t tid, struct proc_status *out_status)
{
	(void)pid, (void)tid;
	*out_status = (struct proc_status){.switches = 1};
	return 0;
}

int maps_read(pid_t pid, pid_t tid, struct maps *out_maps)
{
	(void)pid, (void)tid;
	mapping = (struct mapping){.lo = (uintptr_t)words, .hi = (uintptr_t)(words + WORDS)};
	*out_maps = (struct maps){.mapping = &mapping, .count = 1};
	return 0;
}

const struct mapping *maps_find(const struct maps *maps, remote_addr address)
{
	(void)maps, (void)address;
	return &mapping;
}

void maps_close(struct maps *maps)
{
	(void)maps;
}

int memory_read(const struct memory *memory, remote_addr from, void *into, size_t size)
{
	(void)memory;
	memcpy(into, (const void *)(uintptr_t)from, size);
	return 0;
}

/* pacia1716: does nothing on a CPU without signatures */
static uint64_t sign(uint64_t address)
{
	register uint64_t x17 __asm__("x17") = address;
	register uint64_t x16 __asm__("x16") = (uintptr_t)words;

	__asm__("hint #8" : "+r"(x17) : "r"(x16));
	return x17;
}

static int look_with(uint64_t word)
{
	const struct memory memory = {.tid = 1};

	words[5] = word;
	return blocked_stack_look(&memory, 1, 1, &range, 1);
}

UNIT_TEST(return_addresses_are_seen_with_their_signatures)
{
	CHECK_EQ(look_with(0), 0);
	CHECK_EQ(look_with(range.hi), 0);
	CHECK_EQ(look_with(INSIDE), -EBUSY);
	CHECK_EQ(look_with(sign(INSIDE)), -EBUSY);
	CHECK_EQ(look_with(sign(range.hi)), 0);
}

UNIT_MAIN()
