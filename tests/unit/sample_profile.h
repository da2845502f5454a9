/* SPDX-License-Identifier: MIT */
/*
 * sample_profile.h - profiles by hand, for the tests of what is made of profiles: stacks as lists
 * of names, root first, or of frames, leaf first.
 */
#ifndef HI_TEST_SAMPLE_PROFILE_H
#define HI_TEST_SAMPLE_PROFILE_H

#include <string.h>

#include "merge.h"
#include "profile.h"
#include "unit.h"

/*
 * The frame called name; the same name gives the same frame. A name "a<b" is a inlined into b; "?"
 * is an address without a symbol.
 */
static inline uint32_t sample_frame(struct profile *profile, const char *name)
{
	uint64_t address = 0x1000;
	uint32_t index;
	char copy[256], *rest = copy, *part;

	for (const char *at = name; *at; at++)
		address = address * 31 + (unsigned char)*at;
	CHECK_EQ(profile_frame_at(profile, address, -1, &index), 0);
	struct profile_frame *frame = &profile->frame[index];
	if (frame->line_count || strcmp(name, "?") == 0)
		return index;
	frame->line = calloc(4, sizeof(*frame->line));
	snprintf(copy, sizeof(copy), "%s", name);
	while ((part = strsep(&rest, "<"))) {
		frame->line[frame->line_count] =
			(struct profile_line){.function = strdup(part),
					      .file = strdup("src/file.c"),
					      .line = 10 + (uint32_t)frame->line_count};
		frame->line_count++;
	}
	return index;
}

/*
 * The row of blocks of size bytes by the stack of these frames, leaf first; its counts are 0 if it
 * is new. It lives until a row is added.
 */
static inline struct profile_row *sample_row(struct profile *profile, const uint32_t *leaf_first,
					     uint32_t frame_count, uint64_t size)
{
	uint32_t stack, row;

	CHECK_EQ(profile_stack_of(profile, leaf_first, frame_count, 0, &stack), 0);
	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){.stack = stack,
							  .size_class = profile_size_class(size),
							  .interval = profile->meta.interval},
				&row),
		 0);
	return &profile->row[row];
}

/* count blocks of size bytes in use, and as many freed again, by the stack "root;...;leaf". */
static inline void sample_stack(struct profile *profile, const char *names, uint64_t count,
				uint64_t size)
{
	uint32_t frames[64], frame_count = 0, leaf_first[64];
	char copy[1024], *rest = copy, *part;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((part = strsep(&rest, ";")))
		frames[frame_count++] = sample_frame(profile, part);
	for (uint32_t i = 0; i < frame_count; i++)
		leaf_first[i] = frames[frame_count - 1 - i];
	struct profile_row *row = sample_row(profile, leaf_first, frame_count, size);
	row->alloc_count += 2 * count;
	row->alloc_bytes += 2 * count * size;
	row->inuse_count += count;
	row->inuse_bytes += count * size;
}

/* count blocks of size bytes, all in use, by the stack of these frames, leaf first. */
static inline void sample_frames(struct profile *profile, const uint32_t *leaf_first,
				 uint32_t frame_count, uint64_t count, uint64_t size)
{
	struct profile_row *row = sample_row(profile, leaf_first, frame_count, size);

	row->alloc_count += count;
	row->alloc_bytes += count * size;
	row->inuse_count += count;
	row->inuse_bytes += count * size;
}

/* An exact profile (interval 1), so that every figure can be told beforehand. */
static inline struct profile sample_open(void)
{
	struct profile profile;

	CHECK_EQ(profile_open(&profile), 0);
	profile.meta.interval = 1;
	profile.meta.pid = 1234;
	profile.meta.comm = strdup("server");
	profile.meta.host = strdup("host");
	profile.meta.cmdline = strdup("/usr/bin/server --x");
	profile.meta.start_unix_ns = UINT64_C(1763640000) * 1000000000u;
	profile.meta.duration_ns = UINT64_C(10500000000);
	profile.meta.end_reason = 1;
	return profile;
}

/* The profile becomes what it has beyond the base, which is closed. */
static inline void sample_compare(struct profile *profile, struct profile *base)
{
	struct profile both;

	CHECK_EQ(profile_open(&both), 0);
	CHECK_EQ(profile_merge(&both, profile, PROFILE_NEW), 0);
	CHECK_EQ(profile_merge(&both, base, PROFILE_BASE), 0);
	profile_close(profile);
	profile_close(base);
	*profile = both;
}

#endif
