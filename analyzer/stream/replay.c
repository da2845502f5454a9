/* SPDX-License-Identifier: MIT */
/*
 * replay.c - one function per record type. Start at replay_stream(), at the end. The records of
 * stacks and blocks are in replay_blocks.c.
 *
 * Records that make no sense are counted and skipped; a broken framing ends the replay.
 */
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "hi_dump.h"
#include "hi_runtimes.h"
#include "hi_unhooked.h"
#include "hooked_lines.h"
#include "judgement.h"
#include "printable.h"
#include "records.h"
#include "replay_state.h"
#include "replay_thinned.h"

#define JUDGED_AT_ONCE 20000u /* rows and blocks that take some milliseconds to judge */
#define UNHOOKED_TOLD 4u
#define UNHOOKED_NAME_MAX 64
#define UNHOOKED_PATH_MAX 120

/*
 * Takes the next string of a variable part. NULs between the arguments of a command line become
 * spaces; NULs at the end are dropped.
 */
static int take_string(const char **cursor, size_t size, char **out_string)
{
	const char *bytes = *cursor;
	char *copy = calloc(1, size + 1);

	if (!copy)
		return -ENOMEM;
	*cursor += size;
	while (size && !bytes[size - 1])
		size--;
	for (size_t i = 0; i < size; i++)
		copy[i] = bytes[i] ? bytes[i] : ' ';
	free(*out_string);
	*out_string = copy;
	return 0;
}

static int on_header(struct replay *replay, const struct hi_stream_header *header)
{
	struct profile_meta *meta = &replay->profile->meta;
	const char *cursor = (const char *)(header + 1);

	meta->pid = header->pid;
	meta->interval = header->interval ? header->interval : 1;
	meta->budget_ppm = header->budget_ppm;
	meta->start_unix_ns = header->start_unix_ns;
	if (take_string(&cursor, header->comm_size, &meta->comm) ||
	    take_string(&cursor, header->cmdline_size, &meta->cmdline) ||
	    take_string(&cursor, header->exe_size, &meta->exe) ||
	    take_string(&cursor, header->host_size, &meta->host) ||
	    take_string(&cursor, header->version_size, &meta->version))
		return -ENOMEM;
	return 0;
}

/*
 * The profile's index of a module that was loaded at the same place before; -1: there is none.
 * Without a build-id it may be another file by now.
 */
static int64_t find_known(const struct profile *profile, const struct profile_module *module)
{
	for (size_t i = profile->module_count; i-- && module->build_id_size;) {
		const struct profile_module *known = &profile->module[i];

		if (known->lo == module->lo && known->hi == module->hi &&
		    known->file_offset == module->file_offset && known->bias == module->bias &&
		    known->device == module->device && known->inode == module->inode &&
		    known->build_id_size == module->build_id_size &&
		    !memcmp(known->build_id, module->build_id, module->build_id_size) &&
		    !strcmp(known->path, module->path))
			return (int64_t)i;
	}
	return -1;
}

static int add_module(struct replay *replay, const struct profile_module *module,
		      uint32_t *out_index)
{
	const int64_t known = find_known(replay->profile, module);

	if (known < 0)
		return profile_add_module(replay->profile, module, out_index);
	*out_index = (uint32_t)known;
	return 0;
}

static int on_module(struct replay *replay, const struct hi_stream_module *record)
{
	const char *cursor = (const char *)(record + 1) + record->build_id_size;
	struct profile_module module = {
		.lo = record->lo,
		.hi = record->hi,
		.file_offset = record->file_offset,
		.bias = record->bias,
		.device = record->device,
		.inode = record->inode,
		.number = record->module,
		.build_id_size = record->build_id_size,
	};
	struct module_range range = {.lo = record->lo,
				     .hi = record->hi,
				     .number = record->module,
				     .stays = record->record.flags & HI_STREAM_STAYS};
	int err;

	if (replay->profile->module_count >= MODULES_MAX) {
		replay_bad(replay, "too many modules");
		return 0;
	}
	replay->moment++;
	replay->stamp++;
	memcpy(module.build_id, record + 1, record->build_id_size);
	err = take_string(&cursor, record->path_size, &module.path);
	if (!err)
		err = take_string(&cursor, record->open_path_size, &module.open_path);
	if (!err)
		err = add_module(replay, &module, &range.index);
	if (!err)
		err = modules_add(&replay->modules, &range);
	free(module.path);
	free(module.open_path);
	return err;
}

