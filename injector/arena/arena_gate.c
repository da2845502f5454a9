/* SPDX-License-Identifier: MIT */
/*
 * arena_gate.c - prepares, arms, disarms and bypasses a mapped arena, from its control block alone.
 * See arena.h.
 */
#include "arena.h"

#include <string.h>
#include <time.h>

#include "arch.h"
#include "hi_page.h"
#include "same_memory.h"

/* bytes, some five records: a cache line arrives while so many are written */
#define RING_AHEAD 512
#define BEAT_LOOK_NS 100000000

/*
 * Writes only what has changed: each word may have to be written through a stopped thread
 * (force_write.h). It writes at least one word, so that the page becomes the target's own.
 */
static int note_page(const struct hi_control *control, const struct memory *memory, size_t offset)
{
	uint64_t now[HI_PAGE_BYTES / sizeof(uint64_t)], wanted[HI_PAGE_BYTES / sizeof(uint64_t)];
	const remote_addr page = control->arena + offset;
	size_t first = 0, end = sizeof(now) / sizeof(*now);
	const int err = memory_read(memory, page, now, sizeof(now));
	if (err)
		return err;
	memcpy(wanted, (const uint8_t *)control + offset, sizeof(wanted));
	while (end > 1 && now[end - 1] == wanted[end - 1])
		end--;
	while (first + 1 < end && now[first] == wanted[first])
		first++;
	return memory_write(memory, page + first * sizeof(*now), wanted + first,
			    (end - first) * sizeof(*now));
}

/* The first page is written last: it says how much of the others is to be believed. */
int arena_note(const struct hi_control *control, const struct memory *memory)
{
	int err = 0;
	for (size_t end = HI_PRIVATE_USED_BYTES; end && !err; end -= HI_PAGE_BYTES)
		err = note_page(control, memory, end - HI_PAGE_BYTES);
	return err;
}

/* Sets the first occupancy bytes. With 255 every free is treated as one of a sample, for good. */
static int set_occupancy(const struct memory *memory, remote_addr occupancy, uint64_t size,
			 uint8_t value)
{
	uint8_t page[HI_PAGE_BYTES];
	int err = 0;
	memset(page, value, sizeof(page));
	for (uint64_t done = 0; !err && done < size; done += sizeof(page))
		err = memory_write(memory, occupancy + done, page, sizeof(page));
	return err;
}

int arena_fill_state(const struct hi_control *control, const struct memory *memory,
		     remote_addr load_count)
{
	const struct arena_state_layout layout = arena_state_layout(control);
	const remote_addr at = arena_state(control);
	const struct hi_state state = {
		.control = control->arena,
		.ring = control->arena + control->ring.offset,
		.tables = control->arena + control->tables.offset,
		.tables_size = control->tables.size,
		.thread_slots = at + layout.thread_slots,
		.occupancy = at + layout.occupancy,
		.buckets = at + layout.buckets,
		.scratch = at + layout.scratch,
		.bucket_bits = control->bucket_bits,
		.bucket_levels = control->bucket_levels,
		.occupancy_bits = control->occupancy_bits,
		.rules = at + layout.rules,
		.walk_nodes = at + layout.walk_nodes,
		.walk_edges = at + layout.walk_edges,
		.walk_bits = control->walk_bits,
		.known_stacks = at + layout.known_stacks,
		.known_bits = control->known_bits,
		.stacks = control->arena + control->stacks.offset,
		.stacks_size = control->stacks.size,
		.gate = arena_gate(control),
		.gate_bytes = HI_GATE_BYTES,
		.page_bytes = hi_page_bytes(),
		.ring_capacity = arena_ring_capacity(control),
		.ring_mask = control->ring_mask,
		.ring_ahead = arch_has_write_prefetch() ? RING_AHEAD : 0,
		.fast_clock = arch_has_fast_clock(),
		.no_sentinel = control->unsampled_frees.sentinels ? at + layout.no_sentinel : 0,
		.unasked_occupancy =
			control->unsampled_frees.sentinels ? at + layout.unasked_occupancy : 0,
		.load_count = load_count,
		.probe_alloc = control->probe_alloc,
		.probe_free = control->probe_free,
	};
	/* all else is zero, but for `unforked` */
	int err = memory_write(memory, at, &state, offsetof(struct hi_state, store));
	if (!err && control->shift_max)
		return set_occupancy(memory, at + layout.occupancy,
				     control->unsampled_frees.sentinels, 1);
	return err || control->interval > HI_INTERVAL_EXACT
		       ? err
		       : set_occupancy(memory, at + layout.occupancy,
				       1ull << control->occupancy_bits, UINT8_MAX);
}

