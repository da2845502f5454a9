/* SPDX-License-Identifier: MIT */
/* patch.c - see patch.h. */
#include "patch.h"

#include <errno.h>

static int change_stopped(const struct memory *memory, struct word_patch *change)
{
	uint64_t now;
	int err = memory_read_u64(memory, change->at, &now);
	if (err == -EFAULT)
		change->state = PATCH_GONE;
	else if (!err && now != change->expected) {
		change->expected = now;
		change->state = PATCH_DIFFERS;
	}
	if (err || change->state != PATCH_PENDING)
		return err == -EFAULT ? 0 : err;
	err = memory_write_u64(memory, change->at, change->value);
	if (!err)
		change->state = PATCH_DONE;
	return err == -EFAULT ? -EACCES : err; /* the word is there, and may lead to the gate */
}

static int change_all_stopped(void *context, struct word_patch *change, size_t count)
{
	int first = 0;
	for (size_t i = 0; i < count; i++) {
		const int err =
			change[i].state == PATCH_PENDING ? change_stopped(context, &change[i]) : 0;
		if (err && !first)
			first = err;
	}
	return first;
}

struct patcher patcher_for_stopped(const struct memory *memory)
{
	return (struct patcher){.change = change_all_stopped, .context = (void *)(uintptr_t)memory};
}
