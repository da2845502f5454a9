/* SPDX-License-Identifier: MIT */
/*
 * replay.c - one function per record type; replay_stream() at the end is the way in.
 *
 * A block counts in the row it was allocated in until a FREE, or an ALLOC at the same address whose free was missed, takes it out again.
 * Records that make no sense are counted and skipped; a broken framing ends the replay.
 */
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "modules.h"
#include "records.h"
#include "table.h"
#include "told_stacks.h"

#define BLOCK_BYTES_MAX (1ull << 47) /* no block of a user address space is larger, */
#define INTERVAL_MAX BLOCK_BYTES_MAX /* and to sample more seldom is not to sample at all */
/* Against streams that never end and never repeat themselves: then all that comes is counted, but not told apart any more. Some hundred megabytes. */
#define STACKS_MAX (1u << 19)
#define FRAMES_MAX (1u << 20)
#define TOLD_FRAMES_MAX (1u << 25)
#define LIVE_MAX (1u << 23) /* the payload holds no more */
#define END_UNKNOWN 4u      /* HI_END_BAD_FRAME of hi_wire.h: not complete, that is all there is to say */
#define UNKNOWN_ADDRESS 1u  /* stands for the caller where a stack has no frame at all: the text format cannot say "none" */

struct replay {
	struct profile *profile;
	const struct replay_observer *observer;
	struct modules modules;
	uint64_t moment; /* from 1; rises whenever a module comes or goes */
	struct told_stacks told;
	struct live live;
	uint64_t position; /* of the record at hand */
	uint64_t bad_records;
	bool ended;
};

/* The first damage is the one that is told. */
__attribute__((format(printf, 2, 3))) static void replay_damage(struct replay *replay, const char *format, ...)
{
	va_list arguments;

	if (replay->profile->meta.damage)
		return;
	va_start(arguments, format);
	if (vasprintf(&replay->profile->meta.damage, format, arguments) < 0)
		replay->profile->meta.damage = NULL;
	va_end(arguments);
}

static void replay_bad(struct replay *replay, const char *what)
{
	replay->bad_records++;
	replay_damage(replay, "damaged at byte %" PRIu64 ": %s", replay->position, what);
}

/* Takes the next string of a variable part. NULs separate the arguments of a command line, and end it. */
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
	if (take_string(&cursor, header->comm_size, &meta->comm) || take_string(&cursor, header->cmdline_size, &meta->cmdline) ||
	    take_string(&cursor, header->exe_size, &meta->exe) || take_string(&cursor, header->host_size, &meta->host) ||
	    take_string(&cursor, header->version_size, &meta->version))
		return -ENOMEM;
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
	struct module_range range = {.lo = record->lo, .hi = record->hi, .number = record->module};
	int error;

	if (replay->profile->module_count >= MODULES_MAX) {
		replay_bad(replay, "too many modules");
		return 0;
	}
	replay->moment++;
	memcpy(module.build_id, record + 1, record->build_id_size);
	error = take_string(&cursor, record->path_size, &module.path);
	if (!error)
		error = take_string(&cursor, record->open_path_size, &module.open_path);
	if (!error)
		error = profile_add_module(replay->profile, &module, &range.index);
	if (!error)
		error = modules_add(&replay->modules, &range);
	free(module.path);
	free(module.open_path);
	return error;
}

static int on_module_gone(struct replay *replay, const struct hi_stream_module_gone *record)
{
	replay->moment++;
	modules_remove(&replay->modules, record->module);
	return 0;
}

static int on_maps(struct replay *replay, const struct hi_stream_maps *record)
{
	const char *cursor = (const char *)(record + 1);

	return take_string(&cursor, record->text_size, &replay->profile->meta.maps);
}

static bool stacks_are_full(struct replay *replay)
{
	if (replay->profile->stack_count < STACKS_MAX && replay->profile->frame_count < FRAMES_MAX)
		return false;
	replay_damage(replay, "too long: from byte %" PRIu64 " on, after %u different stacks, samples are shown without theirs", replay->position, STACKS_MAX);
	return true;
}

static int intern_stack(struct replay *replay, const uint64_t *address, uint32_t count, uint16_t end, uint32_t *out_stack)
{
	uint32_t frame[RECORDS_FRAMES_MAX];

	if (stacks_are_full(replay))
		count = 0;
	for (uint32_t i = 0; i < count; i++) {
		/* The byte before a return address belongs to the call; the address itself may lie in the next function, or in no module. */
		if (profile_frame_at(replay->profile, address[i], modules_find(&replay->modules, address[i] - 1), &frame[i]))
			return -ENOMEM;
	}
	if (count == 0 && profile_frame_at(replay->profile, UNKNOWN_ADDRESS, -1, &frame[count++]))
		return -ENOMEM;
	return profile_stack_of(replay->profile, frame, count, end, out_stack);
}

