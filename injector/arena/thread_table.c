/* SPDX-License-Identifier: MIT */
/* thread_table.c - see thread_table.h. */
#include "thread_table.h"

#include <stddef.h>
#include <string.h>

/*
 * One reader at a time. Touching a megabyte of slots would be expensive: slots are read one page at
 * a time, and `table` holds only what follows them.
 */
static struct hi_thread_slot slot[HI_SLOTS_A_PAGE];
static struct hi_thread_table table;

static remote_addr address_of(remote_addr at, size_t count)
{
	if (count < HI_THREAD_SLOTS)
		return at + count * sizeof(*slot) + offsetof(struct hi_thread_slot, in_flight);
	count -= HI_THREAD_SLOTS;
	if (count < HI_PLACES)
		return at + offsetof(struct hi_thread_table, place) + count * sizeof(*table.place) +
		       offsetof(struct hi_place, count);
	return at + (count == HI_PLACES ? offsetof(struct hi_thread_table, passing)
					: offsetof(struct hi_thread_table, named));
}

/*
 * Slots of pages in which none was claimed are zero. They are not read: that would allocate page
 * tables for them in the target.
 */
static int read_slots(const struct memory *memory, remote_addr at, struct inside *out_inside)
{
	int err = 0;
	for (size_t page = 0; page < HI_THREAD_SLOTS / HI_SLOTS_A_PAGE && !err; page++) {
		if (!(table.claimed[page / 64] >> page % 64 & 1))
			continue;
		err = memory_read(memory, at + page * HI_PAGE_BYTES, slot, sizeof(slot));
		for (size_t i = 0; i < HI_SLOTS_A_PAGE && !err; i++) {
			out_inside->count[page * HI_SLOTS_A_PAGE + i] = slot[i].in_flight;
			out_inside->cycles += slot[i].cycles;
		}
	}
	return err;
}

int thread_table_read(const struct memory *memory, remote_addr at, struct inside *out_inside)
{
	const size_t rest = offsetof(struct hi_thread_table, place_slot);
	memset(out_inside, 0, sizeof(*out_inside));
	int err = memory_read(memory, at + rest, table.place_slot,
			      offsetof(struct hi_thread_table, named_frame) - rest);
	if (!err)
		err = read_slots(memory, at, out_inside);
	if (err)
		return err;
	for (size_t i = 0; i < HI_PLACES; i++) {
		out_inside->count[HI_THREAD_SLOTS + i] = table.place[i].count;
		out_inside->cycles += table.place_slot[i].cycles;
	}
	out_inside->count[HI_THREAD_SLOTS + HI_PLACES] = table.passing;
	out_inside->count[INSIDE_NAMED] = table.named;
	for (size_t i = 0; i < INSIDE_COUNTS; i++)
		out_inside->frames += out_inside->count[i];
	return 0;
}

int thread_table_clear(const struct memory *memory, remote_addr at, const struct inside *inside)
{
	const uint32_t none = 0;
	int err = 0;
	for (size_t i = 0; i < INSIDE_COUNTS && !err; i++)
		if (inside->count[i])
			err = memory_write(memory, address_of(at, i), &none, sizeof(none));
	return err;
}

/* A thread that stores its own fast_owner at the same time only keeps its old countdown. */
static int renew_slots(const struct memory *memory, remote_addr page, uint32_t shift)
{
	int err = memory_read(memory, page, slot, sizeof(slot));
	for (size_t i = 0; i < HI_SLOTS_A_PAGE && !err; i++)
		if (slot[i].fast_owner && slot[i].interval_shift > shift)
			err = memory_write_u64(memory,
					       page + i * sizeof(*slot) +
						       offsetof(struct hi_thread_slot, fast_owner),
					       0);
	return err;
}

int thread_table_renew(const struct memory *memory, remote_addr at, uint32_t shift)
{
	int err = memory_read(memory, at + offsetof(struct hi_thread_table, claimed), table.claimed,
			      sizeof(table.claimed));
	for (size_t page = 0; page < HI_THREAD_SLOTS / HI_SLOTS_A_PAGE && !err; page++)
		if (table.claimed[page / 64] >> page % 64 & 1)
			err = renew_slots(memory, at + page * HI_PAGE_BYTES, shift);
	return err;
}
