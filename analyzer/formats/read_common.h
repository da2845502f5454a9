/* SPDX-License-Identifier: MIT */
/*
 * read_common.h - what readers of other tools' files share: the first damage, counts into rows, lines, and the memory map that stands behind the stacks.
 *
 * Every count that is added stays within int64_t, so that sums of rows and of their parts cannot run over: what would is damage.
 */
#ifndef HI_READ_COMMON_H
#define HI_READ_COMMON_H

#include <stdio.h>

#include "input.h"
#include "profile.h"

#define READ_LINE_SIZE (256u << 10)
#define READ_FRAMES_MAX 1024u

/* Into meta.damage, printable, unless something is there already. */
void read_damage(struct profile *profile, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Of the line at hand. Returns 0. */
int read_bad(const struct input *input, struct profile *profile, const char *what);
/* The end of the input, if it is not what it should be: unreadable, or, unless `ended`, cut off. */
void read_check_end(const struct input *input, struct profile *profile, bool ended);

/* Adds the counts of a row, the first four; 0, -ENOMEM, or -ERANGE without a change where a sum would run over. */
int read_add(struct profile *profile, const struct profile_row_key *key, const struct profile_row *counts, uint32_t *out_row);
/* What of these counts a thread has, by its index in the profile's parts. 0 or -ENOMEM. The sum of a row's parts must not exceed the row. */
int read_add_part(struct profile *profile, uint32_t row, uint32_t thread, const struct profile_row *counts);
/* What of each row no thread has is nobody's, so that the parts of a row add up to it. 0 or -ENOMEM. */
int read_share_rest(struct profile *profile);
/* For profiles that do not say it: all are complete as far as anybody knows. */
void read_count_samples(struct profile *profile);

/* ---- text ---- */

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
/* The next line, into line; false at the end. A line that is too long or cut off is damage, and comes as an empty one. */
bool read_text_next(struct read_text *text);
/*
 * The line at hand is of a memory map, "LO-HI PERMS OFFSET DEVICE INODE   PATH": it is kept, and if it is one of code and `is_module`, becomes a module. 0 or
 * -ENOMEM.
 */
int read_text_map(struct read_text *text, bool is_module);
/* "0x1 0x2", to the end of the line: interned as frames without a module. -EBADMSG: something else, or too many. */
int read_text_frames(struct profile *profile, const char *cursor, uint32_t *out_frame, uint32_t *out_frame_count);
/* "inuse: bytes [alloc: bytes]", as gperftools and jemalloc write it, into the first four fields; behind leading spaces. False: something else. */
bool read_scan_counts(const char **cursor, struct profile_row *out_counts);
/* Hands the map over to the profile. 0 or -ENOMEM. Frees text; NULL is allowed. */
int read_text_close(struct read_text *text);
/* Gives each frame that has none the module at its address. 0 or -ENOMEM. */
int read_assign_modules(struct profile *profile);

#endif
