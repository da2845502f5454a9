/* SPDX-License-Identifier: MIT */
/* leak.c - see leak.h. Enter at leak_forget. */
#include "leak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hi_wire.h"

#define ROUNDS 3
#define PAUSE_NS 200000000
#define STOP_DEADLINE_MS 1000
#define STACK_MAX (256u << 10) /* of a stack that cannot be walked: how much is looked at while its thread stands still */

static bool is_inside(const struct quiesce_target *target, remote_addr address)
{
	return (address >= target->gate_lo && address < target->gate_hi) || (address >= target->payload_lo && address < target->payload_hi);
}

/* Of one slot; laid out as there. */
struct counts {
	uint32_t in_flight;
	uint32_t guests;
};
_Static_assert(sizeof(struct counts) == 8 && offsetof(struct hi_thread_slot, guests) == offsetof(struct hi_thread_slot, in_flight) + 4, "counts");

/* Over all threads. */
static int read_counts(const struct quiesce_target *target, struct counts count[HI_THREAD_SLOTS], uint64_t *out_frames)
{
	static struct hi_thread_slot slots[HI_THREAD_SLOTS]; /* too much for the stack, and one detach at a time */
	uint64_t frames = 0;
	int err = memory_read(target->heal->memory, target->thread_slots, slots, sizeof slots);
	if (err)
		return err;
	for (size_t i = 0; i < HI_THREAD_SLOTS; i++) {
		count[i] = (struct counts){.in_flight = slots[i].in_flight, .guests = slots[i].guests};
		frames += (uint64_t)count[i].in_flight + count[i].guests;
	}
	*out_frames = frames;
	return 0;
}

/*
 * The part of its own stack that the thread uses: with its thread pointer above it, or the main thread's. False: it runs on another one, or on too much of it.
 */
static bool own_stack(const struct maps *maps, const struct arch_regs *regs, remote_addr *out_lo, remote_addr *out_hi)
{
	const remote_addr lo = (arch_sp(regs) - ARCH_RED_ZONE) & ~7ull, thread = arch_thread_pointer(regs);
	const struct mapping *mapping = maps_find(maps, arch_sp(regs));
	if (!mapping || lo < mapping->lo)
		return false;
	const bool holds_thread = thread > arch_sp(regs) && thread < mapping->hi;
	*out_lo = lo;
	*out_hi = holds_thread ? thread : mapping->hi;
	return (holds_thread || !strcmp(mapping->path, "[stack]")) && *out_hi - lo <= STACK_MAX;
}

/* Not one word of it leads into the payload, be it by chance. */
static bool is_stack_clear(const struct quiesce_target *target, const struct maps *maps, const struct arch_regs *regs)
{
	static uint64_t word[STACK_MAX / sizeof(uint64_t)];
	remote_addr lo, hi;
	if (!own_stack(maps, regs, &lo, &hi) || memory_read(target->heal->memory, lo, word, hi - lo))
		return false;
	for (size_t i = 0; i < (hi - lo) / sizeof *word; i++)
		if (is_inside(target, word[i]))
			return false;
	return true;
}

/* The thread is stopped. */
static bool is_outside(const struct quiesce_target *target, const struct maps *maps, const struct tracee *tracee)
{
	struct stackwalk walk;
	struct arch_regs regs;
	size_t healed = 0;
	if (heal_registers(target->heal, tracee, &regs, &healed))
		return false;
	if (arch_any_register_in(&regs, target->payload_lo, target->payload_hi) || arch_any_register_in(&regs, target->gate_lo, target->gate_hi))
		return false;
	if (!target->walker || stackwalk_read(target->walker, tracee, &walk) || !walk.is_complete)
		return is_stack_clear(target, maps, &regs);
	for (size_t i = 0; i < walk.count; i++)
		if (is_inside(target, walk.pc[i]))
			return false;
	return true;
}

static int look_at(const struct quiesce_target *target, const struct maps *maps, pid_t tid)
{
	struct tracee tracee;
	int err = tracee_stop(&tracee, target->heal->pid, tid, STOP_DEADLINE_MS);
	if (err)
		return err == -ESRCH ? 0 : -EAGAIN; /* a thread that ended is nowhere */
	const bool outside = is_outside(target, maps, &tracee);
	err = tracee_detach(&tracee);
	return outside ? err : -EAGAIN;
}

/* Every thread once, one after the other. Those born meanwhile were born outside. Run in a tracing thread of its own. */
static int look_at_all(void *context)
{
	const struct quiesce_target *target = context;
	struct maps maps = {0};
	pid_t *tids;
	size_t count;
	int err = proc_tasks(target->heal->pid, &tids, &count);
	if (err)
		return err;
	err = maps_read(target->heal->pid, target->heal->memory->tid, &maps);
	for (size_t i = 0; i < count && !err; i++)
		err = look_at(target, &maps, tids[i]);
	maps_close(&maps);
	free(tids);
	return err;
}

static int set_to_zero(const struct quiesce_target *target, const struct counts count[HI_THREAD_SLOTS])
{
	const struct counts none = {0};
	int err = 0;
	for (size_t i = 0; i < HI_THREAD_SLOTS && !err; i++)
		if (count[i].in_flight || count[i].guests)
			err = memory_write(target->heal->memory,
					   target->thread_slots + i * sizeof(struct hi_thread_slot) + offsetof(struct hi_thread_slot, in_flight), &none,
					   sizeof none);
	return err;
}

int leak_forget(const struct quiesce_target *target, uint64_t *out_frames)
{
	struct counts before[HI_THREAD_SLOTS], after[HI_THREAD_SLOTS];
	uint64_t frames;
	int err = read_counts(target, before, &frames);
	if (target->walker)
		stackwalker_learn_ends(target->walker);
	for (unsigned round = 0; round < ROUNDS && !err; round++) {
		if (round)
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		err = tracee_worker(look_at_all, (void *)(uintptr_t)target);
	}
	if (!err)
		err = read_counts(target, after, &frames);
	if (!err && memcmp(before, after, sizeof before))
		err = -EAGAIN; /* somebody came out */
	if (!err)
		err = set_to_zero(target, after);
	if (!err)
		*out_frames = frames;
	return err;
}
