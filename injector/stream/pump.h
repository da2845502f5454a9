/* SPDX-License-Identifier: MIT */
/*
 * The room stream/: what the payload recorded becomes the record stream (hi_stream.h) that the analyzer reads.
 *
 *   pump.h             called every few milliseconds: enter here (pump_modules.c: modules as they come and go)
 *   ring_reader.h      records out of a ring that the target writes at the same time
 *   events_out.h       allocations and frees in their shortest form; stream_out.h: the stream's writer
 *   threads.h          names and numbers of threads
 *   file_broker.h      files that the analyzer may have
 *
 * Uses hooks/, unwind/, elf/, target/. Holds no thread.
 */

/*
 * pump.h - from the rings to the record stream: takes finished records out, gives times and thread numbers, and writes what describes the target around them.
 *
 * Knows nothing of ptrace or slots. Called every few milliseconds; never blocks.
 */
#ifndef HI_PUMP_H
#define HI_PUMP_H

#include "arch.h"
#include "elf_images.h"
#include "events_out.h"
#include "file_broker.h"
#include "ring_reader.h"
#include "stack_end.h"
#include "stream_out.h"
#include "threads.h"
#include "unhooked.h"

struct pump {
	struct ring_reader reader;
	const struct hi_stacks *stacks;
	uint64_t stacks_size;
	uint32_t *stack_number; /* by id: its number in the stream, 0 = not told yet */
	uint32_t last_stack;
	struct stream_out *out;
	struct events_out events;   /* of the round at hand; between two rounds all are in `out` */
	struct file_broker *broker; /* gets the files of modules to keep; NULL after pump_open */
	struct threads threads;
	struct stack_ends stack_ends;
	const struct memory *memory;
	struct arch_moment opened, set; /* when the session began, and when the cycle counter was last compared with the clock */
	uint64_t cycles_per_second;
	uint64_t interval;     /* as the header has it */
	uint64_t ns_per_cycle; /* times 2^32 */
	uint64_t last_pointer; /* the thread of the last event, and its number: the next one's is often the same */
	uint32_t last_thread;
	bool is_behind;      /* the last round left records in the rings, as the output was full */
	uint64_t unknown_sp; /* a stack pointer that the payload found in no region since the last round; 0 = none */
	struct sent_module {
		char *path;
		uint64_t device, inode, lo, hi, bias;
		uint32_t number;
		bool seen;
	} * sent;
	size_t sent_count;
	uint32_t last_module;
};

must_check int pump_open(struct pump *pump, struct stream_out *out, const struct memory *memory, const struct elf_images *images, pid_t pid);
void pump_close(struct pump *pump);
/* From now on: where the rings lie. */
void pump_connect(struct pump *pump, const struct rings *rings);
/* And where the stacks lie that its records name. -ENOMEM. */
must_check int pump_connect_stacks(struct pump *pump, const struct hi_stacks *stacks, uint64_t size);
uint64_t pump_now_ns(const struct pump *pump);

/* HEADER. Strings may be empty. */
struct pump_target {
	pid_t pid;
	uint64_t interval;
	uint32_t budget_ppm;
	const char *comm, *exe, *host, *version;
	const char *cmdline;
	size_t cmdline_size;
};
must_check int pump_header(struct pump *pump, const struct pump_target *target);
/* MODULE for what is new, MODULE_GONE for what is gone since the last call. */
must_check int pump_modules(struct pump *pump, const struct elf_images *images);
must_check int pump_maps(struct pump *pump, const struct maps *maps);
/* THREAD for those that go by another name now. */
must_check int pump_threads(struct pump *pump);
/* INTERVAL: new countdowns are drawn with this mean. */
must_check int pump_interval(struct pump *pump, uint64_t interval);
/* The first thing it does is to set the cycle counter, from which all times are taken, by the clock. */
must_check int pump_stats(struct pump *pump, const struct hi_stream_stats *stats);
/* MEMORY: what the process has now, as its status says; own_bytes of its writable mappings are ours. */
must_check int pump_memory(struct pump *pump, const struct proc_status *status, uint64_t own_bytes);
/* UNHOOKED, for each. */
must_check int pump_unhooked(struct pump *pump, const struct unhooked_list *list);
/* DUMP: the analyzer is to write what it has up to here. */
must_check int pump_dump(struct pump *pump);
must_check int pump_end(struct pump *pump, enum hi_stream_end_reason reason);

/*
 * Bounds the next rounds to what is in the rings now. Call it before looking at the list of loaded objects: then every frame of what is pumped lies in an
 * object whose MODULE record has been written.
 */
void pump_mark(struct pump *pump);
/*
 * Moves everything finished (up to the mark, unless `last`) from the rings to the stream. `last`: nobody writes any more, so unfinished records are given up at
 * once. -EPROTO: a ring is damaged; -EPIPE: the reader of the stream is gone.
 */
must_check int pump_round(struct pump *pump, bool last);
/*
 * The last rounds: until the rings are empty, however much a slow reader has left in it. deadline_ms: how long that reader may take nothing at all; -ETIMEDOUT
 * then.
 */
must_check int pump_drain(struct pump *pump, int deadline_ms);

#endif