static int on_module_gone(struct replay *replay, const struct hi_stream_module_gone *record)
{
	replay->moment++;
	replay->stamp++;
	modules_remove(&replay->modules, record->module);
	return 0;
}

static int on_code(struct replay *replay, const struct hi_stream_code *record)
{
	const char *cursor = (const char *)(record + 1);
	char *name = NULL;
	int err = take_string(&cursor, record->name_size, &name);

	if (!err)
		err = code_names_add(&replay->profile->code_names, record->lo, record->hi, name);
	free(name);
	if (err && err != -ENOMEM) {
		replay_bad(replay, err == -ENOSPC ? "too many names of code" : "code of no size");
		err = 0;
	}
	return err;
}

static int on_maps(struct replay *replay, const struct hi_stream_maps *record)
{
	struct profile_meta *meta = &replay->profile->meta;
	const char *cursor = (const char *)(record + 1);
	const bool is_first = !meta->maps;
	const int err = take_string(&cursor, record->text_size, &meta->maps);

	if (err)
		return err;
	mapped_look(&meta->mapped_end, meta->maps);
	if (is_first)
		mapped_look(&meta->mapped_begin, meta->maps);
	return replay_mappings_settle(replay, replay_since(replay, record->time_ns));
}

static int on_interval(struct replay *replay, const struct hi_stream_interval *record)
{
	if (record->interval == 0 || record->interval > INTERVAL_MAX)
		replay_bad(replay, "an impossible sampling interval");
	else
		profile_add_change(&replay->profile->meta,
				   &(struct profile_change){replay_since(replay, record->time_ns),
							    record->interval});
	return 0;
}

static void record_peak(struct replay *replay)
{
	replay->profile->meta.peak_inuse_bytes = estimate_round(replay->peak.most);
	replay->profile->meta.peak_ns = replay->peak.most_ns;
}

/* Makes the caveats. Called only where somebody will see the profile. */
static int judge(struct replay *replay)
{
	struct profile *profile = replay->profile;

	record_peak(replay);
	replay_settle_pause(replay);
	profile->meta.memory.spread = live_spread(&replay->live, judgement_spread_piece(profile));
	return judgement_make(profile);
}

/* judge() takes a while for many rows and blocks, so it is then skipped at some STATS records. */
static int judge_now_and_then(struct replay *replay)
{
	if (!replay->observer)
		return 0;
	if (replay->unjudged_for) {
		replay->unjudged_for--;
		return 0;
	}
	replay->unjudged_for = (replay->profile->row_count + replay->live.count) / JUDGED_AT_ONCE;
	return judge(replay);
}

static int on_memory(struct replay *replay, const struct hi_stream_record *fixed)
{
	struct profile_meta *meta = &replay->profile->meta;
	struct profile_memory *memory = &meta->memory;
	struct hi_stream_memory whole = {0}, *record = &whole;

	memcpy(record, fixed, fixed->size < sizeof(whole) ? fixed->size : sizeof(whole));
	peak_settle(&replay->peak);
	profile_add_moment(
		meta, &(struct profile_moment){.time_ns = replay_since(replay, record->time_ns),
					       .anonymous = record->anonymous_bytes,
					       .resident = record->resident_bytes,
					       .seen = estimate_round(replay->peak.bytes)});
	meta->limit_bytes = record->limit_bytes;
	meta->limited_bytes = record->limited_bytes;
	if (!memory->anonymous_begin)
		memory->anonymous_begin = record->anonymous_bytes;
	memory->anonymous_end = record->anonymous_bytes;
	memory->writable_end = record->writable_bytes;
	if (!meta->mapped_begin.threads)
		meta->mapped_begin.threads = record->threads;
	meta->mapped_end.threads = record->threads;
	return 0;
}

