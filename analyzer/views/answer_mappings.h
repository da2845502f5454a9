/* SPDX-License-Identifier: MIT */
/*
 * answer_mappings.h - what the answer says of mappings, where they were recorded (attach --mmap).
 */
#ifndef HI_ANSWER_MAPPINGS_H
#define HI_ANSWER_MAPPINGS_H

#include <stdio.h>

#include "answer.h"

/* Whether mappings explain why the process grows, be they of one function or of nobody known. */
bool answer_mappings_explain(const struct answer *answer);
/* How they do: the end of a sentence. */
void answer_mappings_print_cause(const struct answer *answer, FILE *out);
/* Whether some were mapped on stacks that are not known. */
bool answer_mappings_are_hidden(const struct answer *answer);
/* What was mapped meanwhile: a line, or none. */
void answer_mappings_print(const struct answer *answer, FILE *out);

#endif
