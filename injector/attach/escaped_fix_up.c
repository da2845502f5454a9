/* SPDX-License-Identifier: MIT */
/* escaped_fix_up.c - see escaped_fix_up.h. */
#include "escaped_fix_up.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "stop_world.h"

#define STOP_WORLD_MS 3000 /* after this time, threads that cannot stop are left alone, */
#define STARVED_MS 10000   /* and after this, those that have got no CPU to stop on */
#define ASK_AGAIN_NS 2000000
#define COPIES_AT_ONCE 4096 /* some milliseconds of work */
#define RUN_WORDS 512       /* adjacent words that are read and written at once */

/* ---- registers ------------------------------------------------------------------------------- */

/*
 * Counts exact copies in registers that no call uses and that are not changed: the base of a
 * segment, for example.
 */
static size_t count_exact(const struct escaped_target *target, const struct arch_regs *regs)
{
	size_t count = 0;
	for (size_t at = 0; at + sizeof(uint64_t) <= sizeof(*regs); at += sizeof(uint64_t)) {
		uint64_t word;
		unsigned entry;
		memcpy(&word, (const uint8_t *)regs + at, sizeof(word));
		count += escaped_is_gate_entry(target, word, &entry);
	}
	return count;
}

static size_t count_doubtful(const struct escaped_target *target, const uint8_t *bytes, size_t size)
{
	struct doubts doubts = {0};
	doubts_find(&doubts,
		    &(struct doubts_gate){.gate = target->gate, .count = target->gate_count}, bytes,
		    size, 0, false);
	return doubts.count[DOUBT_UNALIGNED] + doubts.count[DOUBT_TAGGED];
}

/*
 * Fixes up whole words of vector registers; `state` has the kernel's layout, in which they are
 * aligned.
 */
static size_t replace_words(const struct escaped_target *target, uint8_t *state, size_t size)
{
	size_t changed = 0;
	for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t word;
		unsigned entry;
		memcpy(&word, state + at, sizeof(word));
		if (!escaped_is_gate_entry(target, word, &entry))
			continue;
		memcpy(state + at, &target->original[entry], sizeof(word));
		changed++;
	}
	return changed;
}

/*
 * Vector registers hold a gate address when code copies a structure that contains one: for a
 * moment, or for as long as a loop takes.
 */
static int fix_up_vectors(const struct escaped_target *target, const struct tracee *tracee,
			  struct fixed_registers *fixed_up)
{
	_Alignas(64) uint8_t state[ARCH_XSTATE_MAX];
	size_t size = sizeof(state);
	int err = tracee_get_xstate(tracee, state, &size);
	/* nothing is known of them */
	fixed_up->doubtful += err == -EAGAIN && target->gate_count;
	if (err)
		return err == -EAGAIN ? 0 : err;
	const size_t changed = replace_words(target, state, size);
	fixed_up->changed += changed;
	fixed_up->doubtful += count_doubtful(target, state, size);
	return changed ? tracee_set_xstate(tracee, state, size) : 0;
}

/*
 * A hoisted call target: `mov malloc@GOT, %r12` before a loop. The register still holds it long
 * after the slot was written back.
 */
int escaped_fix_up_registers(const struct escaped_target *target, const struct tracee *tracee,
			     struct arch_regs *out_regs, struct fixed_registers *fixed_up)
{
	struct arch_regs regs;
	int err = tracee_get_regs(tracee, &regs);
	if (err)
		return err;
	size_t changed = 0;
	for (unsigned entry = 0; entry < target->gate_count; entry++)
		changed += arch_replace_register(&regs,
						 target->gate + (uint64_t)entry * HI_GATE_STRIDE,
						 target->original[entry]);
	if (changed)
		err = tracee_set_regs(tracee, &regs);
	if (err)
		return err;
	fixed_up->changed += changed;
	*out_regs = regs;
	arch_set_pc(&regs, 0); /* a pc at the first instruction of an entry is not a copy */
	fixed_up->doubtful += count_doubtful(target, (const uint8_t *)&regs, sizeof(regs)) +
			      count_exact(target, &regs);
	return fix_up_vectors(target, tracee, fixed_up);
}

