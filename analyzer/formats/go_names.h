/* SPDX-License-Identifier: MIT */
/*
 * go_names.h - the comments that Go writes into its heap profiles: below each stack the names of
 * its frames, and at the end what the runtime counts. They tell these files from those of
 * gperftools, which have the same first line and other rules.
 *
 *     heap profile: 1: 100 [2: 200] @ heap/1048576
 *     1: 100 [2: 200] @ 0x40f001 0x401101 0x401201 0x46a701
 *     #	0x401100	main.(*shop).add+0x10	/src/shop.go:43
 *     #	0x401200	main.main+0x20	/src/main.go:7
 *
 *     # runtime.MemStats
 *
 * The names leave out the allocator's functions at the leaf, and where the thread began. So a stack
 * is what the names say, wherever there are any.
 */
#ifndef HI_GO_NAMES_H
#define HI_GO_NAMES_H

#include "read_common.h"

#define GO_NAMES_LINES_MAX 64u /* inlined calls at one address */
#define GO_NAMES_END "# runtime.MemStats"

/* Zero-initialized = no name yet. */
struct go_names {
	uint32_t frame[READ_FRAMES_MAX], frame_count; /* leaf first */
	uint64_t address;                             /* of the call of the last frame */
	struct profile_line line[GO_NAMES_LINES_MAX]; /* of the last frame; owned */
	size_t line_count;
};

/* True if these first bytes of a heap profile are of Go: they have its comments. */
bool go_names_recognize(const uint8_t *bytes, size_t size);
/* Reads a comment. 0, also for one that names no frame; -EBADMSG for one too many; -ENOMEM. */
int go_names_add(struct go_names *names, struct profile *profile, const char *comment);
/* Completes the stack; its frames are valid until go_names_reset(). 0 or -ENOMEM. */
int go_names_finish(struct go_names *names, struct profile *profile);
/* Begins the next stack. */
void go_names_reset(struct go_names *names);

#endif