static int on_heap(struct replay *replay, const struct hi_stream_heap *record)
{
	const char *cursor = (const char *)(record + 1);
	struct heap_history *heap = &replay->profile->meta.heap;
	char *name = NULL, *refusal = NULL;
	int err = take_string(&cursor, record->name_size, &name);

	if (!err)
		err = take_string(&cursor, record->refusal_size, &refusal);
	if (!err)
		err = heap_history_name(heap, name, refusal);
	if (!err && !record->refusal_size)
		heap_history_add(heap, &(struct heap_moment){
					       .time_ns = replay_since(replay, record->time_ns),
					       .anonymous = record->anonymous_bytes,
					       .used_bytes = record->used_bytes,
					       .used_count = record->used_count,
					       .used = record->used_resident_bytes,
					       .free = record->free_resident_bytes,
					       .cached = record->cache_resident_bytes,
					       .trimmable = record->trim_bytes,
					       .own = record->own_resident_bytes,
					       .unsure = record->unsure_resident_bytes,
				       });
	free(name);
	free(refusal);
	return err;
}

static int on_unsampled_frees(struct replay *replay, const struct hi_stream_unsampled_frees *record)
{
	const struct hi_stream_frees *list = (const void *)(record + 1);

	if (record->share_ppm > 1000000) {
		replay_bad(replay, "an impossible share of the frees");
		return 0;
	}
	replay->profile->meta.frees_share = (double)record->share_ppm / 1e6;
	for (uint32_t i = 0; i < record->classes; i++) {
		if (list[i].size_class >= HI_SIZE_CLASSES) {
			replay_bad(replay, "frees of an impossible size");
			continue;
		}
		replay_set_freed(replay, list[i].size_class,
				 &(struct profile_freed){.seen = list[i].seen,
							 .count = list[i].count,
							 .bytes = list[i].bytes});
	}
	return 0;
}

/*
 * Adds to meta.unhooked or meta.unhooked_frees: "je_malloc in the program itself", "malloc in
 * /opt/lib/libx.so". Only the first UNHOOKED_TOLD are named.
 */
static int on_unhooked(struct replay *replay, const struct hi_stream_unhooked *record)
{
	const char *cursor = (const char *)(record + 1);
	struct profile_meta *meta = &replay->profile->meta;
	char **all =
		record->record.flags == HI_UNHOOKED_FREE ? &meta->unhooked_frees : &meta->unhooked;
	char *name = NULL, *path = NULL, *text = NULL;
	int err = 0;

	if (replay->unhooked_count++ >= UNHOOKED_TOLD)
		return 0;
	if (take_string(&cursor, record->name_size, &name) ||
	    take_string(&cursor, record->path_size, &path)) {
		err = -ENOMEM;
	} else if (asprintf(&text, "%s%s%.*s in %.*s%s", *all ? *all : "", *all ? " and " : "",
			    UNHOOKED_NAME_MAX, name, UNHOOKED_PATH_MAX,
			    *path ? path : "the program itself",
			    hi_unhooked_calls(record->record.flags)) < 0) {
		text = NULL;
		err = -ENOMEM;
	} else {
		printable(text);
		free(*all);
		*all = text;
	}
	free(name);
	free(path);
	return err;
}

static int on_hooked(struct replay *replay, const struct hi_stream_hooked *record)
{
	return hooked_lines_add(&replay->profile->meta, (const char *)(record + 1),
				record->text_size);
}

static int on_stats(struct replay *replay, const struct hi_stream_stats *stats)
{
	struct profile_meta *meta = &replay->profile->meta;

	/* The replay counts samples and frees itself, so that they agree with what is shown. */
	replay_set_stats(replay, stats);
	meta->seen_allocated = estimate_round(replay->peak.allocated);
	meta->seen_inuse = estimate_round(replay->peak.bytes);
	if (judge_now_and_then(replay))
		return -ENOMEM;
	if (replay->observer)
		replay->observer->on_stats(replay->observer->context, replay->profile,
					   replay->bad_records);
	return 0;
}

static int on_dump(struct replay *replay, const struct hi_stream_dump *dump)
{
	char text[HI_DUMP_TEXT_MAX];
	char **const trigger = &replay->profile->meta.trigger;

	if (dump->record.flags == HI_DUMP_BLOCKS) {
		if (replay->observer && replay->observer->on_blocks)
			replay->observer->on_blocks(replay->observer->context, replay->profile,
						    &replay->live);
		return 0;
	}
	if (!replay->observer || !replay->observer->on_dump)
		return 0;
	if (judge(replay))
		return -ENOMEM;
	if (*hi_dump_describe(dump->record.flags, text)) {
		*trigger = strdup(text);
		if (!*trigger)
			return -ENOMEM;
	}
	replay->observer->on_dump(replay->observer->context, replay->profile, &replay->live,
				  dump->record.flags);
	free(*trigger);
	*trigger = NULL;
	return 0;
}

