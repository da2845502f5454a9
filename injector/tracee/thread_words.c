/* SPDX-License-Identifier: MIT */
/* thread_words.c - see thread_words.h. */
#include "thread_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (sizeof(struct arch_regs) + ARCH_XSTATE_MAX)

int thread_words_read(const struct tracee *tracee, struct arch_regs *out_regs,
		      struct thread_words *out_words)
{
	uint8_t *bytes = malloc(ROOM), *fitted;
	size_t size = ARCH_XSTATE_MAX;
	int err = bytes ? tracee_get_regs(tracee, out_regs) : -ENOMEM;

	/* a thread without that state has none, and is no less stopped */
	if (!err && tracee_get_xstate(tracee, bytes + sizeof(*out_regs), &size))
		size = 0;
	if (err) {
		free(bytes);
		return err;
	}
	memcpy(bytes, out_regs, sizeof(*out_regs));
	size += sizeof(*out_regs);
	fitted = realloc(bytes, size);
	*out_words = (struct thread_words){.tid = tracee->tid,
					   .sp = arch_sp(out_regs),
					   .thread_pointer = arch_thread_pointer(out_regs),
					   .below_sp = ARCH_RED_ZONE,
					   .word = (uint64_t *)(void *)(fitted ? fitted : bytes),
					   .count = size / sizeof(uint64_t)};
	return 0;
}

void thread_words_close(struct thread_words *words)
{
	free(words->word);
	*words = (struct thread_words){0};
}
