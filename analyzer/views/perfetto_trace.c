/* SPDX-License-Identifier: MIT */
/* perfetto_trace.c - see perfetto_trace.h. Field numbers are those of perfetto_trace.proto. */
#include "perfetto_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "text_out.h"

#define SEQUENCE 1
#define HEAP_NAME "libc.malloc" /* by which the viewer takes it for the native heap */

enum { TRACE_PACKET = 1 };
enum {
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_PROFILE = 37
};
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* sequence flags */
enum {
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_MAPPINGS = 19
};
enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };
enum { MAPPING_PATH_STRINGS = 7 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3 };
enum { CALLSTACK_FRAMES = 2 };
enum { PROFILE_DUMPS = 5, PROFILE_INDEX = 7 };
enum { DUMP_PID = 1, DUMP_SAMPLES = 2, DUMP_TIMESTAMP = 9, DUMP_HEAP_NAME = 11 };
enum {
	SAMPLE_CALLSTACK = 1,
	SAMPLE_ALLOCATED = 2,
	SAMPLE_FREED = 3,
	SAMPLE_ALLOC_COUNT = 5,
	SAMPLE_FREE_COUNT = 6
};
enum { CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { REALTIME = 1, MONOTONIC = 3, MONOTONIC_COARSE = 4, BOOTTIME = 6 };
enum { TREE_PROCESSES = 1, PROCESS_PID = 1, PROCESS_COMMAND = 3 };

/* ---- what has a number ----------------------------------------------------------------------- */

static void add_interned(struct perfetto_trace *trace, unsigned int field)
{
	protobuf_message(&trace->interned, field, &trace->part);
	protobuf_reset(&trace->part);
}

/* is_new: it was not there before. Readers insist on UTF-8. */
static uint64_t name_number(struct perfetto_trace *trace, struct perfetto_names *names,
			    const char *text, unsigned int field, bool *is_new)
{
	char *copy = strdup(text);
	uint32_t index;

	*is_new = false;
	if (copy)
		printable(copy);
	const uint64_t hash = copy ? hash_bytes(copy, strlen(copy)) : 0;
	struct table_cursor cursor = table_seek(&names->index, hash);
	while (copy && table_next(&names->index, &cursor, &index)) {
		if (strcmp(names->name[index], copy) == 0) {
			free(copy);
			return index + (uint64_t)1;
		}
	}
	if (!copy ||
	    array_reserve(&names->name, &names->capacity, names->count, sizeof(*names->name)) ||
	    table_add(&names->index, hash, (uint32_t)names->count)) {
		trace->failed = true;
		free(copy);
		return 0;
	}
	names->name[names->count++] = copy;
	*is_new = true;
	protobuf_number(&trace->part, ENTRY_IID, names->count);
	protobuf_string(&trace->part, ENTRY_TEXT, copy);
	add_interned(trace, field);
	return names->count;
}

/* A mapping has the number of its path. The reader puts a slash before each part of a path. */
static uint64_t mapping_number(struct perfetto_trace *trace, const char *path)
{
	bool is_new;
	const uint64_t number = name_number(trace, &trace->paths, path + (*path == '/'),
					    INTERNED_MAPPING_PATHS, &is_new);

	if (is_new) {
		protobuf_number(&trace->part, ENTRY_IID, number);
		protobuf_number(&trace->part, MAPPING_PATH_STRINGS, number);
		add_interned(trace, INTERNED_MAPPINGS);
	}
	return number;
}

uint64_t perfetto_frame(struct perfetto_trace *trace, const char *function, const char *path)
{
	bool is_new;
	const struct perfetto_frame frame = {
		.function = name_number(trace, &trace->functions, function, INTERNED_FUNCTION_NAMES,
					&is_new),
		.mapping = mapping_number(trace, path ? path : "unknown")};
	const uint64_t hash = hash_bytes(&frame, sizeof(frame));
	struct table_cursor cursor = table_seek(&trace->frame_index, hash);
	uint32_t index;

	while (table_next(&trace->frame_index, &cursor, &index)) {
		if (memcmp(&trace->frame[index], &frame, sizeof(frame)) == 0)
			return index + (uint64_t)1;
	}
	if (array_reserve(&trace->frame, &trace->frame_capacity, trace->frame_count,
			  sizeof(frame)) ||
	    table_add(&trace->frame_index, hash, (uint32_t)trace->frame_count)) {
		trace->failed = true;
		return 0;
	}
	trace->frame[trace->frame_count++] = frame;
	protobuf_number(&trace->part, ENTRY_IID, trace->frame_count);
	protobuf_number(&trace->part, FRAME_FUNCTION, frame.function);
	protobuf_number(&trace->part, FRAME_MAPPING, frame.mapping);
	add_interned(trace, INTERNED_FRAMES);
	return trace->frame_count;
}

static bool is_same(const struct perfetto_stack *a, const struct perfetto_stack *b)
{
	return a->pid == b->pid && a->frame_count == b->frame_count &&
	       memcmp(a->frame, b->frame, a->frame_count * sizeof(*a->frame)) == 0;
}

/* Returns an index, or SIZE_MAX. */
static size_t add_stack(struct perfetto_trace *trace, const struct perfetto_stack *wanted,
			uint64_t hash)
{
	struct perfetto_stack stack = *wanted;

	stack.frame = malloc(stack.frame_count * sizeof(*stack.frame) + 1);
	if (!stack.frame ||
	    array_reserve(&trace->stack, &trace->stack_capacity, trace->stack_count,
			  sizeof(stack)) ||
	    table_add(&trace->stack_index, hash, (uint32_t)trace->stack_count)) {
		trace->failed = true;
		free(stack.frame);
		return SIZE_MAX;
	}
	memcpy(stack.frame, wanted->frame, stack.frame_count * sizeof(*stack.frame));
	trace->stack[trace->stack_count++] = stack;
	protobuf_number(&trace->part, ENTRY_IID, trace->stack_count);
	for (size_t i = 0; i < stack.frame_count; i++)
		protobuf_number(&trace->part, CALLSTACK_FRAMES, stack.frame[i]);
	add_interned(trace, INTERNED_CALLSTACKS);
	return trace->stack_count - 1;
}

static size_t find_stack(struct perfetto_trace *trace, const struct perfetto_stack *wanted)
{
	const uint64_t hash =
		hash_bytes(wanted->frame, wanted->frame_count * sizeof(*wanted->frame)) ^
		hash_number(wanted->pid);
	struct table_cursor cursor = table_seek(&trace->stack_index, hash);
	uint32_t index;

	while (table_next(&trace->stack_index, &cursor, &index)) {
		if (is_same(&trace->stack[index], wanted))
			return index;
	}
	return add_stack(trace, wanted, hash);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static void put_sample(struct perfetto_trace *trace, size_t stack)
{
	const struct perfetto_counts *counts = &trace->stack[stack].last;

	protobuf_reset(&trace->sample);
	protobuf_number(&trace->sample, SAMPLE_CALLSTACK, stack + 1);
	protobuf_number(&trace->sample, SAMPLE_ALLOCATED, (uint64_t)counts->allocated);
	protobuf_number(&trace->sample, SAMPLE_FREED, (uint64_t)counts->freed);
	protobuf_number(&trace->sample, SAMPLE_ALLOC_COUNT, (uint64_t)counts->alloc_count);
	protobuf_number(&trace->sample, SAMPLE_FREE_COUNT, (uint64_t)counts->free_count);
	protobuf_message(&trace->samples, DUMP_SAMPLES, &trace->sample);
	trace->stack[stack].is_in_dump = true;
}

/* Neither may become less, and their difference must stay. */
static void raise_counts(int64_t *allocated, int64_t *freed, int64_t to_allocated, int64_t to_freed)
{
	const int64_t in_use = to_allocated - to_freed;

	*freed = to_freed > *freed ? to_freed : *freed;
	const int64_t raised = text_sum(*freed, in_use);
	*allocated = raised > *allocated ? raised : *allocated;
	*freed = *allocated - in_use;
}

void perfetto_sample(struct perfetto_trace *trace, uint32_t pid, const uint64_t *frame,
		     size_t frame_count, const struct perfetto_counts *counts)
{
	const struct perfetto_stack wanted = {
		.pid = pid, .frame = (uint64_t *)frame, .frame_count = frame_count};
	const size_t index = find_stack(trace, &wanted);

	if (index == SIZE_MAX)
		return;
	struct perfetto_counts *last = &trace->stack[index].last;
	raise_counts(&last->allocated, &last->freed, counts->allocated, counts->freed);
	raise_counts(&last->alloc_count, &last->free_count, counts->alloc_count,
		     counts->free_count);
	put_sample(trace, index);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void put_packet(struct perfetto_trace *trace, struct protobuf *packet)
{
	struct protobuf framed = {0};

	protobuf_message(&framed, TRACE_PACKET, packet);
	trace->failed |= framed.failed || packet->failed;
	fwrite(framed.bytes, 1, framed.size, trace->out);
	protobuf_close(&framed);
	protobuf_close(packet);
}

void perfetto_clock(struct perfetto_trace *trace, uint64_t time_ns)
{
	static const uint64_t clocks[] = {REALTIME, MONOTONIC, MONOTONIC_COARSE, BOOTTIME};
	struct protobuf packet = {0}, snapshot = {0};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		protobuf_number(&trace->part, CLOCK_ID, clocks[i]);
		protobuf_number(&trace->part, CLOCK_TIME, time_ns);
		protobuf_message(&snapshot, CLOCKS, &trace->part);
		protobuf_reset(&trace->part);
	}
	protobuf_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	protobuf_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_close(&snapshot);
	put_packet(trace, &packet);
}

/* Once for each process. */
static void put_process(struct perfetto_trace *trace, uint32_t pid, const char *command,
			uint64_t time_ns)
{
	struct protobuf packet = {0}, tree = {0};
	char *text = strdup(command ? command : "unknown");

	for (size_t i = 0; i < trace->pid_count; i++) {
		if (trace->pid[i] == pid) {
			free(text);
			return;
		}
	}
	if (!text || array_reserve(&trace->pid, &trace->pid_capacity, trace->pid_count,
				   sizeof(*trace->pid))) {
		trace->failed = true;
		free(text);
		return;
	}
	trace->pid[trace->pid_count++] = pid;
	printable(text);
	protobuf_number(&trace->part, PROCESS_PID, pid);
	protobuf_string(&trace->part, PROCESS_COMMAND, text);
	protobuf_message(&tree, TREE_PROCESSES, &trace->part);
	protobuf_reset(&trace->part);
	protobuf_message(&packet, PACKET_PROCESS_TREE, &tree);
	protobuf_number(&packet, PACKET_TIMESTAMP, time_ns);
	protobuf_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_close(&tree);
	free(text);
	put_packet(trace, &packet);
}

static void free_missing(struct perfetto_trace *trace, uint32_t pid)
{
	for (size_t i = 0; i < trace->stack_count; i++) {
		struct perfetto_stack *stack = &trace->stack[i];

		if (stack->pid == pid && !stack->is_in_dump) {
			stack->last.freed = stack->last.allocated;
			stack->last.free_count = stack->last.alloc_count;
			put_sample(trace, i);
		}
		stack->is_in_dump = false;
	}
}

void perfetto_dump(struct perfetto_trace *trace, uint32_t pid, const char *command,
		   uint64_t time_ns)
{
	struct protobuf packet = {0}, profile = {0};

	free_missing(trace, pid);
	put_process(trace, pid, command, time_ns);
	protobuf_number(&trace->samples, DUMP_PID, pid);
	protobuf_number(&trace->samples, DUMP_TIMESTAMP, time_ns);
	protobuf_string(&trace->samples, DUMP_HEAP_NAME, HEAP_NAME);
	protobuf_message(&profile, PROFILE_DUMPS, &trace->samples);
	protobuf_number(&profile, PROFILE_INDEX, trace->dumps);
	protobuf_number(&packet, PACKET_TIMESTAMP, time_ns);
	protobuf_number(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_number(&packet, PACKET_SEQUENCE_FLAGS,
			trace->dumps++ ? STATE_NEEDED : STATE_CLEARED | STATE_NEEDED);
	protobuf_message(&packet, PACKET_INTERNED_DATA, &trace->interned);
	protobuf_message(&packet, PACKET_PROFILE, &profile);
	protobuf_reset(&trace->interned);
	protobuf_reset(&trace->samples);
	trace->failed |= profile.failed;
	protobuf_close(&profile);
	put_packet(trace, &packet);
}

static void close_names(struct perfetto_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	table_close(&names->index);
}

int perfetto_close(struct perfetto_trace *trace)
{
	const bool failed = trace->failed || trace->interned.failed || trace->samples.failed ||
			    trace->part.failed || trace->sample.failed;

	close_names(&trace->functions);
	close_names(&trace->paths);
	for (size_t i = 0; i < trace->stack_count; i++)
		free(trace->stack[i].frame);
	free(trace->stack);
	free(trace->frame);
	free(trace->pid);
	table_close(&trace->frame_index);
	table_close(&trace->stack_index);
	protobuf_close(&trace->interned);
	protobuf_close(&trace->samples);
	protobuf_close(&trace->part);
	protobuf_close(&trace->sample);
	return failed ? -ENOMEM : 0;
}