/* The stack that the record names, or carries. One that was never told is a stack of one unknown frame. */
static int stack_of(struct replay *replay, const struct hi_stream_alloc *alloc, uint32_t *out_stack, uint16_t *out_end)
{
	struct told_stack *told = told_stacks_get(&replay->told, alloc->stack);

	*out_end = told ? told->end : alloc->stack ? END_UNKNOWN : alloc->record.flags & 0xff;
	if (!told && alloc->stack) {
		replay_bad(replay, "an allocation with a stack that was not told");
		return intern_stack(replay, NULL, 0, END_UNKNOWN, out_stack);
	}
	if (!told)
		return intern_stack(replay, (const uint64_t *)(alloc + 1), alloc->frame_count, *out_end, out_stack);
	if (told->moment != replay->moment) {
		if (intern_stack(replay, told->frame, told->frame_count, told->end, &told->profile_stack))
			return -ENOMEM;
		told->moment = replay->moment;
	}
	*out_stack = told->profile_stack;
	return 0;
}

static int on_stack(struct replay *replay, const struct hi_stream_stack *stack)
{
	bool is_too_much = replay->told.frame_count >= TOLD_FRAMES_MAX;

	if (stack->stack != replay->told.count + 1) {
		replay_bad(replay, "a stack out of turn");
		return 0;
	}
	if (stack->stack > STACKS_MAX)
		return 0; /* whoever names it finds none */
	return told_stacks_add(&replay->told, (const void *)(stack + 1), is_too_much ? 0 : stack->frame_count, stack->record.flags & 0xff);
}

static struct profile_row *row_of(const struct profile *profile, const struct live_block *block)
{
	return &profile->row[profile->parts.part[block->part].row];
}

static void uncredit(struct profile *profile, const struct live_block *block)
{
	struct profile_row *row = row_of(profile, block);
	struct part *part = &profile->parts.part[block->part];

	row->inuse_count--;
	row->inuse_bytes -= block->bytes;
	row->inuse_slack -= block->slack;
	row->inuse_ns -= (double)block->born_ns;
	part->inuse_count--;
	part->inuse_bytes -= block->bytes;
}

static int credit_live(struct replay *replay, const struct live_block *block)
{
	struct profile_row *row = row_of(replay->profile, block);
	struct part *part = &replay->profile->parts.part[block->part];

	if (replay->live.count >= LIVE_MAX) {
		replay_bad(replay, "more blocks in use than can be");
		return 0;
	}
	if (live_add(&replay->live, block))
		return -ENOMEM;
	row->inuse_count++;
	row->inuse_bytes += block->bytes;
	row->inuse_slack += block->slack;
	row->inuse_ns += (double)block->born_ns;
	part->inuse_count++;
	part->inuse_bytes += block->bytes;
	return 0;
}

static void count_end(struct profile_meta *meta, unsigned end)
{
	if (end == HI_END_COMPLETE)
		meta->stacks_complete++;
	else
		meta->stacks_truncated++;
	if (end != HI_END_COMPLETE && end < HI_STACK_ENDS)
		meta->stack_ends[end]++;
}

/* What is not known counts as none; the profile says of how many samples it is. */
static uint32_t credit_slack(struct profile *profile, const struct hi_stream_alloc *alloc)
{
	if (alloc->slack == HI_STREAM_SLACK_UNKNOWN)
		return 0;
	profile->meta.slack_samples++;
	return alloc->slack;
}

static int on_alloc(struct replay *replay, const struct hi_stream_alloc *alloc)
{
	struct profile *profile = replay->profile;
	struct profile_row_key key = {.size_class = profile_size_class(alloc->bytes), .interval = alloc->interval};
	struct live_block block, missed;
	struct profile_row *row;
	struct part *part;
	uint32_t index;
	uint16_t end;

	if (alloc->address == 0 || alloc->bytes > BLOCK_BYTES_MAX || alloc->interval == 0 || alloc->interval > INTERVAL_MAX) {
		replay_bad(replay, "an allocation of an impossible size, address or sampling interval");
		return 0;
	}
	block = (struct live_block){.address = alloc->address, .bytes = alloc->bytes, .born_ns = alloc->time_ns, .slack = credit_slack(profile, alloc)};
	if (stack_of(replay, alloc, &key.stack, &end) || profile_row_at(profile, &key, &index) || parts_at(&profile->parts, index, alloc->thread, &block.part))
		return -ENOMEM;
	row = &profile->row[index];
	part = &profile->parts.part[block.part];
	row->first_ns = row->alloc_count ? row->first_ns : alloc->time_ns;
	row->last_ns = alloc->time_ns;
	row->alloc_count++;
	row->alloc_bytes += block.bytes;
	row->alloc_slack += block.slack;
	part->alloc_count++;
	part->alloc_bytes += block.bytes;
	profile->meta.samples++;
	count_end(&profile->meta, end);
	if (live_take(&replay->live, alloc->address, alloc->time_ns, &missed))
		uncredit(profile, &missed);
	return credit_live(replay, &block);
}

/* Clocks of different CPUs may disagree by a little. */
static double lifetime_ns(const struct live_block *block)
{
	return block->freed_ns > block->born_ns ? (double)(block->freed_ns - block->born_ns) : 0;
}

