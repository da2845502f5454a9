/* SPDX-License-Identifier: MIT */
/*
 * read_common.h - what the readers of other tools' files share: recording the first damage, adding
 * counts to rows, reading lines, and the memory map that follows the stacks.
 *
 * Every sum of counts stays within int64_t, so that sums of rows and of their parts cannot
 * overflow. A count that would make them overflow is damage.
 */
#ifndef HI_READ_COMMON_H
#define HI_READ_COMMON_H

#include <stdio.h>

#include "input.h"
#include "profile.h"

#define READ_LINE_SIZE (256u << 10)
#define READ_FRAMES_MAX 1024u

/* Sets meta.damage, made printable, unless an earlier damage has set it. */
void read_damage(struct profile *profile, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same, for the current line. Returns 0. */
int read_bad(const struct input *input, struct profile *profile, const char *what);
/* Records damage at the end of the input: it is unreadable or, unless `ended`, cut off. */
void read_check_end(const struct input *input, struct profile *profile, bool ended);

/*
 * Adds the first four counts of `counts` to a row. 0, or -ERANGE if a sum would overflow; then no
 * count has changed.
 */
int read_add_counts(struct profile_row *row, const struct profile_row *counts);
/* The same for the row of this key, which is added if it is new. Also -ENOMEM. */
int read_add(struct profile *profile, const struct profile_row_key *key,
	     const struct profile_row *counts, uint32_t *out_row);
/*
 * Adds a thread's share of these counts to its part of the row. thread: index in the profile's
 * breakdown.thread[]. The sum of a row's parts must not exceed the row. 0 or -ENOMEM.
 */
int read_add_part(struct profile *profile, uint32_t row, uint32_t thread,
		  const struct profile_row *counts);
/*
 * Gives the counts of each row that no thread has to nobody (thread 0), so that the parts of a row
 * add up to it. 0 or -ENOMEM.
 */
int read_share_rest(struct profile *profile);
/*
 * Counts meta.samples for profiles that do not say it. All stacks count as complete, as nothing
 * else is known.
 */
void read_count_samples(struct profile *profile);

/* Two hexadecimal digits a byte. Go's build ids are something else, and are left out. */
void read_build_id(const char *text, struct profile_module *module);

/* ---- text ------------------------------------------------------------------------------------ */

struct read_text {
	struct input *input;
	struct profile *profile;
	FILE *maps; /* collects the memory map */
	char *maps_text;
	size_t maps_size, maps_kept;
	char line[READ_LINE_SIZE];
};

/* A new one, or NULL: out of memory. */
struct read_text *read_text_open(struct input *input, struct profile *profile);
/*
 * Reads the next line into `line`; false at the end. A line that is too long or cut off is damage,
 * and is read as an empty one.
 */
bool read_text_next(struct read_text *text);
/*
 * The current line is one of a memory map, "LO-HI PERMS OFFSET DEVICE INODE   PATH", or in pprof's
 * brief form "LO-HI: [PERMS] PATH [(@OFFSET)] [BUILD-ID]". Keeps it. If the line maps
 * code of a file, it adds a module (is_module) or completes the one that is there. 0 or -ENOMEM.
 */
int read_text_map(struct read_text *text, bool is_module);
/*
 * Reads "0x1 0x2", to the end of the line, and interns the addresses as frames without a module. 0,
 * -ENOMEM, or -EBADMSG: something else, or more than READ_FRAMES_MAX.
 */
int read_text_frames(struct profile *profile, const char *cursor, uint32_t *out_frame,
		     uint32_t *out_frame_count);
/*
 * Scans "inuse: bytes [alloc: bytes]", as gperftools and jemalloc write it, after leading spaces,
 * into the first four counts. False: something else.
 */
bool read_scan_counts(const char **cursor, struct profile_row *out_counts);
/*
 * The same, where the first two numbers may have a sign, as in a file that holds differences. The
 * counts are without it.
 */
bool read_scan_signed_counts(const char **cursor, struct profile_row *out_counts,
			     bool *out_is_negative);
/* Hands the map over to the profile. 0 or -ENOMEM. Frees text; NULL is allowed. */
int read_text_close(struct read_text *text);
/* Gives each frame that has none the module at its address. 0 or -ENOMEM. */
int read_assign_modules(struct profile *profile);

#endif
