/* SPDX-License-Identifier: MIT */
/*
 * text_out.h - names and numbers as the text formats want them. Writing errors are the stream's.
 *
 * Names come from the target, so anything may be in them: what leaves here is one line of valid UTF-8 without control characters (printable.h).
 */
#ifndef HI_TEXT_OUT_H
#define HI_TEXT_OUT_H

#include <stdint.h>
#include <stdio.h>

/* As it is, once it is printable; NULL or "" = instead. */
void text_plain(const char *text, const char *instead, FILE *out);
/* A JSON string with its quotes; NULL = null. */
void text_json(const char *text, FILE *out);
/* As printf's %PRIu64 and %PRId64, in a quarter of the time: of some formats that is nearly all they consist of. */
void text_count(uint64_t number, FILE *out);
void text_number(int64_t number, FILE *out);
/* To the nearest whole number that a file can hold; with its sign. */
int64_t text_whole(double value);

#endif
