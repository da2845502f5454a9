/* SPDX-License-Identifier: MIT */
/* quiesce.c - see quiesce.h. */
#include "quiesce.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "borrow.h"
#include "hi_wire.h"

/* For one thread: at first, and at most; doubled in each pass, because on a starved machine a thread gets to its stop only when it gets a CPU. */
#define STOP_DEADLINE_MS 200
#define STOP_DEADLINE_MAX_MS 1600
#define RETRY_NS 500000

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Hook frames that will still return into the payload, over all threads. */
static int frames_in_flight(const struct quiesce_target *target, uint64_t *out_frames)
{
	static struct hi_thread_slot slots[HI_THREAD_SLOTS]; /* 64 KiB: too much for the stack, and one detach at a time */
	int err = memory_read(target->heal->memory, target->thread_slots, slots, sizeof slots);
	if (err)
		return err;
	uint64_t frames = 0;
	for (size_t i = 0; i < HI_THREAD_SLOTS; i++)
		frames += slots[i].in_flight;
	*out_frames = frames;
	return 0;
}

static bool is_inside(const struct quiesce_target *target, remote_addr address)
{
	return (address >= target->gate_lo && address < target->gate_hi) || (address >= target->payload_lo && address < target->payload_hi);
}

static bool stack_is_inside(const struct quiesce_target *target, const struct tracee *tracee)
{
	struct stackwalk walk;
	if (!target->walker || stackwalk_read(target->walker, tracee, &walk))
		return false;
	for (size_t i = 0; i < walk.count; i++)
		if (is_inside(target, walk.pc[i]))
			return true;
	return false;
}

/* 0 = clear, -EAGAIN = inside just now. The thread is stopped. */
static int look_at(const struct quiesce_target *target, struct tracee *tracee, struct quiesced *result)
{
	struct arch_regs regs;
	int err = heal_registers(target->heal, tracee, &regs, &result->registers_healed);
	if (err)
		return err;
	result->thread_pointer = arch_thread_pointer(&regs);
	/* A stack in the arena: a call of the dlopen loader that outlived its injector. */
	const bool is_on_our_stack = arch_sp(&regs) >= target->heal->skip_lo && arch_sp(&regs) < target->heal->skip_hi;
	return is_on_our_stack || is_inside(target, arch_pc(&regs)) || stack_is_inside(target, tracee) ? -EAGAIN : 0;
}

struct pass {
	const struct quiesce_target *target;
	struct quiesced *result;
	uint64_t deadline_ns;
	int stop_deadline_ms;
	uint64_t patient_until_ns; /* until then no thread is taken out of a transfer (borrow.h) */
	pid_t *clear;              /* threads that were seen outside */
	size_t clear_count;
};

static int check_thread(const struct pass *pass, pid_t tid)
{
	struct quiesced *result = pass->result;
	struct tracee tracee;
	const uint64_t begin = now_ns();
	int err = tracee_stop(&tracee, pass->target->heal->pid, tid, pass->stop_deadline_ms);
	if (err == -ESRCH)
		return 0; /* a thread that ended is nowhere */
	if (err)
		return -EAGAIN;
	err = look_at(pass->target, &tracee, result);
	int detached = tracee_detach(&tracee);
	const uint64_t held = now_ns() - begin;
	if (held > result->longest_stop_ns)
		result->longest_stop_ns = held;
	if (err == -ESRCH)
		return 0;
	return err ? err : detached;
}

static bool is_listed(const pid_t *tids, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/*
 * One look at every thread that is not clear yet, in a tracing thread of its own. Threads that were born meanwhile can only have come in through an escaped
 * pointer; they are looked at, too.
 */
static int check_threads(void *context)
{
	struct pass *pass = context;
	pid_t *tids;
	size_t count;
	int err = proc_tasks(pass->target->heal->pid, &tids, &count);
	if (err)
		return err;
	pid_t *grown = realloc(pass->clear, (pass->clear_count + count + 1) * sizeof *grown);
	if (!grown) {
		free(tids);
		return -ENOMEM;
	}
	pass->clear = grown;
	const bool is_patient = now_ns() < pass->patient_until_ns;
	int busy = 0;
	for (size_t i = 0; i < count; i++) {
		if (is_listed(pass->clear, pass->clear_count, tids[i]))
			continue;
		if (now_ns() >= pass->deadline_ns) {
			busy = -EAGAIN;
			break;
		}
		err = is_patient && borrow_is_transferring(pass->target->heal->pid, tids[i]) ? -EAGAIN : check_thread(pass, tids[i]);
		if (err) {
			busy = -EAGAIN;
			pass->result->stuck = tids[i];
		} else
			pass->clear[pass->clear_count++] = tids[i];
	}
	free(tids);
	return busy;
}

int quiesce(const struct quiesce_target *target, int deadline_ms, struct quiesced *out_result)
{
	struct quiesced result = {0};
	const uint64_t begin = now_ns(), deadline = begin + (uint64_t)deadline_ms * 1000000u;
	struct pass pass = {.target = target,
			    .result = &result,
			    .deadline_ns = deadline,
			    .stop_deadline_ms = STOP_DEADLINE_MS,
			    .patient_until_ns = begin + BORROW_PATIENCE_MS * 1000000u};
	int err;
	for (;;) {
		err = frames_in_flight(target, &result.frames);
		if (!err && result.frames)
			err = -EAGAIN;
		if (!err)
			err = tracee_worker(check_threads, &pass);
		if (!err) /* whoever was inside while others were looked at would show here */
			err = frames_in_flight(target, &result.frames) ? -ESRCH : result.frames ? -EAGAIN : 0;
		if (err != -EAGAIN || now_ns() >= deadline)
			break;
		if (!result.frames && pass.stop_deadline_ms < STOP_DEADLINE_MAX_MS)
			pass.stop_deadline_ms *= 2;
		pause_ns(RETRY_NS);
	}
	result.threads = pass.clear_count;
	free(pass.clear);
	*out_result = result;
	return err == -EAGAIN ? -EBUSY : err;
}
