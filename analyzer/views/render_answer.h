/* SPDX-License-Identifier: MIT */
/*
 * render_answer.h - the answer of answer.h in words: a sentence, what the process did, and at most
 * ANSWER_ROWS rows. And the same as JSON, for programs.
 */
#ifndef HI_RENDER_ANSWER_H
#define HI_RENDER_ANSWER_H

#include <stdio.h>

#include "answer.h"

/* The sentence, with a newline. */
void render_answer_sentence(const struct answer *answer, FILE *out);
/* The sentence, and what the process did. */
void render_answer_sentences(const struct answer *answer, FILE *out);
/* The same, and the rows. */
void render_answer_text(const struct answer *answer, FILE *out);
/*
 * One line, an object without its closing brace and newline: the caller may add members.
 * docs/formats.md has the members.
 */
void render_answer_json(const struct answer *answer, FILE *out);

#endif