static int on_free(struct replay *replay, const struct hi_stream_free *record)
{
	struct live_block block;

	/* An unknown one is no damage: its allocation may have been dropped. */
	if (!live_take(&replay->live, record->address, record->time_ns, &block))
		return 0;
	uncredit(replay->profile, &block);
	row_of(replay->profile, &block)->freed_count++;
	row_of(replay->profile, &block)->freed_ns += lifetime_ns(&block);
	replay->profile->meta.frees++;
	return 0;
}

static int on_unfree(struct replay *replay, const struct hi_stream_free *record)
{
	struct live_block block;

	/* Where a block lives now, none came back. */
	if (live_has(&replay->live, record->address) || !live_put_back(&replay->live, record->address, &block))
		return 0;
	row_of(replay->profile, &block)->freed_count--;
	row_of(replay->profile, &block)->freed_ns -= lifetime_ns(&block);
	replay->profile->meta.frees--;
	return credit_live(replay, &block);
}

static int on_interval(struct replay *replay, const struct hi_stream_interval *record)
{
	if (record->interval == 0 || record->interval > INTERVAL_MAX)
		replay_bad(replay, "an impossible sampling interval");
	else
		profile_add_change(&replay->profile->meta, &(struct profile_change){record->time_ns, record->interval});
	return 0;
}

static int on_stats(struct replay *replay, const struct hi_stream_stats *stats)
{
	struct profile_meta *meta = &replay->profile->meta;

	/* samples and frees are counted here, so that they agree with what is shown. */
	meta->dropped_allocs = stats->dropped_allocs;
	meta->dropped_frees = stats->dropped_frees;
	meta->live_set_full = stats->live_set_full;
	meta->no_thread_slot = stats->no_thread_slot;
	meta->payload_cpu_ns = stats->payload_cpu_ns;
	meta->target_cpu_ns = stats->target_cpu_ns;
	if (replay->observer)
		replay->observer->on_stats(replay->observer->context, replay->profile, replay->bad_records);
	return 0;
}

static int on_end(struct replay *replay, const struct hi_stream_end *end)
{
	replay->profile->meta.end_reason = end->record.flags;
	replay->ended = true;
	return 0;
}

/* Time of the records that have it right behind their head. */
static uint64_t record_time(const struct hi_stream_record *record)
{
	switch (record->type) {
	case HI_STREAM_MAPS:
	case HI_STREAM_ALLOC:
	case HI_STREAM_FREE:
	case HI_STREAM_UNFREE:
	case HI_STREAM_INTERVAL:
	case HI_STREAM_STATS:
	case HI_STREAM_END:
		return ((const struct hi_stream_end *)(const void *)record)->time_ns;
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
	time_ns = record_time(record);
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
	case HI_STREAM_MAPS:
		return on_maps(replay, fixed);
	case HI_STREAM_THREAD:
		return parts_tell(&replay->profile->parts, fixed);
	case HI_STREAM_STACK:
		return on_stack(replay, fixed);
	case HI_STREAM_ALLOC:
		return on_alloc(replay, fixed);
	case HI_STREAM_FREE:
		return on_free(replay, fixed);
	case HI_STREAM_UNFREE:
		return on_unfree(replay, fixed);
	case HI_STREAM_INTERVAL:
		return on_interval(replay, fixed);
	case HI_STREAM_STATS:
		return on_stats(replay, fixed);
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
	if (record->type != HI_STREAM_HEADER || !record_is_sound(record) || header->magic != HI_STREAM_MAGIC) {
		replay_damage(replay, "not a heapinject record stream");
		return -EBADMSG;
	}
	if (header->version != HI_STREAM_VERSION) {
		replay_damage(replay, "a record stream of version %" PRIu32 "; this heapinject reads version %u", header->version, HI_STREAM_VERSION);
		return -EBADMSG;
	}
	if (header->interval > INTERVAL_MAX) {
		replay_damage(replay, "an impossible sampling interval in the header");
		return -EBADMSG;
	}
	return on_header(replay, header);
}

static int replay_rest(struct replay *replay, struct input *input)
{
	const struct hi_stream_record *record;
	char damage[RECORDS_DAMAGE_MAX];
	int error = 0, got;

	while (!error && !replay->ended) {
		replay->position = input->position;
		got = records_next(input, &record, damage);
		if (got < 0)
			replay_damage(replay, "%s", damage);
		else if (got == 0)
			replay_damage(replay, "cut off at byte %" PRIu64 ": the stream has no end record", input->position);
		if (got != 1)
			return 0;
		error = replay_record(replay, record);
	}
	return error;
}

int replay_stream(struct input *input, const struct replay_observer *observer, struct profile *profile)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int error;

	if (!replay)
		return -ENOMEM;
	replay->profile = profile;
	replay->observer = observer;
	replay->moment = 1;
	error = replay_header(replay, input);
	if (!error)
		error = replay_rest(replay, input);
	modules_close(&replay->modules);
	told_stacks_close(&replay->told);
	live_close(&replay->live);
	free(replay);
	return error;
}
