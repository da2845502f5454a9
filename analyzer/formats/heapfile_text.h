/* SPDX-License-Identifier: MIT */
/*
 * heapfile_text.h - the parts of the heap profile's text on which its writer and its reader must
 * agree: escaping, and the names of the metadata.
 */
#ifndef HI_HEAPFILE_TEXT_H
#define HI_HEAPFILE_TEXT_H

#include <stdio.h>

#include "profile.h"

#define HEAPFILE_VERSION_KEY "heapinject" /* first comment line; marks a file of heapinject */
#define HEAPFILE_END "# end"              /* last line of heapinject's files, if not cut off */
#define HEAPFILE_MAPS "MAPPED_LIBRARIES:"
/* before the next line, if thinning may have let more escape than the row's interval says */
#define HEAPFILE_GRAIN "# grain "
#define HEAPFILE_ROW "# row " /* more figures of the stack line that follows */
#define HEAPFILE_CAVEAT_KEY "caveat"
#define HEAPFILE_MEMORY_KEY "memory"         /* the process at one moment */
#define HEAPFILE_HEAP_KEY "heap"             /* what the allocators had at one moment */
#define HEAPFILE_FREED_KEY "unsampled_freed" /* of one class of sizes */
#define HEAPFILE_FREES_SHARE_KEY "unsampled_frees_share_ppm"
#define HEAPFILE_UNKNOWN "??"
#define PPROF_INODES_KEY "inodes:" /* in a comment of a .pb.gz */

/*
 * A sum that saturates. What hostile samples stand for has no bound; with saturated totals every
 * file that is written can be read.
 */
static inline uint64_t heapfile_sum(uint64_t left, uint64_t right)
{
	const uint64_t most = INT64_MAX - 1;

	return left > most - (right < most ? right : most) ? most : left + right;
}
/*
 * Writes control characters and backslashes as \xHH. Cuts the text at 8 KiB, because go pprof reads
 * no line of 64 KiB. Writes nothing for NULL.
 */
void heapfile_escape(const char *text, FILE *out);
/* Undoes heapfile_escape(), in place. Text that is no escape stays as it is. */
void heapfile_unescape(char *text);
/* Writes a "# key value" line for each field of meta, and one for each caveat. */
void heapfile_write_meta(const struct profile_meta *meta, FILE *out);
/*
 * Sets the field of this key. 0, -ENOENT for an unknown key, -EINVAL for a value that is not a
 * number where the field is one, -ENOMEM.
 */
int heapfile_read_meta(const char *key, char *value, struct profile_meta *meta);
/*
 * Reads "KIND TEXT" into meta; changes the text in place. 0, also for an unknown kind, or -ENOMEM.
 */
int heapfile_read_caveat(char *text, struct profile_meta *meta);
/*
 * Reads a comment line, without its #, into the profile; overwrites the text. 0, also for a comment
 * that is not heapinject's; -EINVAL if it is heapinject's and makes no sense; -ENOMEM. Frames that
 * the comment names have no module yet.
 */
int heapfile_read_comment(char *text, struct profile *profile);

#endif
