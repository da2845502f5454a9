/* SPDX-License-Identifier: MIT */
/*
 * Room stream/: turns the payload's records into the record stream (hi_stream.h) that the
 * analyzer reads.
 *
 *   pump.h             called every few milliseconds: start here
 *   pump_modules.c     modules as they come and go
 *   pump_messages.c    what the session says of the process and of itself
 *   pump_stacks.c      stacks, each once
 *   ring_reader.h      records out of a ring that the target writes at the same time
 *   code_out.h         names of a JVM's code
 *   events_out.h       allocations and frees in their shortest form
 *   stream_out.h       the stream's writer
 *   threads.h          names and numbers of threads
 *   file_broker.h      files that the analyzer may read
 *
 * Uses inspect/, hooks/, hotspot/, unwind/, elf/, target/. Stops no thread.
 */

/*
 * pump.h - from the rings to the record stream: takes finished records out of the rings, adds times
 * and thread numbers, and writes the records that describe the target.
 *
 * It has nothing to do with ptrace or slots. Called every few milliseconds; never blocks.
 */
#ifndef HI_PUMP_H
#define HI_PUMP_H

#include "arch.h"
#include "code_out.h"
#include "elf_images.h"
#include "events_out.h"
#include "file_broker.h"
#include "heap_figures.h"
#include "memory_limit.h"
#include "named_functions.h"
#include "ring_reader.h"
#include "stack_end.h"
#include "stream_out.h"
#include "thinned_places.h"
#include "threads.h"
#include "unhooked.h"
#include "unsampled_frees.h"

#define PUMP_HIDDEN_MAX 2u

struct pump {
	struct ring_reader reader;
	const struct hi_stacks *stacks;
	uint64_t stacks_size;
	uint32_t *stack_number; /* by stack id: its number in the stream, 0 = not written yet */
	/*
	 * by stack id: which interpreted methods it led through when it was given its number, and
	 * in which generation (hotspot_methods.h) that was so last. NULL: no stack does
	 */
	struct stack_names {
		uint32_t names; /* 0 = none */
		uint32_t generation;
	} * stack_names;
	uint32_t last_stack;
	struct stream_out *out;
	struct code_out code;
	/* of the current round; between two rounds all events are in `out` */
	struct events_out events;
	struct file_broker *broker; /* keeps the files of modules; NULL after pump_open */
	struct threads threads;
	struct stack_ends stack_ends;
	struct hidden_code {
		remote_addr lo, hi;
	} hidden[PUMP_HIDDEN_MAX];
	unsigned hidden_count;
	struct thinned_places thinned_places;
	const struct memory *memory;
	/* when the session began, and when the cycle counter was last compared with the clock */
	struct arch_moment opened, set;
	uint64_t stopped_ns; /* if not 0, it is always this time */
	uint64_t cycles_per_second;
	uint64_t interval;     /* as in the header */
	uint64_t ns_per_cycle; /* times 2^32 */
	/*
	 * thread pointer of the last event; last_thread is its number. The next event often has the
	 * same.
	 */
	uint64_t last_pointer;
	uint32_t last_thread;
	/* the last round left records in the rings, because the output was full */
	bool is_behind;
	/* a stack pointer for which the payload found no region since the last round; 0 = none */
	uint64_t unknown_sp;
	/* a new stack came to no proper end: its code may be unknown. The reader of this clears it
	 */
	bool is_code_missing;
	struct sent_module {
		char *path;
		uint64_t device, inode, lo, hi, bias;
		uint32_t number;
		bool seen;
	} * sent;
	size_t sent_count;
	uint32_t last_module;
	/*
	 * How many objects had been loaded when the modules were read that the stream has; 0 = not
	 * known. are_blurred: more were loaded while they were read.
	 */
	uint64_t loads;
	bool are_blurred;
	/* the objects that the stream has to have before the end of the next round */
	struct pump_objects {
		const struct elf_images *images; /* NULL: there is nothing to do */
		uint64_t loads;
		bool are_blurred;
	} coming;
};

must_check int pump_open(struct pump *pump, struct stream_out *out, const struct memory *memory,
			 const struct elf_images *images, pid_t pid);
void pump_close(struct pump *pump);
/* Sets the location of the rings from now on. */
void pump_connect(struct pump *pump, const struct rings *rings);
/* Sets the location of the interned stacks that the records refer to. -ENOMEM. */
must_check int pump_connect_stacks(struct pump *pump, const struct hi_stacks *stacks,
				   uint64_t size);
/*
 * From now on stacks have no frames with these addresses: where a signal came in within code of
 * ours. At most PUMP_HIDDEN_MAX times.
 */
void pump_hide_code(struct pump *pump, remote_addr lo, remote_addr hi);
/*
 * The number in the stream of a stack that was recorded then. Its STACK record is written
 * first, unless the stream has it. 0: the id, which must lie in the stacks part, refers to no
 * stack.
 */
must_check int pump_stack_number(struct pump *pump, uint32_t id, uint64_t cycles,
				 uint32_t *out_number);
/*
 * Copies a stack out of memory that the target can write, so that the values that were checked are
 * the ones that are used. False: there is none.
 */
bool pump_copy_stack(const struct pump *pump, uint32_t id, struct hi_stream_stack *out_stack,
		     uint64_t frame[HI_FRAMES_MAX]);