/* ---- words ----------------------------------------------------------------------------------- */

struct batch {
	const struct escaped_target *target;
	const remote_addr *at;
	size_t count;
	struct fixed_up *result;
};

/* How many words from number `first` on are adjacent, up to RUN_WORDS. */
static size_t run_length(const struct batch *batch, size_t first)
{
	size_t length = 1;
	while (length < RUN_WORDS && first + length < batch->count &&
	       batch->at[first + length] == batch->at[first] + length * 8)
		length++;
	return length;
}

/* Writes adjacent copies at once. Words that are not copies are not written. */
static int write_originals(const struct batch *batch, remote_addr at, uint64_t *word, size_t count)
{
	int err = 0;
	for (size_t i = 0, end; i < count && !err; i = end + 1) {
		for (end = i; end < count && escaped_is_copy(batch->target, word[end], &word[end]);)
			end++;
		if (end == i)
			continue;
		uint64_t now;
		err = memory_write(batch->target->memory, at + i * 8, word + i, (end - i) * 8);
		if (!err)
			batch->result->words += end - i;
		else if (memory_read_u64(batch->target->memory, at + i * 8, &now))
			err = 0; /* unmapped since: a file was truncated */
	}
	return err;
}

static int fix_up_words(const struct batch *batch)
{
	uint64_t word[RUN_WORDS];
	int err = 0;
	for (size_t i = 0, length; i < batch->count && !err; i += length) {
		length = run_length(batch, i);
		if (memory_read(batch->target->memory, batch->at[i], word, length * 8)) {
			length = 1; /* a part is gone: word by word */
			if (memory_read_u64(batch->target->memory, batch->at[i], word))
				continue;
		}
		err = write_originals(batch, batch->at[i], word, length);
	}
	return err;
}

static int fix_up_batch(void *context)
{
	const struct batch *batch = context;
	struct stop_world world;
	int first = stop_world_begin(&world, batch->target->pid, STOP_WORLD_COPIES);
	if (first)
		return first;
	for (size_t i = 0; i < world.count; i++) {
		struct arch_regs regs;
		/* otherwise its registers are not seen, neither here nor in quiesce */
		const bool has_stopped = world.tracee[i].state == TRACEE_STOPPED;
		const int err = has_stopped
					? escaped_fix_up_registers(batch->target, &world.tracee[i],
								   &regs, &batch->result->registers)
					: 0;
		if (err && err != -ESRCH && !first)
			first = err;
	}
	const int err = fix_up_words(batch);
	uint64_t held_ns;
	const int ended = stop_world_end(&world, &held_ns);
	return first ? first : err ? err : ended;
}

/* How long it has been tried to stop all threads. */
struct patience {
	uint64_t since_ns;
	unsigned given_up; /* attempts before */
};

static bool is_over(const struct patience *patience)
{
	const bool is_starved = stop_world_account().given_up > patience->given_up;
	const uint64_t tried_ns = clock_now_ns() - patience->since_ns;

	return tried_ns >= (is_starved ? STARVED_MS : STOP_WORLD_MS) * 1000000ull;
}

/* Retries until all threads can be stopped. No thread is held between two tries. */
static int fix_up_when_stopped(struct batch *batch, const struct patience *patience)
{
	const struct timespec pause = {.tv_nsec = ASK_AGAIN_NS};
	int err;
	while ((err = tracee_worker(fix_up_batch, batch)) == -EAGAIN && !is_over(patience))
		nanosleep(&pause, NULL);
	return err;
}

int escaped_fix_up(const struct escaped_target *target, const struct escaped_pointers *copies,
		   struct fixed_up *result)
{
	const struct patience patience = {clock_now_ns(), stop_world_account().given_up};
	int err = 0;
	for (size_t done = 0; done < copies->count && !err; done += COPIES_AT_ONCE) {
		const size_t left = copies->count - done;
		struct batch batch = {target, copies->at + done,
				      left < COPIES_AT_ONCE ? left : COPIES_AT_ONCE, result};
		err = fix_up_when_stopped(&batch, &patience);
	}
	return err;
}
