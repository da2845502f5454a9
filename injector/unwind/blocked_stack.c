/* SPDX-License-Identifier: MIT */
/* blocked_stack.c - see blocked_stack.h. */
#include "blocked_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "blocked.h"

#define STACK_MAX (1u << 20)

static bool is_in(const struct blocked_range *ranges, size_t count, remote_addr address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].lo && address < ranges[i].hi)
			return true;
	return false;
}

/* Reads the stack from the red zone below sp to the end of the mapping. */
static int read_stack(const struct memory *memory, pid_t tid, remote_addr sp, uint64_t **out_words,
		      size_t *out_count)
{
	const remote_addr lo = (sp - ARCH_RED_ZONE) & ~7ull;
	struct maps maps;
	int err = maps_read(memory->pid, tid, &maps);
	if (err)
		return err;
	const struct mapping *mapping = maps_find(&maps, sp);
	const remote_addr hi = mapping ? mapping->hi : 0;
	maps_close(&maps);
	if (hi <= lo || hi - lo > STACK_MAX)
		return -EBUSY;
	uint64_t *words = malloc(hi - lo);
	err = words ? memory_read(memory, lo, words, hi - lo) : -ENOMEM;
	if (err) {
		free(words);
		return err == -EFAULT ? -EBUSY : err;
	}
	*out_words = words;
	*out_count = (hi - lo) / sizeof(*words);
	return 0;
}

/* tid: the thread through which maps are read. */
static int check_stack(const struct memory *memory, pid_t tid, remote_addr sp,
		       const struct blocked_range *ranges, size_t count)
{
	uint64_t *words;
	size_t word_count;
	int err = is_in(ranges, count, sp) ? -EBUSY
					   : read_stack(memory, tid, sp, &words, &word_count);
	if (err)
		return err;
	for (size_t i = 0; i < word_count && !err; i++)
		if (is_in(ranges, count, arch_plain_address(words[i]))) /* it may be signed */
			err = -EBUSY;
	free(words);
	return err;
}

static int look(pid_t pid, pid_t tid, struct blocked *out_blocked, uint64_t *out_switches)
{
	struct proc_status status;
	int err = blocked_look(pid, tid, out_blocked);
	if (!err)
		err = proc_status_read(pid, tid, &status);
	if (err)
		return err;
	*out_switches = status.switches;
	return out_blocked->is_blocked ? 0 : -EAGAIN;
}

int blocked_stack_look(const struct memory *memory, pid_t pid, pid_t tid,
		       const struct blocked_range *ranges, size_t count)
{
	struct blocked before, after;
	uint64_t switches_before, switches_after;
	int err = look(pid, tid, &before, &switches_before);
	if (!err && is_in(ranges, count, before.call.pc))
		err = -EBUSY;
	if (!err)
		err = check_stack(memory, memory->tid, before.call.sp, ranges, count);
	if (!err)
		err = look(pid, tid, &after, &switches_after);
	return !err && switches_before != switches_after ? -EAGAIN : err;
}
