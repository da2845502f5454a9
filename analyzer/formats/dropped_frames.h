/* SPDX-License-Identifier: MIT */
/*
 * dropped_frames.h - which functions a profile.proto asks not to show: drop_frames and keep_frames,
 * two regular expressions that must match a whole name.
 *
 * They come from the file, so what they may cost is bounded: the length of the expressions and of
 * names, and what is matched in all.
 */
#ifndef HI_DROPPED_FRAMES_H
#define HI_DROPPED_FRAMES_H

#include "pattern.h"

struct dropped_frames {
	struct pattern drop, keep; /* drop not set = nothing is dropped */
	size_t since, total;       /* bytes that were matched; since = after the last opening */
	char *drop_text, *keep_text;
};

#define DROPPED_FRAMES_BYTES_MAX (16u << 20) /* of all names; later ones are not dropped */

/*
 * drop, keep: "" = none. 0; -EINVAL: nothing is dropped, as an expression is none, or may cost too
 * much; complaint says why. -ENOMEM. Must be closed in each case.
 */
int dropped_frames_open(struct dropped_frames *dropped, const char *drop, const char *keep,
			char complaint[PATTERN_COMPLAINT_MAX]);
/* 1 = the function is dropped, 0 or -ENOMEM. Its parameters are not compared. */
int dropped_frames_has(struct dropped_frames *dropped, const char *function);
void dropped_frames_close(struct dropped_frames *dropped);

/* What is to be left out of a stack at a location. */
enum dropped_at { DROPPED_NOTHING, DROPPED_CALLEES, DROPPED_ALL };

/*
 * How many frames are left out at the leaf, as pprof does it: those that what is dropped calls,
 * from the root, but nothing before the first function that is not dropped. at: by frame, leaf
 * first.
 */
size_t dropped_frames_count(const unsigned char *at, size_t count);

#endif
