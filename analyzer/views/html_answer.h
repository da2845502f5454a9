/* SPDX-License-Identifier: MIT */
/*
 * html_answer.h - what grows in one session, as part of the page's data: "answer".
 *
 * It is the object of render_answer_json(), which docs/formats.md describes, with two members more:
 *
 *     lines[]           the answer in words, without the rows
 *     bars[]            by row: bytes in use at the end of each part of the window, as shares of
 *                       the most of them
 */
#ifndef HI_HTML_ANSWER_H
#define HI_HTML_ANSWER_H

#include <stdio.h>

#include "answer.h"

/* True if the profile is of one session and says when its samples were allocated. */
bool html_answer_is_known(const struct profile *profile, size_t file_count);
/* Writes one member; answer NULL = null. It does not check `out` for write errors. 0 or -ENOMEM. */
int html_answer_write(const struct answer *answer, FILE *out);

#endif
