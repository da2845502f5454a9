/* SPDX-License-Identifier: MIT */
/*
 * hooked_lines.h - meta.hooked: what of each allocator of the process was hooked and how, what was
 * not and why, in whole lines, one for each allocator. The session has written them, and files keep
 * them as they are.
 */
#ifndef HI_HOOKED_LINES_H
#define HI_HOOKED_LINES_H

#include "profile.h"

/* The first word of a line in files. */
#define HOOKED_KEY "hooked"

/*
 * Adds a line of that many bytes, made printable. What is in the lines already is not added, nor
 * what is more than a process can have. 0 or -ENOMEM.
 */
int hooked_lines_add(struct profile_meta *meta, const char *text, size_t size);
/* Adds the lines of another profile, which becomes part of this one. 0 or -ENOMEM. */
int hooked_lines_take_over(struct profile_meta *to, const struct profile_meta *from);
/* The line at *cursor and its size, without its end; moves *cursor behind it. NULL = no more. */
const char *hooked_lines_next(const char **cursor, size_t *out_size);

#endif
