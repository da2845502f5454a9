/* SPDX-License-Identifier: MIT */
/*
 * stream_writer.h - record streams for tests, written from the declarations in hi_stream.h and
 * sharing no code with the reader.
 */
#ifndef HI_STREAM_WRITER_H
#define HI_STREAM_WRITER_H

#include <stdio.h>
#include <string.h>

#include "hi_stream.h"
#include "hi_unhooked.h"

static inline void stream_pad(FILE *out, size_t size)
{
	static const char zeros[8];

	fwrite(zeros, 1, (8 - size % 8) % 8, out);
}

/* Sets size and type; fixed points to the fixed part, and variable to what follows it. */
static inline void stream_put(FILE *out, void *fixed, size_t fixed_size, const void *variable,
			      size_t variable_size)
{
	struct hi_stream_record *record = fixed;

	record->size = (uint32_t)((fixed_size + variable_size + 7) / 8 * 8);
	fwrite(fixed, 1, fixed_size, out);
	if (variable_size)
		fwrite(variable, 1, variable_size, out);
	stream_pad(out, fixed_size + variable_size);
}

/* What stream_alloc's samples were drawn with: as of stream_header, until a test sets it. */
static uint64_t stream_drawn = 1;

static inline void stream_header(FILE *out, uint64_t interval)
{
	static const char strings[] = "server\0"
				      "/opt/server\0--port\0007\0"
				      "/opt/serverbox0.1.0";
	struct hi_stream_header header = {
		.record.type = HI_STREAM_HEADER,
		.magic = HI_STREAM_MAGIC,
		.version = HI_STREAM_VERSION,
		.pid = 1234,
		.interval = interval,
		.start_unix_ns = 1700000000000000000ull,
		.comm_size = 6,
		.cmdline_size = 21,
		.exe_size = 11,
		.host_size = 3,
		.version_size = 5,
	};
	char variable[64];
	const size_t size = 6 + 21 + 11 + 3 + 5;

	stream_drawn = interval;
	/* comm has no terminator; the command line's arguments have. */
	memcpy(variable, strings, 6);
	memcpy(variable + 6, strings + 7, size - 6);
	stream_put(out, &header, sizeof(header), variable, size);
}

static inline void stream_module(FILE *out, uint32_t number, uint64_t lo, uint64_t hi,
				 const char *path)
{
	struct hi_stream_module module = {
		.record.type = HI_STREAM_MODULE,
		.module = number,
		.build_id_size = 4,
		.lo = lo,
		.hi = hi,
		.file_offset = 0x1000,
		.bias = lo - 0x1000,
		.path_size = (uint32_t)strlen(path),
	};
	char variable[512];

	memcpy(variable, "\xde\xad\xbe\xef", 4);
	memcpy(variable + 4, path, strlen(path));
	stream_put(out, &module, sizeof(module), variable, 4 + strlen(path));
}

static inline void stream_module_gone(FILE *out, uint32_t number)
{
	struct hi_stream_module_gone gone = {.record.type = HI_STREAM_MODULE_GONE,
					     .module = number};

	stream_put(out, &gone, sizeof(gone), NULL, 0);
}

static inline void stream_maps(FILE *out, const char *text)
{
	struct hi_stream_maps maps = {.record.type = HI_STREAM_MAPS,
				      .text_size = (uint32_t)strlen(text)};

	stream_put(out, &maps, sizeof(maps), text, strlen(text));
}

/* end: enum hi_stack_end */
static inline void stream_alloc_ended(FILE *out, uint64_t address, uint16_t end,
				      const uint64_t *frame, uint16_t frame_count, uint64_t bytes)
{
	struct hi_stream_alloc alloc = {
		.record.type = HI_STREAM_ALLOC,
		.record.flags = end,
		.time_ns = 1000,
		.address = address,
		.bytes = bytes,
		.thread = 1,
		.frame_count = frame_count,
		.interval = stream_drawn,
		.slack = 8,
	};

	stream_put(out, &alloc, sizeof(alloc), frame, frame_count * sizeof(*frame));
}

static inline void stream_alloc(FILE *out, uint64_t address, uint64_t bytes, const uint64_t *frame,
				uint16_t frame_count)
{
	stream_alloc_ended(out, address, 0, frame, frame_count, bytes);
}

static inline void stream_thread(FILE *out, uint32_t number, uint32_t tid, const char *name)
{
	struct hi_stream_thread thread = {.record.type = HI_STREAM_THREAD,
					  .thread = number,
					  .tid = tid,
					  .name_size = (uint32_t)strlen(name)};

	stream_put(out, &thread, sizeof(thread), name, strlen(name));
}

static inline void stream_stack(FILE *out, uint32_t number, const uint64_t *frame,
				uint32_t frame_count)
{
	struct hi_stream_stack stack = {
		.record.type = HI_STREAM_STACK, .stack = number, .frame_count = frame_count};

	stream_put(out, &stack, sizeof(stack), frame, frame_count * sizeof(*frame));
}

