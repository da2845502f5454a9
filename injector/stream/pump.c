/* SPDX-License-Identifier: MIT */
/* pump.c - see pump.h. */
#include "pump.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hi_runtimes.h"
#include "hooked.h"

/*
 * many times the capacity of the rings: a hostile target that still has the rings may keep filling
 * them
 */
#define DRAIN_ROUNDS_MAX 64
#define SET_CLOCK_NS_MIN 100000000u
#define RATE_ERROR_MAX 1e-3
/* how long to wait for a record whose producer may only be descheduled */
#define PATIENCE_NS 1000000000ull
#define LEAKED_AT_ONCE 65536u /* blocks in a record */

int pump_open(struct pump *pump, struct stream_out *out, const struct memory *memory,
	      const struct elf_images *images, pid_t pid)
{
	*pump = (struct pump){.out = out, .memory = memory};
	pump->cycles_per_second = arch_cycles_per_second();
	pump->ns_per_cycle =
		(uint64_t)(((unsigned __int128)1000000000u << 32) / pump->cycles_per_second);
	pump->opened = pump->set = arch_moment_now();
	return threads_open(&pump->threads, pid, images, memory);
}

void pump_close(struct pump *pump)
{
	for (size_t i = 0; i < pump->sent_count; i++)
		free(pump->sent[i].path);
	free(pump->sent);
	free(pump->stack_number);
	code_out_close(&pump->code);
	threads_close(&pump->threads);
	thinned_places_close(&pump->thinned_places);
	*pump = (struct pump){0};
}

void pump_connect(struct pump *pump, const struct rings *rings)
{
	ring_reader_open(&pump->reader, rings);
	pump->reader.asks_ahead = arch_has_write_prefetch();
}

int pump_connect_stacks(struct pump *pump, const struct hi_stacks *stacks, uint64_t size)
{
	pump->stack_number = calloc(size / HI_STACK_UNIT, sizeof(*pump->stack_number));
	if (!pump->stack_number)
		return -ENOMEM;
	pump->stacks = stacks;
	pump->stacks_size = size;
	return 0;
}

/*
 * Counters of different CPUs may differ a little; an event with a time before the start counts as
 * an event at the start.
 */
static uint64_t to_ns(const struct pump *pump, uint64_t cycles)
{
	const int64_t since_set = (int64_t)(cycles - pump->set.cycles);
	const uint64_t set_ns = pump->set.ns - pump->opened.ns;
	if (since_set >= 0 && since_set <= UINT32_MAX && pump->ns_per_cycle <= UINT32_MAX)
		return set_ns + ((uint64_t)since_set * pump->ns_per_cycle >> 32);
	const __int128 ns =
		(__int128)set_ns + ((__int128)since_set * (__int128)pump->ns_per_cycle >> 32);
	return ns > 0 ? (uint64_t)ns : 0;
}

/*
 * Over the quarter of a second, or more, between two calls, the counter's rate can be measured far
 * better than by the calibration, and the remaining error does not accumulate. If the rate differs
 * from the calibrated one by more than the calibration's error can be, the counter or the clock was
 * not running all the time (suspend): then only the current moment is taken over, not the rate.
 */
static void set_clock(struct pump *pump)
{
	const struct arch_moment now = arch_moment_now();
	const uint64_t ns = now.ns - pump->set.ns;
	if (ns < SET_CLOCK_NS_MIN)
		return;
	const double rate = (double)(int64_t)(now.cycles - pump->set.cycles) * 1e9 / (double)ns;
	if (fabs(rate / (double)pump->cycles_per_second - 1) < RATE_ERROR_MAX)
		pump->ns_per_cycle = (uint64_t)(0x1p32 * 1e9 / rate);
	pump->set = now;
}

uint64_t pump_now_ns(const struct pump *pump)
{
	return pump->stopped_ns ? pump->stopped_ns : to_ns(pump, arch_cycles());
}

void pump_stop_clock(struct pump *pump)
{
	pump->stopped_ns = pump_now_ns(pump);
}

