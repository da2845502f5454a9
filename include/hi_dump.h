/* SPDX-License-Identifier: MIT */
/*
 * hi_dump.h - why a profile is written before its session ends: the triggers of a dump, as bits,
 * and their names. A DUMP record (hi_stream.h) has the bits, and the files have the names.
 */
#ifndef HI_DUMP_H
#define HI_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum hi_dump_trigger {
	HI_DUMP_EVERY = 1u << 0,
	HI_DUMP_ALLOC = 1u << 1,
	HI_DUMP_PEAK = 1u << 2,
	HI_DUMP_RSS = 1u << 3,
	HI_DUMP_SIGNAL = 1u << 4,
	HI_DUMP_REQUEST = 1u << 5,
	HI_DUMP_LIMIT = 1u << 6,    /* of heapinject guard: a share of the memory limit */
	HI_DUMP_PRESSURE = 1u << 7, /* of heapinject guard: processes wait for memory */
	/*
	 * no trigger, and without a name: the .heap goes to memory, for another process that shows
	 * it; there is no .pb.gz
	 */
	HI_DUMP_SHOWN = 1u << 8,
	/* no profile, but the live blocks (hi_block.h), in memory */
	HI_DUMP_BLOCKS = 1u << 9,
	/* the same with stacks, for another process that shows them */
	HI_DUMP_STACKED = 1u << 10,
};
#define HI_DUMP_TRIGGERS 8u
#define HI_DUMP_TEXT_MAX 128u

/* "--every, --at-peak": what these triggers are called. Returns text, which is "" of no trigger. */
static inline const char *hi_dump_describe(uint32_t triggers, char text[HI_DUMP_TEXT_MAX])
{
	static const char *const names[HI_DUMP_TRIGGERS] = {
		"--every",     "--every-alloc",   "--at-peak",  "--at-rss",
		"--on-signal", "heapinject dump", "guard --at", "memory pressure"};
	size_t length = 0;

	*text = 0;
	for (uint32_t i = 0; i < HI_DUMP_TRIGGERS; i++) {
		if (triggers >> i & 1)
			length += (size_t)snprintf(text + length, HI_DUMP_TEXT_MAX - length, "%s%s",
						   length ? ", " : "", names[i]);
	}
	return text;
}

#endif
