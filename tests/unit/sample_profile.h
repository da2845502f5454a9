/* SPDX-License-Identifier: MIT */
/*
 * sample_profile.h - profiles by hand, for the tests of the views: stacks as lists of names, root
 * first.
 */
#ifndef HI_TEST_SAMPLE_PROFILE_H
#define HI_TEST_SAMPLE_PROFILE_H

#include <string.h>

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

/* count blocks of size bytes in use, and as many freed again, by the stack "root;...;leaf". */
static inline void sample_stack(struct profile *profile, const char *names, uint64_t count,
				uint64_t size)
{
	uint32_t frames[64], frame_count = 0, leaf_first[64], stack, row;
	char copy[1024], *rest = copy, *part;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((part = strsep(&rest, ";")))
		frames[frame_count++] = sample_frame(profile, part);
	for (uint32_t i = 0; i < frame_count; i++)
		leaf_first[i] = frames[frame_count - 1 - i];
	CHECK_EQ(profile_stack_of(profile, leaf_first, frame_count, 0, &stack), 0);
	CHECK_EQ(profile_row_at(profile,
				&(struct profile_row_key){.stack = stack,
							  .size_class = profile_size_class(size),
							  .interval = profile->meta.interval},
				&row),
		 0);
	profile->row[row].alloc_count += 2 * count;
	profile->row[row].alloc_bytes += 2 * count * size;
	profile->row[row].inuse_count += count;
	profile->row[row].inuse_bytes += count * size;
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

#endif