static uint64_t unix_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int pump_header(struct pump *pump, const struct pump_target *target)
{
	pump->interval = target->interval;
	struct hi_stream_header header = {
		.magic = HI_STREAM_MAGIC,
		.version = HI_STREAM_VERSION,
		.pid = (uint32_t)target->pid,
		.interval = target->interval,
		.budget_ppm = target->budget_ppm,
		.start_unix_ns = unix_ns(),
		.comm_size = (uint16_t)strlen(target->comm),
		.host_size = (uint16_t)strlen(target->host),
		.version_size = (uint16_t)strlen(target->version),
		.exe_size = (uint16_t)strlen(target->exe),
		.cmdline_size = (uint32_t)target->cmdline_size,
	};
	const struct stream_part parts[] = {
		{target->comm, header.comm_size},       {target->cmdline, target->cmdline_size},
		{target->exe, header.exe_size},         {target->host, header.host_size},
		{target->version, header.version_size},
	};
	int err = stream_out_record(pump->out, HI_STREAM_HEADER, &header, sizeof(header), parts,
				    sizeof(parts) / sizeof(*parts));
	struct hi_stream_process process = {.start_ticks = target->start_ticks};
	if (!err && target->start_ticks)
		err = stream_out_record(pump->out, HI_STREAM_PROCESS, &process, sizeof(process),
					NULL, 0);
	return err;
}

/* Size of as many whole lines as fit into a record: a target can have more than that. */
static size_t maps_that_fit(const struct maps *maps)
{
	const size_t most = HI_STREAM_RECORD_MAX - sizeof(struct hi_stream_maps);
	if (maps->text_size <= most)
		return maps->text_size;
	const char *newline = memrchr(maps->text, '\n', most);
	return newline ? (size_t)(newline - maps->text) + 1 : 0;
}

int pump_maps(struct pump *pump, const struct maps *maps)
{
	const struct stream_part text = {maps->text, maps_that_fit(maps)};
	struct hi_stream_maps record = {.time_ns = pump_now_ns(pump),
					.text_size = (uint32_t)text.size};
	return stream_out_record(pump->out, HI_STREAM_MAPS, &record, sizeof(record), &text, 1);
}

int pump_interval(struct pump *pump, uint64_t interval)
{
	struct hi_stream_interval record = {.time_ns = pump_now_ns(pump), .interval = interval};
	return stream_out_record(pump->out, HI_STREAM_INTERVAL, &record, sizeof(record), NULL, 0);
}

int pump_stats(struct pump *pump, const struct hi_stream_stats *stats)
{
	struct hi_stream_stats copy = *stats;
	set_clock(pump);
	copy.time_ns = pump_now_ns(pump);
	return stream_out_record(pump->out, HI_STREAM_STATS, &copy, sizeof(copy), NULL, 0);
}

int pump_memory(struct pump *pump, const struct proc_status *status,
		const struct memory_limit *limit, uint64_t own_bytes)
{
	struct hi_stream_memory memory = {
		.time_ns = pump_now_ns(pump),
		.anonymous_bytes = status->anonymous_bytes,
		.writable_bytes =
			status->writable_bytes > own_bytes ? status->writable_bytes - own_bytes : 0,
		.resident_bytes = status->resident_bytes,
		.limit_bytes = limit->limit,
		.limited_bytes = limit->used,
		.threads = status->threads,
	};
	return stream_out_record(pump->out, HI_STREAM_MEMORY, &memory, sizeof(memory), NULL, 0);
}

