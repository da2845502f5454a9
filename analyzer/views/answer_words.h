/* SPDX-License-Identifier: MIT */
/* answer_words.h - rates, places and runtimes in the words of an answer, for its sentences and
 * rows. */
#ifndef HI_ANSWER_WORDS_H
#define HI_ANSWER_WORDS_H

#include <stdio.h>

#include "answer.h"
#include "hi_units.h"

#define ANSWER_OTHER_MIN                                                         \
	(4u << 20) /* growth beside anonymous memory: pages of files come and go \
		    */

/* A rate and its interval, in one unit. */
struct answer_words_rates {
	char rate[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX];
};

/* Whether such a rate is said per hour. */
bool answer_words_is_slow(double rate);
/*
 * "1.20MB/s", "30kB/h": in the unit of bytes in which `like` reads well. text: HI_UNITS_TEXT_MAX
 * bytes, which are returned.
 */
const char *answer_words_rate_like(double rate, double like, bool is_hourly, char *text);
const char *answer_words_rate(double rate, char *text);
struct answer_words_rates answer_words_rates(double rate, double low, double high);
/* "leak_here leak.c:8" */
void answer_words_place(const struct answer *answer, const struct answer_row *row, FILE *out);
/*
 * Names what a language runtime maps that the process runs, after `before`, if the growth is of
 * this kind of mapping, or of none.
 */
void answer_words_heaps(const struct answer *answer, enum mapped_kind kind, const char *before,
			FILE *out);

#endif
