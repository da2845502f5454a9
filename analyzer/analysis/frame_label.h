/* SPDX-License-Identifier: MIT */
/* frame_label.h - a call as valgrind's tools write it: "0x4011D6: store (file.c:12)", or "(in /usr/lib/libc.so.6)" where no line is known. */
#ifndef HI_FRAME_LABEL_H
#define HI_FRAME_LABEL_H

#include "functions.h"

/* By call: the frame it is in. To be freed; NULL = out of memory. */
uint32_t *frame_label_frames(const struct profile *profile, const struct functions *functions);
/* To be freed; NULL = out of memory. Not printable yet. */
char *frame_label(const struct profile *profile, const struct functions *functions, uint32_t frame, uint32_t call);

#endif