int pump_heap(struct pump *pump, const struct heap_figures *figures, uint64_t begun_ns)
{
	const struct stream_part parts[] = {{figures->name, strlen(figures->name)},
					    {figures->refusal, strlen(figures->refusal)}};
	struct hi_stream_heap heap = {
		.time_ns = begun_ns,
		.anonymous_bytes = figures->anonymous,
		.used_bytes = figures->used_bytes,
		.used_count = figures->used_count,
		.used_resident_bytes = figures->used,
		.free_resident_bytes = figures->free,
		.cache_resident_bytes = figures->cached,
		.trim_bytes = figures->trimmable,
		.own_resident_bytes = figures->own,
		.unsure_resident_bytes = figures->unsure,
		.cost_ns = figures->cost_ns,
		.name_size = (uint32_t)parts[0].size,
		.refusal_size = (uint32_t)parts[1].size,
	};
	return stream_out_record(pump->out, HI_STREAM_HEAP, &heap, sizeof(heap), parts, 2);
}

int pump_unsampled_frees(struct pump *pump, const struct unsampled_frees *frees)
{
	struct hi_stream_frees list[HI_SIZE_CLASSES];
	struct hi_stream_unsampled_frees record = {.time_ns = pump_now_ns(pump),
						   .classes = unsampled_frees_list(frees, list),
						   .share_ppm = (uint64_t)(frees->share * 1e6)};
	const struct stream_part part = {list, record.classes * sizeof(*list)};
	return stream_out_record(pump->out, HI_STREAM_UNSAMPLED_FREES, &record, sizeof(record),
				 &part, 1);
}

int pump_unhooked(struct pump *pump, const struct unhooked_list *list)
{
	int err = 0;
	for (size_t i = 0; !err && i < list->count; i++) {
		const struct unhooked *unhooked = &list->unhooked[i];
		const struct stream_part parts[] = {
			{unhooked->function, strlen(unhooked->function)},
			{unhooked->path, strlen(unhooked->path)}};
		struct hi_stream_unhooked record = {.record.flags = (uint16_t)unhooked->how,
						    .time_ns = pump_now_ns(pump)};
		record.name_size = (uint32_t)parts[0].size;
		record.path_size = (uint32_t)(unhooked->is_main ? 0 : parts[1].size);
		err = stream_out_record(pump->out, HI_STREAM_UNHOOKED, &record, sizeof(record),
					parts, unhooked->is_main ? 1 : 2);
	}
	return err;
}

int pump_hooked(struct pump *pump, const struct allocators *allocators,
		const struct entries *entries)
{
	char text[HOOKED_TEXT_MAX];
	int err = 0;
	for (size_t i = 0; !err && i < allocators->count; i++) {
		hooked_describe(allocators, entries, i, text);
		const struct stream_part part = {text, strlen(text)};
		struct hi_stream_hooked record = {.time_ns = pump_now_ns(pump),
						  .text_size = (uint32_t)part.size};
		err = stream_out_record(pump->out, HI_STREAM_HOOKED, &record, sizeof(record), &part,
					1);
	}
	return err;
}

int pump_runtimes(struct pump *pump, uint32_t runtimes)
{
	int err = 0;
	for (unsigned number = 0; !err && number < HI_RUNTIME_COUNT; number++) {
		struct hi_stream_runtime record = {.record.flags = (uint16_t)number,
						   .time_ns = pump_now_ns(pump)};
		if (runtimes >> number & 1)
			err = stream_out_record(pump->out, HI_STREAM_RUNTIME, &record,
						sizeof(record), NULL, 0);
	}
	return err;
}

int pump_mappings_asked(struct pump *pump)
{
	struct hi_stream_mapping record = {.record.flags = HI_MAPPING_KEPT,
					   .time_ns = pump_now_ns(pump)};

	return stream_out_record(pump->out, HI_STREAM_MAPPING, &record, sizeof(record), NULL, 0);
}

int pump_named(struct pump *pump, const struct named_functions *named,
	       const struct hi_control *control)
{
	int err = 0;

	for (size_t i = 0; i < named->alloc_count && !err; i++) {
		const struct stream_part name = {named->alloc[i].name,
						 strlen(named->alloc[i].name)};
		struct hi_stream_named record = {
			.time_ns = pump_now_ns(pump),
			.calls = __atomic_load_n(&control->named[i].calls, __ATOMIC_RELAXED),
			.senseless =
				__atomic_load_n(&control->named[i].senseless, __ATOMIC_RELAXED),
			.function = named_function_hook(false, i),
			.name_size = (uint32_t)name.size};

		err = stream_out_record(pump->out, HI_STREAM_NAMED, &record, sizeof(record), &name,
					1);
	}
	return err;
}

