/* SPDX-License-Identifier: MIT */
/*
 * hi_rows.h - what a profile says, as rows for a screen: by stack, and by function. `heapinject
 * top` shows them.
 *
 * One struct hi_rows_head, then `count` times a struct hi_row and the text of its stack. They come
 * from a process that has read what another user may have written, so the reader checks all of it.
 * Strings are terminated; they may contain anything.
 */
#ifndef HI_ROWS_H
#define HI_ROWS_H

#include <stdint.h>

#define HI_ROWS_MAGIC 0x3173776f72696828u
#define HI_ROWS_MAX 1000u /* of both kinds together */
#define HI_ROWS_BARS 16u
#define HI_ROWS_BAR_MAX 8u
#define HI_ROWS_STACK_MAX 16384u /* bytes of text; the rest of a stack is left out */

struct hi_rows_head {
	uint64_t magic;
	uint32_t count;
	uint32_t left_out; /* rows beyond HI_ROWS_MAX: the least important ones of each kind */
	double window_ns;  /* what the figures are of */
	double tail_ns;    /* verdicts and ages are of blocks older than this */
	double live, live_low, live_high; /* bytes in use, and the 95 % interval */
	char answer[1200];                /* sentences, each on a line: who leaks */
	char notes[1200];                 /* lines: why the figures are not reliable, if so */
};

enum hi_row_kind { HI_ROW_FUNCTION, HI_ROW_STACK, HI_ROW_KINDS };

struct hi_row {
	uint32_t kind;                  /* enum hi_row_kind */
	uint32_t is_growing, is_unsure; /* by its verdict; unsure: there is no slope */
	uint32_t stack_size; /* bytes of text that follow: a line for each call, the leaf first */
	double slope, slope_low, slope_high; /* bytes per second, and its 95 % interval */
	double live, objects;                /* in use */
	double age_ns;                       /* mean age of what is in use */
	double samples;
	uint8_t bar[HI_ROWS_BARS]; /* what was in use over the window: 0 to HI_ROWS_BAR_MAX */
	char verdict[32];
	char name[256];   /* the function that a person would look at first */
	char source[128]; /* "file.c:12"; empty = not known */
};

#endif
