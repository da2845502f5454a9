/* SPDX-License-Identifier: MIT */
/*
 * tag_frames.h - tags as frames of the stacks, as pprof's tagroot and tagleaf: "thread" makes the
 * name of the thread that allocated the function that calls all others, or that is called last.
 *
 * The tags are those of a profile of pprof: bytes, thread, thread_id, and the labels of the file. A
 * stack without the tag, or a tag that nothing has, gives the frame "<unknown>".
 */
#ifndef HI_TAG_FRAMES_H
#define HI_TAG_FRAMES_H

#include "profile.h"

struct tag_frames {
	/* keys with commas between: root[0] is outermost, the last leaf innermost; NULL = none */
	const char *root, *leaf;
	/* writes a size into text, of HI_UNITS_TEXT_MAX bytes, and returns it */
	char *(*size)(double bytes, char *text);
};

/*
 * Changes the stacks of the profile's rows; rows are divided by thread where a key needs it. 0 or
 * -ENOMEM. *out_is_found: at least one row has at least one of the tags.
 */
int tag_frames_add(struct profile *profile, const struct tag_frames *tags, bool *out_is_found);

#endif
