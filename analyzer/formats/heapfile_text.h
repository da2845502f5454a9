/* SPDX-License-Identifier: MIT */
/*
 * heapfile_text.h - the parts of the heap profile's text that its writer and its reader must agree on: escaping, and the names of the metadata.
 */
#ifndef HI_HEAPFILE_TEXT_H
#define HI_HEAPFILE_TEXT_H

#include <stdio.h>

#include "profile.h"

#define HEAPFILE_VERSION_KEY "heapinject" /* first comment line; marks the file as ours */
#define HEAPFILE_END "# end"              /* last line of ours: without it the file was cut off */
#define HEAPFILE_MAPS "MAPPED_LIBRARIES:"
#define HEAPFILE_ROW "# row " /* more of the stack line that follows */
#define HEAPFILE_CAVEAT_KEY "caveat"
#define HEAPFILE_UNKNOWN "??"

/* Totals saturate, so that every file that is written can be read: what hostile samples stand for has no bound. */
static inline uint64_t heapfile_sum(uint64_t left, uint64_t right)
{
	const uint64_t most = INT64_MAX - 1;

	return left > most - (right < most ? right : most) ? most : left + right;
}
/* Control characters and backslashes as \xHH; cut at 8 KiB, because go pprof reads no line of 64 KiB. NULL prints nothing. */
void heapfile_escape(const char *text, FILE *out);
/* In place. What is no escape stays as it is. */
void heapfile_unescape(char *text);
/* One "# key value" line for each thing known. */
void heapfile_write_meta(const struct profile_meta *meta, FILE *out);
/* 0, -ENOENT for an unknown key, -EINVAL for a value that is no number where one is due, -ENOMEM. */
int heapfile_read_meta(const char *key, char *value, struct profile_meta *meta);
/* "KIND TEXT", which it changes. 0, also for a kind that is not known, or -ENOMEM. */
int heapfile_read_caveat(char *text, struct profile_meta *meta);
/*
 * A comment line, without its #, which it overwrites. 0 also for what is not ours but somebody's comment, -EINVAL if it is ours and makes no sense, -ENOMEM.
 * Frames that it names have no module yet.
 */
int heapfile_read_comment(char *text, struct profile *profile);

#endif
