/* SPDX-License-Identifier: MIT */
/*
 * pump_messages.c - what the session says by itself: of the process, of what it has hooked and what
 * it could not hook, statistics, and commands. See pump.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hi_runtimes.h"
#include "hooked.h"
#include "pump.h"

#define LEAKED_AT_ONCE 65536u /* blocks in a record */

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
	pump_set_clock(pump);
	copy.time_ns = pump_now_ns(pump);
	return stream_out_record(pump->out, HI_STREAM_STATS, &copy, sizeof(copy), NULL, 0);
}

int pump_memory(struct pump *pump, const struct proc_status *status,
		const struct memory_limit *limit)
{
	struct hi_stream_memory memory = {
		.time_ns = pump_now_ns(pump),
		.anonymous_bytes = status->anonymous_bytes,
		.writable_bytes = status->writable_bytes,
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
