/* SPDX-License-Identifier: MIT */
/*
 * frame_label.h - a call as valgrind's tools write it: "0x4011D6: store (file.c:12)", or "(in
 * /usr/lib/libc.so.6)" instead of the file where the line is unknown.
 */
#ifndef HI_FRAME_LABEL_H
#define HI_FRAME_LABEL_H

#include "functions.h"

/* By call: the frame that contains it. The caller frees the array; NULL = out of memory. */
uint32_t *frame_label_frames(const struct profile *profile, const struct functions *functions);
/* The caller frees the text; NULL = out of memory. Control characters are not yet removed. */
char *frame_label(const struct profile *profile, const struct functions *functions, uint32_t frame,
		  uint32_t call);

#endif
