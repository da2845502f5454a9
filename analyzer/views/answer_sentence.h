/* SPDX-License-Identifier: MIT */
/* answer_sentence.h - the answer in one sentence: what grows, or that nothing does, or why not
 * known. */
#ifndef HI_ANSWER_SENTENCE_H
#define HI_ANSWER_SENTENCE_H

#include <stdio.h>

#include "answer.h"

/* The sentence, with a newline, and others that belong to it, with theirs. */
void answer_sentence_print(const struct answer *answer, FILE *out);

#endif