/* Writes CODE for what these frames lead through, and has them as the stream has them. */
must_check int pump_name_frames(struct pump *pump, struct code_out_frames frames);
void pump_close_stacks(struct pump *pump);
uint64_t pump_now_ns(const struct pump *pump);
/* From now on it is always this moment, as the process has come to its end. */
void pump_stop_clock(struct pump *pump);
/* Compares the cycle counter with the clock, for the times from now on. pump_stats does so. */
void pump_set_clock(struct pump *pump);

/* Contents of HEADER. Strings may be empty. */
struct pump_target {
	pid_t pid;
	uint64_t start_ticks; /* of proc_start_time(); 0 = unknown */
	uint64_t interval;
	uint32_t budget_ppm;
	const char *comm, *exe, *host, *version;
	const char *cmdline;
	size_t cmdline_size;
};
must_check int pump_header(struct pump *pump, const struct pump_target *target);
/*
 * Writes MODULE for objects that are new since the last call, and MODULE_GONE for objects that are
 * gone.
 */
must_check int pump_modules(struct pump *pump, const struct elf_images *images);
/*
 * The same, in the next round: between the records that were made before and those that were made
 * after the objects were loaded. Records of the time in between are marked, if objects have come
 * and gone unseen. images must live until that round, or pump_settle_modules. loads: from before
 * the images were read, 0 = not known; are_blurred: it has changed since, and what was read of one
 * object may be another's, so that the stream keeps the modules of before.
 */
must_check int pump_follow_modules(struct pump *pump, const struct pump_objects *objects);
/* Writes now what that round has not written, because the output was full. */
must_check int pump_settle_modules(struct pump *pump);
/*
 * Before a record is written that was made when the lowest bits of the number of loaded objects
 * were `loads`. out_is_sure: the stream has the modules of that moment.
 */
must_check int pump_reach(struct pump *pump, uint16_t loads, bool *out_is_sure);
must_check int pump_maps(struct pump *pump, const struct maps *maps);
/* Writes THREAD for threads whose name has changed. */
must_check int pump_threads(struct pump *pump);
/* Writes INTERVAL: from now on new countdowns are drawn with this mean. */
must_check int pump_interval(struct pump *pump, uint64_t interval);
/*
 * First adjusts the cycle counter, from which all times are taken, to the clock. Then writes the
 * statistics.
 */
must_check int pump_stats(struct pump *pump, const struct hi_stream_stats *stats);
/* Writes UNSAMPLED_FREES. */
must_check int pump_unsampled_frees(struct pump *pump, const struct unsampled_frees *frees);
/*
 * Writes MEMORY: the process's current memory. status: without what the injector has in the
 * process.
 */
must_check int pump_memory(struct pump *pump, const struct proc_status *status,
			   const struct memory_limit *limit);
/* Writes HEAP: what its allocators have, as of begun_ns (pump_now_ns). */
must_check int pump_heap(struct pump *pump, const struct heap_figures *figures, uint64_t begun_ns);
/* Writes UNHOOKED for each entry. */
must_check int pump_unhooked(struct pump *pump, const struct unhooked_list *list);
/* Writes HOOKED for each allocator. entries: as in hooked_describe. */
must_check int pump_hooked(struct pump *pump, const struct allocators *allocators,
			   const struct entries *entries);
/* Writes RUNTIME for each bit, 1 << enum hi_runtime. */
must_check int pump_runtimes(struct pump *pump, uint32_t runtimes);
/* Writes MAPPING of no bytes: a session in which nothing is mapped was asked for mappings, too. */
must_check int pump_mappings_asked(struct pump *pump);
/* Writes NAMED for each function that allocates. */
must_check int pump_named(struct pump *pump, const struct named_functions *named,
			  const struct hi_control *control);
/* Writes THINNED, if a place was thinned. */
must_check int pump_thinned(struct pump *pump, const struct thinned_due *due);
must_check int pump_pause(struct pump *pump, bool begins);
/* Writes RESET: a new profile begins. */
must_check int pump_reset(struct pump *pump);
/*
 * Writes DUMP: the analyzer is to output what it has received so far. trigger: bits of enum
 * hi_dump_trigger.
 */
must_check int pump_dump(struct pump *pump, uint32_t trigger);
/*
 * Writes LEAKED, several if there are many blocks, and waits until the reader has taken them: at
 * most deadline_ms for each.
 */
must_check int pump_leaked(struct pump *pump, const struct hi_stream_leaked_block *list,
			   size_t count, int deadline_ms);
must_check int pump_end(struct pump *pump, enum hi_stream_end_reason reason);

/*
 * Limits the next rounds to the records that are in the rings now. Call it before reading the list
 * of loaded objects: then every frame of the pumped records lies in an object whose MODULE record
 * has been written.
 */
void pump_mark(struct pump *pump);
/*
 * Moves all finished records (up to the mark, unless `last`) from the rings to the stream. `last`:
 * no thread writes any more, so unfinished records are given up at once. -EPROTO: a ring is
 * damaged; -EPIPE: the reader of the stream is gone.
 */
must_check int pump_round(struct pump *pump, bool last);
/*
 * Runs the last rounds until the rings are empty, however much a slow reader has left in them.
 * deadline_ms: how long that reader may take no data at all; after that, -ETIMEDOUT.
 */
must_check int pump_drain(struct pump *pump, int deadline_ms);

#endif
