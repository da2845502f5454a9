/* SPDX-License-Identifier: MIT */
/*
 * thread_words.h - the registers of a stopped thread, as words that may be pointers: the general
 * ones and those of the extended state, which holds vector registers.
 */
#ifndef HI_THREAD_WORDS_H
#define HI_THREAD_WORDS_H

#include "ptrace.h"

struct thread_words {
	pid_t tid;
	uint64_t sp, thread_pointer; /* thread_pointer: 0 = none */
	uint64_t below_sp;           /* bytes below sp that are in use, at most: the red zone */
	uint64_t *word;              /* owned */
	size_t count;
};

/*
 * From the thread that holds it stopped. out_regs: the general ones once more. -ENOMEM, or an error
 * of ptrace.
 */
must_check int thread_words_read(const struct tracee *tracee, struct arch_regs *out_regs,
				 struct thread_words *out_words);
void thread_words_close(struct thread_words *words);

#endif