/* The thread that stream_alloc_on is about, until a test sets another. */
static uint32_t stream_by = 1;

static inline void stream_alloc_on(FILE *out, uint64_t address, uint64_t bytes, uint32_t stack)
{
	struct hi_stream_alloc alloc = {
		.record.type = HI_STREAM_ALLOC,
		.time_ns = 1000,
		.address = address,
		.bytes = bytes,
		.thread = stream_by,
		.interval = stream_drawn,
		.slack = 8,
		.stack = stack,
	};

	stream_put(out, &alloc, sizeof(alloc), NULL, 0);
}

/* An EVENTS record around so many bytes of events. */
static inline void stream_events(FILE *out, const struct hi_stream_event *event, size_t bytes)
{
	struct hi_stream_events events = {.record.type = HI_STREAM_EVENTS,
					  .time_ns = 1000,
					  .last_ns = 2000,
					  .interval = stream_drawn};

	stream_put(out, &events, sizeof(events), event, bytes);
}

static inline void stream_free(FILE *out, uint64_t address)
{
	struct hi_stream_free record = {
		.record.type = HI_STREAM_FREE, .time_ns = 2000, .address = address, .thread = 1};

	stream_put(out, &record, sizeof(record), NULL, 0);
}

static inline void stream_unfree(FILE *out, uint64_t address)
{
	struct hi_stream_free record = {
		.record.type = HI_STREAM_UNFREE, .time_ns = 2000, .address = address, .thread = 1};

	stream_put(out, &record, sizeof(record), NULL, 0);
}

static inline void stream_interval(FILE *out, uint64_t interval)
{
	struct hi_stream_interval record = {
		.record.type = HI_STREAM_INTERVAL, .time_ns = 3000, .interval = interval};

	stream_put(out, &record, sizeof(record), NULL, 0);
}

static inline void stream_stats(FILE *out)
{
	struct hi_stream_stats stats = {.record.type = HI_STREAM_STATS,
					.time_ns = 4000,
					.dropped_allocs = 3,
					.dropped_frees = 2,
					.payload_cpu_ns = 77};

	stream_put(out, &stats, sizeof(stats), NULL, 0);
}

static inline void stream_memory(FILE *out, uint64_t anonymous, uint64_t writable)
{
	struct hi_stream_memory record = {.record.type = HI_STREAM_MEMORY,
					  .time_ns = 4000,
					  .anonymous_bytes = anonymous,
					  .writable_bytes = writable};

	stream_put(out, &record, sizeof(record), NULL, 0);
}

/* path: empty = the program itself. */
static inline void stream_unhooked(FILE *out, enum hi_unhooked how, const char *name,
				   const char *path)
{
	struct hi_stream_unhooked record = {
		.record.type = HI_STREAM_UNHOOKED,
		.record.flags = (uint16_t)how,
		.name_size = (uint32_t)strlen(name),
		.path_size = (uint32_t)strlen(path),
	};
	char both[512];

	stream_put(out, &record, sizeof(record), both,
		   (size_t)snprintf(both, sizeof(both), "%s%s", name, path));
}

static inline void stream_hooked(FILE *out, const char *text)
{
	struct hi_stream_hooked record = {.record.type = HI_STREAM_HOOKED,
					  .text_size = (uint32_t)strlen(text)};

	stream_put(out, &record, sizeof(record), text, strlen(text));
}

static inline void stream_code(FILE *out, uint64_t lo, uint64_t hi, const char *name)
{
	struct hi_stream_code record = {.record.type = HI_STREAM_CODE,
					.lo = lo,
					.hi = hi,
					.name_size = (uint32_t)strlen(name)};

	stream_put(out, &record, sizeof(record), name, strlen(name));
}

static inline void stream_runtime(FILE *out, unsigned number)
{
	struct hi_stream_runtime record = {.record.type = HI_STREAM_RUNTIME,
					   .record.flags = (uint16_t)number};

	stream_put(out, &record, sizeof(record), NULL, 0);
}

static inline void stream_thinned(FILE *out, const struct hi_stream_thinned_place *place,
				  uint32_t count)
{
	struct hi_stream_thinned record = {.record.type = HI_STREAM_THINNED, .count = count};

	stream_put(out, &record, sizeof(record), place, count * sizeof(*place));
}

static inline void stream_dump(FILE *out, uint64_t time_ns)
{
	struct hi_stream_dump record = {.record.type = HI_STREAM_DUMP, .time_ns = time_ns};

	stream_put(out, &record, sizeof(record), NULL, 0);
}

static inline void stream_end(FILE *out)
{
	struct hi_stream_end end = {.record.type = HI_STREAM_END,
				    .record.flags = HI_STREAM_END_DURATION,
				    .time_ns = 5000};

	stream_put(out, &end, sizeof(end), NULL, 0);
}

#endif
