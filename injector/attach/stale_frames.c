/* SPDX-License-Identifier: MIT */
/* stale_frames.c - see stale_frames.h. Enter at stale_frames_forget. */
#include "stale_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory_sharers.h"
#include "thread_table.h"

#define ROUNDS 3
#define PAUSE_NS 200000000
#define STOP_DEADLINE_MS 1000
/* of a stack that cannot be walked: how much is read while its thread is stopped */
#define STACK_MAX (256u << 10)

/*
 * Finds the part of its own stack that the thread uses: the stack below its thread pointer, or the
 * main thread's. False: the thread runs on another stack, or uses more than STACK_MAX.
 */
static bool own_stack(const struct maps *maps, const struct arch_regs *regs, remote_addr *out_lo,
		      remote_addr *out_hi)
{
	const remote_addr lo = (arch_sp(regs) - ARCH_RED_ZONE) & ~7ull,
			  thread = arch_thread_pointer(regs);
	const struct mapping *mapping = maps_find(maps, arch_sp(regs));
	if (!mapping || lo < mapping->lo)
		return false;
	const bool holds_thread = thread > arch_sp(regs) && thread < mapping->hi;
	*out_lo = lo;
	*out_hi = holds_thread ? thread : mapping->hi;
	return (holds_thread || !strcmp(mapping->path, "[stack]")) && *out_hi - lo <= STACK_MAX;
}

/* Is there no word on the stack that leads into the payload, even by chance? */
static bool is_stack_clear(const struct quiesce_target *target, const struct maps *maps,
			   const struct arch_regs *regs)
{
	static uint64_t word[STACK_MAX / sizeof(uint64_t)];
	remote_addr lo, hi;
	if (!own_stack(maps, regs, &lo, &hi) ||
	    memory_read(target->escaped->memory, lo, word, hi - lo))
		return false;
	for (size_t i = 0; i < (hi - lo) / sizeof(*word); i++)
		if (quiesce_is_inside(target, word[i]))
			return false;
	return true;
}

/* The thread is stopped. */
static bool is_outside(const struct quiesce_target *target, const struct maps *maps,
		       const struct tracee *tracee)
{
	struct stackwalk walk;
	struct arch_regs regs;
	struct fixed_registers fixed_up = {0};
	if (escaped_fix_up_registers(target->escaped, tracee, &regs, &fixed_up))
		return false;
	if (arch_any_register_in(&regs, target->payload_lo, target->payload_hi) ||
	    arch_any_register_in(&regs, target->gate_lo, target->gate_hi))
		return false;
	if (!target->walker || stackwalk_read(target->walker, tracee, &walk) || !walk.is_complete)
		return is_stack_clear(target, maps, &regs);
	for (size_t i = 0; i < walk.count; i++)
		if (quiesce_is_inside(target, walk.pc[i]))
			return false;
	return true;
}

static int look_at(const struct quiesce_target *target, const struct maps *maps,
		   const struct memory_thread *thread)
{
	struct tracee tracee;
	int err = tracee_stop(&tracee, thread->pid, thread->tid, STOP_DEADLINE_MS);
	if (err)
		return err == -ESRCH ? 0 : -EAGAIN; /* a thread that has ended is outside */
	const bool outside = is_outside(target, maps, &tracee);
	err = tracee_detach(&tracee);
	return outside ? err : -EAGAIN;
}

/*
 * Children of vfork are not stopped. They are gone by the time their parents' threads have been
 * stopped, which wait for them. A child that is not gone may be another kind of child that was
 * mistaken for one of vfork: then it is too early.
 */
static int check_awaited(pid_t pid, const struct memory_threads *threads)
{
	struct memory_threads now = {0};
	int err = 0;
	for (size_t i = 0; i < threads->count && !err; i++) {
		if (!threads->thread[i].is_awaited)
			continue;
		if (!now.count)
			err = memory_threads_list(pid, &now);
		if (!err && memory_threads_pid(&now, threads->thread[i].tid, 0))
			err = -EAGAIN;
	}
	memory_threads_close(&now);
	return err;
}

/*
 * Examines every thread once, one after the other. Threads born meanwhile were born outside. Runs
 * in a tracing thread of its own.
 */
static int look_at_all(void *context)
{
	const struct quiesce_target *target = context;
	struct maps maps = {0};
	struct memory_threads threads;
	int err = memory_threads_list(target->escaped->pid, &threads);
	if (err)
		return err;
	err = threads.unknown
		      ? -EAGAIN
		      : maps_read(target->escaped->pid, target->escaped->memory->tid, &maps);
	for (size_t i = 0; i < threads.count && !err; i++)
		err = threads.thread[i].is_awaited ? 0 : look_at(target, &maps, &threads.thread[i]);
	if (!err)
		err = check_awaited(target->escaped->pid, &threads);
	maps_close(&maps);
	memory_threads_close(&threads);
	return err;
}

int stale_frames_forget(const struct quiesce_target *target, uint64_t *out_frames)
{
	static struct inside before, after; /* one detach at a time */
	int err = thread_table_read(target->escaped->memory, target->thread_slots, &before);
	if (target->walker)
		stackwalker_learn_ends(target->walker);
	for (unsigned round = 0; round < ROUNDS && !err; round++) {
		if (round)
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		err = tracee_worker(look_at_all, (void *)(uintptr_t)target);
	}
	if (!err)
		err = thread_table_read(target->escaped->memory, target->thread_slots, &after);
	if (!err && memcmp(before.count, after.count, sizeof(before.count)))
		err = -EAGAIN; /* some thread came out */
	if (!err && after.count[INSIDE_NAMED])
		err = -EBUSY;
	if (!err)
		err = thread_table_clear(target->escaped->memory, target->thread_slots, &after);
	if (!err)
		*out_frames = after.frames;
	return err;
}