int pump_thinned(struct pump *pump, const struct thinned_due *due)
{
	struct hi_stream_thinned_place *list =
		calloc(pump->thinned_places.count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	struct hi_stream_thinned record = {
		.time_ns = pump_now_ns(pump),
		.count = thinned_places_list(&pump->thinned_places, due, pump->interval, list)};
	const struct stream_part part = {list, record.count * sizeof(*list)};
	const int err = record.count ? stream_out_record(pump->out, HI_STREAM_THINNED, &record,
							 sizeof(record), &part, 1)
				     : 0;
	free(list);
	return err;
}

int pump_pause(struct pump *pump, bool begins)
{
	struct hi_stream_pause pause = {.record.flags = begins ? HI_STREAM_PAUSE_BEGINS : 0,
					.time_ns = pump_now_ns(pump)};
	return stream_out_record(pump->out, HI_STREAM_PAUSE, &pause, sizeof(pause), NULL, 0);
}

int pump_reset(struct pump *pump)
{
	struct hi_stream_reset reset = {.time_ns = pump_now_ns(pump), .start_unix_ns = unix_ns()};
	return stream_out_record(pump->out, HI_STREAM_RESET, &reset, sizeof(reset), NULL, 0);
}

int pump_dump(struct pump *pump, uint32_t trigger)
{
	struct hi_stream_dump dump = {.record.flags = (uint16_t)trigger,
				      .time_ns = pump_now_ns(pump)};
	return stream_out_record(pump->out, HI_STREAM_DUMP, &dump, sizeof(dump), NULL, 0);
}

int pump_leaked(struct pump *pump, const struct hi_stream_leaked_block *list, size_t count,
		int deadline_ms)
{
	size_t done = 0;
	int err;

	do {
		const size_t left = count - done;
		struct hi_stream_leaked record = {
			.time_ns = pump_now_ns(pump),
			.count = (uint32_t)(left < LEAKED_AT_ONCE ? left : LEAKED_AT_ONCE)};
		const struct stream_part part = {list + done, record.count * sizeof(*list)};

		err = stream_out_record(pump->out, HI_STREAM_LEAKED, &record, sizeof(record), &part,
					1);
		if (!err)
			err = stream_out_drain(pump->out, deadline_ms);
		done += record.count;
	} while (!err && done < count);
	return err;
}

int pump_end(struct pump *pump, enum hi_stream_end_reason reason)
{
	struct hi_stream_end end = {.record.flags = (uint16_t)reason, .time_ns = pump_now_ns(pump)};
	return stream_out_record(pump->out, HI_STREAM_END, &end, sizeof(end), NULL, 0);
}

static int send_thread(struct pump *pump, const struct thread *thread, uint64_t time_ns)
{
	struct hi_stream_thread record = {
		.thread = thread->number, .tid = (uint32_t)thread->tid, .time_ns = time_ns};
	const struct stream_part name = {thread->name, strnlen(thread->name, sizeof(thread->name))};
	record.name_size = (uint32_t)name.size;
	return stream_out_record(pump->out, HI_STREAM_THREAD, &record, sizeof(record), &name, 1);
}

int pump_threads(struct pump *pump)
{
	const struct thread *renamed;
	int err = 0;
	/* Bounded: a target may rename its threads as fast as it can. */
	for (int i = 0; !err && i < THREADS_RENAMED_AT_ONCE &&
			(renamed = threads_renamed(&pump->threads, pump->memory));
	     i++) {
		err = send_thread(pump, renamed, pump_now_ns(pump));
		pump->last_pointer = 0; /* the thread with this pointer may have a new number */
	}
	return err;
}

/* Finds the thread's number. Writes a THREAD record first if the thread is new. */
static int new_thread_number(struct pump *pump, const struct hi_record_header *header,
			     uint32_t *out_number)
{
	const struct thread *thread;
	bool is_new;
	int err = threads_get(&pump->threads, pump->memory, header->thread, &thread, &is_new);
	if (err)
		return err;
	*out_number = pump->last_thread = thread->number;
	pump->last_pointer = header->thread;
	return is_new ? send_thread(pump, thread, to_ns(pump, header->cycles)) : 0;
}

/* The number of the thread that caused an event. */
static inline int thread_number(struct pump *pump, const struct hi_record_header *header,
				uint32_t *out_number)
{
	*out_number = pump->last_thread;
	return header->thread == pump->last_pointer && pump->last_pointer
		       ? 0
		       : new_thread_number(pump, header, out_number);
}

static uint64_t interval_of(const struct pump *pump, uint32_t interval_shift)
{
	return pump->interval << (interval_shift <= HI_INTERVAL_SHIFT_MAX ? interval_shift : 0);
}

/* Of the sampled block that this function gave: ALLOC, or one of those that are alone. */
static enum hi_stream_type type_of(uint16_t function)
{
	if (function == HI_FN_MMAP || function == HI_FN_MREMAP || function == HI_FN_SBRK)
		return HI_STREAM_MAPPED;
	return function >= HI_FN_NAMED_ALLOC_0 ? HI_STREAM_POOLED : HI_STREAM_ALLOC;
}

static int send_alloc(struct pump *pump, const struct hi_record_alloc *from, bool is_sure)
{
	struct hi_stream_alloc alloc = {
		.record.flags = stack_end_classify(&pump->stack_ends, pump->memory, from->stack_end,
						   from->frame, from->frame_count),
		.time_ns = to_ns(pump, from->header.cycles),
		.address = from->address,
		.bytes = from->bytes,
		.function = from->function,
		.frame_count = (uint16_t)from->frame_count,
		.interval = interval_of(pump, from->interval_shift),
		.slack = from->slack,
	};
	alloc.record.flags |= is_sure ? 0 : HI_STREAM_UNSURE;
	int err = thread_number(pump, &from->header, &alloc.thread);
	if (err)
		return err;
	err = events_out_close(&pump->events, pump->out);
	if (err)
		return err;
	const struct stream_part frames = {from->frame, from->frame_count * sizeof(uint64_t)};
	return stream_out_record(pump->out, type_of(from->function), &alloc, sizeof(alloc), &frames,
				 1);
}

/*
 * Copies a stack out of memory that the target can write, so that the values that were checked are
 * the ones that are used. False: there is none.
 */
static bool stack_copy(const struct pump *pump, uint32_t id, struct hi_stream_stack *out_stack,
		       uint64_t frame[HI_FRAMES_MAX])
{
	const uint64_t offset = (uint64_t)id * HI_STACK_UNIT;
	if (offset < sizeof(*pump->stacks) || offset > pump->stacks_size - sizeof(struct hi_stack))
		return false;
	const uint64_t *word =
		(const uint64_t *)(const void *)((const uint8_t *)pump->stacks + offset);
	const uint64_t head = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	const uint32_t count = (uint32_t)head;
	if (!count || count > HI_FRAMES_MAX ||
	    count * sizeof(uint64_t) > pump->stacks_size - offset - sizeof(struct hi_stack))
		return false;
	for (uint32_t i = 0; i < count; i++)
		frame[i] = __atomic_load_n(&word[1 + i], __ATOMIC_RELAXED);
	*out_stack = (struct hi_stream_stack){.record.flags = (uint16_t)(head >> 32),
					      .frame_count = count};
	return true;
}

/* Writes CODE for what these frames lead through, unless the stream has it. */
static int name_code(struct pump *pump, const uint64_t *frame, uint32_t count)
{
	if (!pump->hotspot || !pump->hotspot->is_known)
		return 0;
	return code_out_frames(&pump->code, pump->hotspot, pump->memory,
			       &(struct code_out_stream){pump->out, pump_now_ns(pump)},
			       &(struct stream_part){frame, count * sizeof(*frame)});
}

/*
 * Assigns a stack number and writes the stack's STACK record first. 0: the id refers to no stack.
 */
static int new_stack_number(struct pump *pump, uint32_t id, uint32_t *out_number)
{
	struct hi_stream_stack stack;
	uint64_t frame[HI_FRAMES_MAX];
	*out_number = 0;
	if (id >= pump->stacks_size / HI_STACK_UNIT || !stack_copy(pump, id, &stack, frame))
		return 0;
	stack.stack = pump->stack_number[id] = *out_number = ++pump->last_stack;
	pump->is_code_missing |= stack.record.flags != HI_END_COMPLETE;
	stack.record.flags = stack_end_classify(&pump->stack_ends, pump->memory, stack.record.flags,
						frame, stack.frame_count);
	const int err = name_code(pump, frame, stack.frame_count);
	if (err)
		return err;
	const struct stream_part frames = {frame, stack.frame_count * sizeof(*frame)};
	return stream_out_record(pump->out, HI_STREAM_STACK, &stack, sizeof(stack), &frames, 1);
}

/* The stack's number in the stream. */
static inline int stack_number(struct pump *pump, uint32_t id, uint32_t *out_number)
{
	*out_number = id < pump->stacks_size / HI_STACK_UNIT ? pump->stack_number[id] : 0;
	return *out_number ? 0 : new_stack_number(pump, id, out_number);
}

/* What a stack's addresses mean is not known: the record carries them itself. */
static int send_unsure(struct pump *pump, const struct hi_record_known *from)
{
	union {
		struct hi_record_alloc alloc;
		uint64_t word[sizeof(struct hi_record_alloc) / sizeof(uint64_t) + HI_FRAMES_MAX];
	} record = {.alloc = {.header = from->header,
			      .address = from->address,
			      .bytes = from->bytes,
			      .stack_end = HI_END_BAD_FRAME,
			      .function = from->function,
			      .slack = from->slack,
			      .interval_shift = from->interval_shift}};
	struct hi_stream_stack stack;
	if (from->stack < pump->stacks_size / HI_STACK_UNIT &&
	    stack_copy(pump, from->stack, &stack, record.alloc.frame)) {
		record.alloc.frame_count = (uint16_t)stack.frame_count;
		record.alloc.stack_end = stack.record.flags;
	}
	return send_alloc(pump, &record.alloc, false);
}

static int send_known(struct pump *pump, const struct hi_record_known *from)
{
	struct hi_stream_alloc alloc = {
		.time_ns = to_ns(pump, from->header.cycles),
		.address = from->address,
		.bytes = from->bytes,
		.function = from->function,
		.interval = interval_of(pump, from->interval_shift),
		.slack = from->slack,
	};
	int err = thread_number(pump, &from->header, &alloc.thread);
	if (!err)
		err = stack_number(pump, from->stack, &alloc.stack);
	if (!alloc.stack)
		alloc.record.flags = HI_END_BAD_FRAME; /* nothing is known about the stack */
	thinned_places_add(&pump->thinned_places, alloc.stack, from->bytes, from->thinning_key);
	if (!err && type_of(from->function) != HI_STREAM_ALLOC)
		return events_out_alone(&pump->events, pump->out, type_of(from->function), &alloc,
					sizeof(alloc));
	return err ? err : events_out_alloc(&pump->events, pump->out, &alloc);
}

static int send_free(struct pump *pump, const struct hi_record_free *from)
{
	struct hi_stream_free record = {.time_ns = to_ns(pump, from->header.cycles),
					.address = from->address};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err : events_out_free(&pump->events, pump->out, &record);
}

static int send_unfree(struct pump *pump, const struct hi_record_free *from)
{
	struct hi_stream_free record = {.time_ns = to_ns(pump, from->header.cycles),
					.address = from->address};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err
		   : events_out_alone(&pump->events, pump->out, HI_STREAM_UNFREE, &record,
				      sizeof(record));
}

static int send_mapping(struct pump *pump, const struct hi_record_mapping *from)
{
	struct hi_stream_mapping record = {.record.flags = (uint16_t)from->change,
					   .time_ns = to_ns(pump, from->header.cycles),
					   .address = from->address,
					   .bytes = from->bytes,
					   .attributes = from->attributes};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err
		   : events_out_alone(&pump->events, pump->out, HI_STREAM_MAPPING, &record,
				      sizeof(record));
}

static int send_pool(struct pump *pump, const struct hi_record_named *from)
{
	struct hi_stream_pool record = {.record.flags = (uint16_t)from->change,
					.time_ns = to_ns(pump, from->header.cycles),
					.address = from->address,
					.pool = from->pool,
					.function = from->function};
	int err = thread_number(pump, &from->header, &record.thread);
	return err ? err
		   : events_out_alone(&pump->events, pump->out, HI_STREAM_POOL, &record,
				      sizeof(record));
}

/* pump_reach, and what was collected before it changes what the stream has */
static inline int reach(struct pump *pump, uint16_t loads, bool *out_is_sure)
{
	*out_is_sure = true;
	if (!pump->loads || (loads == (uint16_t)pump->loads && !pump->are_blurred))
		return 0;
	const int err = events_out_close(&pump->events, pump->out);
	return err ? err : pump_reach(pump, loads, out_is_sure);
}

static int send(struct pump *pump, const union ring_record *record)
{
	const bool is_known = record->header.type_busy == HI_RECORD_KNOWN;
	bool is_sure;
	int err;
	switch (record->header.type_busy) {
	case HI_RECORD_ALLOC:
	case HI_RECORD_KNOWN:
		err = reach(pump, is_known ? record->known.loads : record->alloc.loads, &is_sure);
		if (err)
			return err;
		if (!is_known)
			return send_alloc(pump, &record->alloc, is_sure);
		return is_sure ? send_known(pump, &record->known)
			       : send_unsure(pump, &record->known);
	case HI_RECORD_FREE:
		return send_free(pump, &record->free);
	case HI_RECORD_UNFREE:
		return send_unfree(pump, &record->free);
	case HI_RECORD_MAPPING:
		return send_mapping(pump, &record->mapping);
	case HI_RECORD_NAMED:
		return send_pool(pump, &record->named);
	case HI_RECORD_REGION:
		pump->unknown_sp = record->region.stack_pointer;
		return 0;
	default:
		return 0; /* ring_reader lets nothing else through */
	}
}

void pump_mark(struct pump *pump)
{
	ring_reader_mark(&pump->reader);
}

int pump_round(struct pump *pump, bool last)
{
	struct ring_batch batch = {.enough = RING_BATCH_BYTES};
	int more = 1, err = 0;
	if (last)
		ring_reader_mark(&pump->reader);
	while (pump->reader.count && more > 0 && !err && !stream_out_is_full(pump->out)) {
		more = ring_reader_read(&pump->reader, pump_now_ns(pump), last ? 0 : PATIENCE_NS,
					&batch);
		for (const union ring_record *record; !err && (record = ring_batch_next(&batch));)
			err = send(pump, record);
	}
	pump->is_behind = pump->reader.count && more > 0;
	if (pump->is_behind)
		ring_reader_release(&pump->reader);
	int closed = events_out_close(&pump->events, pump->out);
	if (!closed && !pump->is_behind)
		closed = pump_settle_modules(pump);
	const int flushed = stream_out_flush(pump->out);
	if (more < 0)
		return more;
	return err ? err : closed ? closed : flushed;
}

int pump_drain(struct pump *pump, int deadline_ms)
{
	int err = pump_round(pump, true);
	for (unsigned round = 0; !err && pump->is_behind && round < DRAIN_ROUNDS_MAX; round++) {
		err = stream_out_drain(pump->out, deadline_ms);
		if (!err)
			err = pump_round(pump, true);
	}
	return err;
}