static int on_leaked(struct replay *replay, const struct hi_stream_leaked *leaked)
{
	return replay->observer && replay->observer->on_leaked
		       ? replay->observer->on_leaked(replay->observer->context, replay->profile,
						     &replay->live, leaked)
		       : 0;
}

static int on_thread(struct replay *replay, const struct hi_stream_thread *record)
{
	replay->stamp++;
	return thread_breakdown_name(&replay->profile->breakdown, record);
}

static int on_free(struct replay *replay, const struct hi_stream_free *record)
{
	replay_free(replay, record->address, replay_since(replay, record->time_ns));
	return replay_observe_free(replay, record);
}

static int on_end(struct replay *replay, const struct hi_stream_end *end)
{
	replay->profile->meta.end_reason = end->record.flags;
	replay->ended = true;
	return 0;
}

/*
 * The time of records that have it directly after their head, and the last time of EVENTS; else 0.
 */
static uint64_t record_time(const struct hi_stream_record *record)
{
	switch (record->type) {
	case HI_STREAM_MAPS:
	case HI_STREAM_ALLOC:
	case HI_STREAM_MAPPED:
	case HI_STREAM_MAPPING:
	case HI_STREAM_POOLED:
	case HI_STREAM_POOL:
	case HI_STREAM_NAMED:
	case HI_STREAM_FREE:
	case HI_STREAM_UNFREE:
	case HI_STREAM_INTERVAL:
	case HI_STREAM_STATS:
	case HI_STREAM_DUMP:
	case HI_STREAM_PAUSE:
	case HI_STREAM_RESET:
	case HI_STREAM_MEMORY:
	case HI_STREAM_HEAP:
	case HI_STREAM_UNHOOKED:
	case HI_STREAM_UNSAMPLED_FREES:
	case HI_STREAM_RUNTIME:
	case HI_STREAM_THINNED:
	case HI_STREAM_LEAKED:
	case HI_STREAM_END:
		return ((const struct hi_stream_end *)(const void *)record)->time_ns;
	case HI_STREAM_EVENTS:
		return ((const struct hi_stream_events *)(const void *)record)->last_ns;
	default:
		return 0;
	}
}

static int replay_record(struct replay *replay, const struct hi_stream_record *record)
{
	const void *fixed = record;
	uint64_t time_ns;

	if (!record_is_sound(record)) {
		replay_bad(replay, "a record does not hold what it announces");
		return 0;
	}
	time_ns = replay_since(replay, record_time(record));
	if (time_ns > replay->profile->meta.duration_ns)
		replay->profile->meta.duration_ns = time_ns;
	switch (record->type) {
	case HI_STREAM_HEADER:
		replay_bad(replay, "a second header");
		return 0;
	case HI_STREAM_MODULE:
		return on_module(replay, fixed);
	case HI_STREAM_MODULE_GONE:
		return on_module_gone(replay, fixed);
	case HI_STREAM_CODE:
		return on_code(replay, fixed);
	case HI_STREAM_MAPS:
		return on_maps(replay, fixed);
	case HI_STREAM_THREAD:
		return on_thread(replay, fixed);
	case HI_STREAM_STACK:
		return replay_on_stack(replay, fixed);
	case HI_STREAM_ALLOC:
		return replay_on_alloc(replay, fixed);
	case HI_STREAM_FREE:
		return on_free(replay, fixed);
	case HI_STREAM_MAPPED:
		return replay_on_mapped(replay, fixed);
	case HI_STREAM_MAPPING:
		return replay_on_mapping(replay, fixed);
	case HI_STREAM_POOLED:
		return replay_on_pooled(replay, fixed);
	case HI_STREAM_POOL:
		return replay_on_pool(replay, fixed);
	case HI_STREAM_NAMED:
		return replay_on_named(replay, fixed);
	case HI_STREAM_UNFREE:
		return replay_on_unfree(replay, fixed);
	case HI_STREAM_EVENTS:
		return replay_events(replay, fixed, record->size);
	case HI_STREAM_INTERVAL:
		return on_interval(replay, fixed);
	case HI_STREAM_STATS:
		return on_stats(replay, fixed);
	case HI_STREAM_PAUSE:
		replay_on_pause(replay, fixed);
		return 0;
	case HI_STREAM_RESET:
		replay_on_reset(replay, fixed);
		return 0;
	case HI_STREAM_DUMP:
		return on_dump(replay, fixed);
	case HI_STREAM_MEMORY:
		return on_memory(replay, fixed);
	case HI_STREAM_HEAP:
		return on_heap(replay, fixed);
	case HI_STREAM_UNHOOKED:
		return on_unhooked(replay, fixed);
	case HI_STREAM_HOOKED:
		return on_hooked(replay, fixed);
	case HI_STREAM_RUNTIME:
		if (hi_runtime_text(record->flags))
			replay->profile->meta.runtimes |= 1u << record->flags;
		return 0;
	case HI_STREAM_PROCESS:
		replay->profile->meta.process_start_ticks =
			((const struct hi_stream_process *)fixed)->start_ticks;
		return 0;
	case HI_STREAM_THINNED:
		return replay_on_thinned(replay, fixed);
	case HI_STREAM_UNSAMPLED_FREES:
		return on_unsampled_frees(replay, fixed);
	case HI_STREAM_LEAKED:
		return on_leaked(replay, fixed);
	case HI_STREAM_END:
		return on_end(replay, fixed);
	default:
		return 0; /* what later versions may add */
	}
}

