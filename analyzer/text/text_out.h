/* SPDX-License-Identifier: MIT */
/*
 * Room text/: names and numbers, read and written. text_out.h writes them, scan.h reads them,
 * pattern.h finds in them, printable.h and text_equal.h clean and compare them. Uses nothing else.
 */

/*
 * text_out.h - writes names and numbers as the text formats want them. The stream keeps write
 * errors.
 *
 * Names come from the target, so anything may be in them. They are written as one line of valid
 * UTF-8 without control characters (printable.h).
 */
#ifndef HI_TEXT_OUT_H
#define HI_TEXT_OUT_H

#include <stdint.h>
#include <stdio.h>

/* Writes the text, made printable; for NULL or "" writes `instead`. */
void text_plain(const char *text, const char *instead, FILE *out);
/* A JSON string with its quotes; NULL = null. */
void text_json(const char *text, FILE *out);
/*
 * Write a number as printf's %PRIu64 and %PRId64 do, in a quarter of the time: some formats consist
 * of numbers nearly alone.
 */
void text_count(uint64_t number, FILE *out);
void text_number(int64_t number, FILE *out);
/* Rounds to the nearest whole number that a file can hold, with its sign. */
int64_t text_whole(double value);
/* The sum, at most what an int64_t holds: those of hostile files have no bound. */
int64_t text_sum(int64_t left, int64_t right);

#endif
