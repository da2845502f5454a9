/* SPDX-License-Identifier: MIT */
/*
 * perfetto_trace.h - a trace of Perfetto with dumps of heaps, as its heapprofd records them.
 *
 * A dump has for each stack what was allocated and freed since the start. Perfetto shows what has
 * changed from dump to dump, for which a stack must have the same number in all of them. It drops
 * figures that have become less. So estimates that did are raised, and what is in use stays as it
 * is.
 */
#ifndef HI_PERFETTO_TRACE_H
#define HI_PERFETTO_TRACE_H

#include <stdio.h>

#include "protobuf.h"
#include "table.h"

/* Texts with numbers from 1. */
struct perfetto_names {
	struct table index;
	char **name;
	size_t count, capacity;
};
struct perfetto_frame {
	uint64_t function, mapping; /* 0: no mapping is known */
};
struct perfetto_counts {
	int64_t allocated, freed; /* bytes */
	int64_t alloc_count, free_count;
};
struct perfetto_stack {
	uint32_t pid;
	uint64_t *frame; /* root first */
	size_t frame_count;
	struct perfetto_counts last;
	bool is_in_dump;
};
/* Zero-initialized, but for `out`, = empty. */
struct perfetto_trace {
	FILE *out;
	struct perfetto_names functions, paths;
	struct perfetto_frame *frame;
	size_t frame_count, frame_capacity;
	struct perfetto_stack *stack;
	size_t stack_count, stack_capacity;
	struct table frame_index, stack_index;
	uint32_t *pid; /* those that have a name */
	size_t pid_count, pid_capacity;
	uint64_t dumps;
	/* the next packet: names, and samples of one process */
	struct protobuf interned, samples, part, sample;
	bool failed;
};

/* The number of a frame. path: of the module; NULL = unknown. */
uint64_t perfetto_frame(struct perfetto_trace *trace, const char *function, const char *path);
/* Adds a stack of frames, root first, to the dump. */
void perfetto_sample(struct perfetto_trace *trace, uint32_t pid, const uint64_t *frame,
		     size_t frame_count, const struct perfetto_counts *counts);
/* Says that the time of all dumps is that of each clock. Before the first dump. */
void perfetto_clock(struct perfetto_trace *trace, uint64_t time_ns);
/* Writes the dump; what earlier ones of the process had and this one has not, is freed. */
void perfetto_dump(struct perfetto_trace *trace, uint32_t pid, const char *command,
		   uint64_t time_ns);
/* 0, or -ENOMEM if that was so at any time. */
int perfetto_close(struct perfetto_trace *trace);

#endif