/*
 * Does the process own the arena, or share memory with its owner, while that lives? This matters
 * only if the injector died in the first moments of an attach, before `unforked` was set.
 */
static bool is_owner(remote_addr base, const struct memory *memory)
{
	struct same_memory_reference reference;
	uint64_t start_time, owner_start_time;
	uint32_t owner;
	if (memory_read(memory, base + offsetof(struct hi_control, pid), &owner, sizeof(owner)) ||
	    memory_read_u64(memory, base + offsetof(struct hi_control, start_time),
			    &owner_start_time) ||
	    proc_start_time((pid_t)owner, &start_time) || start_time != owner_start_time)
		return false;
	return (pid_t)owner == memory->pid ||
	       (!same_memory_open(memory->pid, &reference) &&
		same_memory_ask(&reference, (pid_t)owner) != SAME_MEMORY_NO);
}

bool arena_is_inherited(remote_addr base, const struct memory *memory)
{
	uint64_t state, unforked = 0;
	if (memory_read_u64(memory, base + offsetof(struct hi_control, state.offset), &state))
		return false;
	(void)!memory_read_u64(memory, base + state + offsetof(struct hi_state, unforked),
			       &unforked);
	return !unforked && !is_owner(base, memory);
}

bool arena_is_beating(remote_addr base, const struct memory *memory)
{
	const struct timespec pause = {.tv_nsec = BEAT_LOOK_NS};
	const remote_addr address = base + offsetof(struct hi_control, heartbeat);
	uint64_t before, now;

	if (memory_read_u64(memory, address, &before))
		return false;
	nanosleep(&pause, NULL);
	return !memory_read_u64(memory, address, &now) && now != before;
}

int arena_gate_entries(const struct hi_control *control, const struct memory *memory,
		       remote_addr out_entry[HOOKS_MAX])
{
	remote_addr found[HOOKS_MAX] = {0};
	for (unsigned entry = 0; entry < arena_gate_count(control); entry++) {
		struct hi_gate_words words;
		int err = memory_read(memory, arena_words(control, entry), &words, sizeof(words));
		if (err)
			return err;
		if (words.number < HOOKS_MAX)
			found[words.number] =
				arena_gate(control) + (uint64_t)entry * HI_GATE_STRIDE;
	}
	memcpy(out_entry, found, sizeof(found));
	return 0;
}

int arena_set_hooks(const struct hi_control *control, const struct memory *memory,
		    const struct payload_image *payload)
{
	for (unsigned entry = 0; entry < arena_gate_count(control); entry++) {
		struct hi_gate_words words;
		int err = memory_read(memory, arena_words(control, entry), &words, sizeof(words));
		if (!err && words.function < HI_FUNCTION_COUNT)
			err = memory_write_u64(
				memory,
				arena_words(control, entry) + offsetof(struct hi_gate_words, hook),
				control->payload_base + payload->hook[words.function]);
		if (err)
			return err;
	}
	return 0;
}

/* armed: zero or one, so that only one byte of the word changes. */
static int set_armed(const struct hi_control *control, const struct memory *memory, uint64_t armed)
{
	return memory_write_u64(memory, arena_state(control) + offsetof(struct hi_state, armed),
				armed);
}

int arena_arm(const struct hi_control *control, const struct memory *memory)
{
	return set_armed(control, memory, 1);
}

int arena_disarm(const struct hi_control *control, const struct memory *memory)
{
	return set_armed(control, memory, 0);
}

int arena_bypass(const struct hi_control *control, const struct memory *memory,
		 const struct patcher *patcher)
{
	struct word_patch change[HI_GATE_ENTRIES];
	size_t count = 0;
	for (unsigned entry = 0; entry < arena_gate_count(control); entry++) {
		struct hi_gate_words words;
		const int err =
			memory_read(memory, arena_words(control, entry), &words, sizeof(words));
		if (err)
			return err;
		if (words.hook != words.original)
			change[count++] =
				(struct word_patch){.at = arena_words(control, entry) +
							  offsetof(struct hi_gate_words, hook),
						    .expected = words.hook,
						    .value = words.original};
	}
	return patch_words(patcher, change, count);
}