static int replay_header(struct replay *replay, struct input *input)
{
	const struct hi_stream_record *record;
	const struct hi_stream_header *header;
	char damage[RECORDS_DAMAGE_MAX] = "empty";

	if (records_next(input, &record, damage) != 1) {
		replay_damage(replay, "%s", damage);
		return -EBADMSG;
	}
	header = (const void *)record;
	if (record->type != HI_STREAM_HEADER || !record_is_sound(record) ||
	    header->magic != HI_STREAM_MAGIC) {
		replay_damage(replay, "not a heapinject record stream");
		return -EBADMSG;
	}
	if (header->version > HI_STREAM_VERSION || header->version < HI_STREAM_VERSION_OLDEST) {
		replay_damage(replay,
			      "a record stream of version %" PRIu32
			      "; this heapinject reads version %u",
			      header->version, HI_STREAM_VERSION);
		return -EBADMSG;
	}
	if (header->interval > INTERVAL_MAX) {
		replay_damage(replay, "an impossible sampling interval in the header");
		return -EBADMSG;
	}
	return on_header(replay, header);
}

/* Counts the events that are there of a record that is cut off: it may hold thousands. */
static int replay_cut(struct replay *replay, struct input *input)
{
	const uint8_t *bytes;
	const size_t size = input_peek(input, 1, &bytes);
	const struct hi_stream_events *events = (const void *)bytes;

	if (size < sizeof(*events) || events->record.type != HI_STREAM_EVENTS)
		return 0;
	if (events->record.size <= size || events->record.size > HI_STREAM_RECORD_MAX)
		return 0; /* it is damaged, not cut */
	return replay_events(replay, events, size);
}

static int replay_rest(struct replay *replay, struct input *input)
{
	const struct hi_stream_record *record;
	char damage[RECORDS_DAMAGE_MAX];
	int err = 0, got;

	while (!err && !replay->ended) {
		replay->position = input->position;
		got = records_next(input, &record, damage);
		if (got < 0)
			replay_damage(replay, "%s", damage);
		else if (got == 0)
			replay_damage(replay,
				      "cut off at byte %" PRIu64 ": the stream has no end record",
				      input->position);
		if (got != 1)
			return got < 0 ? replay_cut(replay, input) : 0;
		err = replay_record(replay, record);
	}
	return err;
}

int replay_stream(struct input *input, const struct replay_observer *observer,
		  struct profile *profile)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int err;

	if (!replay)
		return -ENOMEM;
	replay->profile = profile;
	replay->observer = observer;
	replay->moment = replay->stamp = 1;
	err = replay_header(replay, input);
	if (!err)
		err = replay_rest(replay, input);
	if (!err && observer && observer->on_end)
		observer->on_end(observer->context, profile, &replay->live);
	if (!err)
		err = judge(replay);
	modules_close(&replay->modules);
	stack_ids_close(&replay->stack_ids);
	live_close(&replay->live);
	live_close(&replay->forgotten);
	free(replay->site);
	free(replay);
	return err;
}
