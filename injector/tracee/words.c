/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "words.h"

#include <errno.h>

static int change_standing(const struct memory *memory, struct word_change *change)
{
	uint64_t now;
	int err = memory_read_u64(memory, change->at, &now);
	if (err == -EFAULT)
		change->state = WORD_GONE;
	else if (!err && now != change->expected) {
		change->expected = now;
		change->state = WORD_DIFFERS;
	}
	if (err || change->state != WORD_PENDING)
		return err == -EFAULT ? 0 : err;
	err = memory_write_u64(memory, change->at, change->value);
	if (!err)
		change->state = WORD_CHANGED;
	return err == -EFAULT ? -EACCES : err; /* it is there, and what it holds may lead to us */
}

static int change_all_standing(void *context, struct word_change *change, size_t count)
{
	int first = 0;
	for (size_t i = 0; i < count; i++) {
		const int err = change[i].state == WORD_PENDING ? change_standing(context, &change[i]) : 0;
		if (err && !first)
			first = err;
	}
	return first;
}

struct word_changer words_standing(const struct memory *memory)
{
	return (struct word_changer){.change = change_all_standing, .context = (void *)(uintptr_t)memory};
}
