/* SPDX-License-Identifier: MIT */
/*
 * profile.c - the model's arrays, each with a hash table beside it so that equal things are stored
 * once. Start at profile_stack_of().
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame_pool.h"
#include "frame_table.h"
#include "hi_units.h"
#include "table.h"
#include "text_equal.h"

#define CLASS_EXACT_MAX 1024u /* sizes up to here are a class of their own */
#define CLASS_EXACT_BITS 10u  /* its logarithm */
#define CLASS_STEP_BITS 4u    /* above: 2^4 classes to a doubling */

struct profile_index {
	struct frame_table frames;
	struct table named_frames, stacks, rows, mappings, pooled;
	struct frame_pool pool; /* of stacks */
	size_t module_capacity, frame_capacity, stack_capacity, row_capacity, mapping_capacity,
		pooled_capacity;
};

uint32_t profile_size_class(uint64_t bytes)
{
	unsigned int doubling, step;

	if (bytes <= CLASS_EXACT_MAX)
		return (uint32_t)bytes;
	doubling = 63u - (unsigned int)__builtin_clzll(bytes);
	step = (unsigned int)(bytes >> (doubling - CLASS_STEP_BITS)) &
	       ((1u << CLASS_STEP_BITS) - 1);
	return CLASS_EXACT_MAX + 1 + ((doubling - CLASS_EXACT_BITS) << CLASS_STEP_BITS) + step;
}

uint32_t profile_coarse_size_class(uint64_t bytes)
{
	return profile_size_class(bytes ? 1ull << (63 - __builtin_clzll(bytes)) : 0);
}

uint32_t profile_read_size_class(uint64_t mean_bytes, uint64_t interval)
{
	return interval == HI_INTERVAL_EXACT && mean_bytes <= UINT32_MAX
		       ? (uint32_t)mean_bytes
		       : profile_size_class(mean_bytes);
}

uint64_t profile_block_bytes(const struct profile_row *row)
{
	if (row->block_bytes && row->block_bytes != PROFILE_NO_LABEL)
		return row->block_bytes;
	if (row->alloc_count && row->alloc_bytes)
		return row->alloc_bytes / row->alloc_count;
	return row->inuse_count ? row->inuse_bytes / row->inuse_count : 0;
}

int profile_open(struct profile *profile)
{
	*profile = (struct profile){0};
	profile->index = calloc(1, sizeof(*profile->index));
	return profile->index ? 0 : -ENOMEM;
}

static void meta_close(struct profile_meta *meta)
{
	free(meta->comm);
	free(meta->cmdline);
	free(meta->exe);
	free(meta->trigger);
	free(meta->host);
	free(meta->version);
	free(meta->maps);
	free(meta->filters);
	free(meta->comments);
	free(meta->damage);
	free(meta->hooked);
	heap_history_close(&meta->heap);
	free(meta->unhooked);
	free(meta->unhooked_frees);
	free(meta->sources);
	for (int kind = 0; kind < HI_CAVEATS; kind++)
		free(meta->caveat[kind]);
}

static void frame_close(struct profile_frame *frame)
{
	for (size_t i = 0; i < frame->line_count; i++) {
		free(frame->line[i].function);
		free(frame->line[i].system_name);
		free(frame->line[i].file);
	}
	free(frame->line);
}

void profile_close(struct profile *profile)
{
	meta_close(&profile->meta);
	for (size_t i = 0; i < profile->module_count; i++) {
		free(profile->module[i].path);
		free(profile->module[i].open_path);
	}
	for (size_t i = 0; i < profile->frame_count; i++)
		frame_close(&profile->frame[i]);
	free(profile->module);
	free(profile->frame);
	free(profile->stack);
	free(profile->row);
	free(profile->mapping);
	mapping_pieces_close(&profile->pieces);
	free(profile->pooled);
	pool_blocks_close(&profile->pool_blocks);
	for (unsigned i = 0; i < HI_NAMED_MAX; i++)
		free(profile->named[i].name);
	histories_close(&profile->histories);
	labels_close(&profile->labels);
	thread_breakdown_close(&profile->breakdown);
	code_names_close(&profile->code_names);
	if (profile->index) {
		frame_table_close(&profile->index->frames);
		table_close(&profile->index->named_frames);
		table_close(&profile->index->stacks);
		table_close(&profile->index->rows);
		table_close(&profile->index->mappings);
		table_close(&profile->index->pooled);
		frame_pool_close(&profile->index->pool);
	}
	free(profile->index);
	*profile = (struct profile){0};
}

void profile_forget(struct profile *profile)
{
	free(profile->row);
	profile->row = NULL;
	profile->row_count = profile->index->row_capacity = 0;
	table_close(&profile->index->rows);
	free(profile->mapping);
	profile->mapping = NULL;
	profile->mapping_count = profile->index->mapping_capacity = 0;
	table_close(&profile->index->mappings);
	mapping_pieces_close(&profile->pieces);
	free(profile->pooled);
	profile->pooled = NULL;
	profile->pooled_count = profile->index->pooled_capacity = 0;
	table_close(&profile->index->pooled);
	pool_blocks_close(&profile->pool_blocks);
	histories_close(&profile->histories);
	profile->histories = (struct histories){0};
	thread_breakdown_forget(&profile->breakdown);
}

static int copy_string(const char *text, char **out_copy)
{
	*out_copy = text ? strdup(text) : NULL;
	return text && !*out_copy ? -ENOMEM : 0;
}

int profile_add_module(struct profile *profile, const struct profile_module *module,
		       uint32_t *out_index)
{
	struct profile_module copy = *module;

	if (array_reserve(&profile->module, &profile->index->module_capacity, profile->module_count,
			  sizeof(*profile->module)))
		return -ENOMEM;
	if (copy_string(module->path, &copy.path))
		return -ENOMEM;
	if (copy_string(module->open_path, &copy.open_path)) {
		free(copy.path);
		return -ENOMEM;
	}
	*out_index = (uint32_t)profile->module_count;
	profile->module[profile->module_count++] = copy;
	return 0;
}

void profile_frame_prefetch(const struct profile *profile, uint64_t address, int32_t module)
{
	frame_table_prefetch(&profile->index->frames, address, module);
}

int profile_frame_at(struct profile *profile, uint64_t address, int32_t module, uint32_t *out_frame)
{
	struct frame_table *frames = &profile->index->frames;

	if (frame_table_find(frames, address, module, out_frame))
		return 0;
	*out_frame = (uint32_t)profile->frame_count;
	if (array_reserve(&profile->frame, &profile->index->frame_capacity, profile->frame_count,
			  sizeof(*profile->frame)) ||
	    frame_table_add(frames, address, module, *out_frame))
		return -ENOMEM;
	profile->frame[profile->frame_count++] =
		(struct profile_frame){.address = address, .module = module};
	return 0;
}

bool profile_frame_has_lines(const struct profile_frame *frame, const struct profile_line *line,
			     size_t line_count)
{
	bool is_same = frame->line_count == line_count;

	for (size_t i = 0; i < line_count && is_same; i++)
		is_same = frame->line[i].line == line[i].line &&
			  text_equal(frame->line[i].function, line[i].function) &&
			  text_equal(frame->line[i].file, line[i].file);
	return is_same;
}

int profile_frame_lines(struct profile_frame *frame, const struct profile_line *line,
			size_t line_count)
{
	int err = 0;

	frame->line = calloc(line_count, sizeof(*frame->line));
	if (!frame->line)
		return -ENOMEM;
	frame->line_count = line_count;
	for (size_t i = 0; i < line_count && !err; i++) {
		struct profile_line *copy = &frame->line[i];

		copy->line = line[i].line;
		err = copy_string(line[i].function, &copy->function) ||
		      copy_string(line[i].system_name, &copy->system_name) ||
		      copy_string(line[i].file, &copy->file);
	}
	return err ? -ENOMEM : 0;
}

static uint64_t hash_lines(const struct profile_line *line, size_t line_count)
{
	uint64_t hash = line_count;

	for (size_t i = 0; i < line_count; i++)
		hash = hash_number(hash ^ hash_bytes(line[i].function, strlen(line[i].function)) ^
				   line[i].line);
	return hash;
}

int profile_frame_named(struct profile *profile, const struct profile_line *line, size_t line_count,
			uint32_t *out_frame)
{
	const uint64_t hash = hash_lines(line, line_count);
	struct table_cursor cursor = table_seek(&profile->index->named_frames, hash);
	struct profile_frame frame = {.module = -1};

	while (table_next(&profile->index->named_frames, &cursor, out_frame)) {
		if (profile_frame_has_lines(&profile->frame[*out_frame], line, line_count))
			return 0;
	}
	*out_frame = (uint32_t)profile->frame_count;
	if (profile_frame_lines(&frame, line, line_count) ||
	    array_reserve(&profile->frame, &profile->index->frame_capacity, profile->frame_count,
			  sizeof(*profile->frame)) ||
	    table_add(&profile->index->named_frames, hash, *out_frame)) {
		frame_close(&frame);
		return -ENOMEM;
	}
	profile->frame[profile->frame_count++] = frame;
	return 0;
}

/* A stack of no frames is kept too; its frame is not NULL either. */
static int stack_add(struct profile *profile, const uint32_t *frame, uint32_t frame_count,
		     uint16_t end)
{
	uint32_t *copy;

	if (array_reserve(&profile->stack, &profile->index->stack_capacity, profile->stack_count,
			  sizeof(*profile->stack)))
		return -ENOMEM;
	copy = frame_pool_take(&profile->index->pool, frame_count);
	if (!copy)
		return -ENOMEM;
	if (frame_count)
		memcpy(copy, frame, frame_count * sizeof(*copy));
	profile->stack[profile->stack_count++] =
		(struct profile_stack){.frame = copy, .frame_count = frame_count, .end = end};
	return 0;
}

int profile_stack_of(struct profile *profile, const uint32_t *frame, uint32_t frame_count,
		     uint16_t end, uint32_t *out_stack)
{
	uint64_t hash = hash_number(hash_bytes(frame, frame_count * sizeof(*frame)) ^ end);
	struct table_cursor cursor = table_seek(&profile->index->stacks, hash);
	uint32_t index;

	while (table_next(&profile->index->stacks, &cursor, &index)) {
		const struct profile_stack *stack = &profile->stack[index];

		if (stack->frame_count == frame_count && stack->end == end &&
		    (!frame_count ||
		     memcmp(stack->frame, frame, frame_count * sizeof(*frame)) == 0)) {
			*out_stack = index;
			return 0;
		}
	}
	index = (uint32_t)profile->stack_count;
	if (stack_add(profile, frame, frame_count, end) ||
	    table_add(&profile->index->stacks, hash, index))
		return -ENOMEM;
	*out_stack = index;
	return 0;
}

/* Rows of one kind: an array, and the table beside it. */
struct rows {
	struct profile_row **row;
	size_t *count, *capacity;
	struct table *table;
};

static int row_at(const struct rows *rows, const struct profile_row_key *key, uint32_t *out_row)
{
	uint64_t hash = hash_number(hash_number((uint64_t)key->stack << 32 | key->size_class) ^
				    key->interval ^ (uint64_t)key->side << 63 ^
				    (uint64_t)key->labels << 24);
	struct table_cursor cursor = table_seek(rows->table, hash);
	uint32_t index;

	while (table_next(rows->table, &cursor, &index)) {
		const struct profile_row_key *other = &(*rows->row)[index].key;

		if (other->stack == key->stack && other->size_class == key->size_class &&
		    other->interval == key->interval && other->side == key->side &&
		    other->labels == key->labels) {
			*out_row = index;
			return 0;
		}
	}
	index = (uint32_t)*rows->count;
	if (array_reserve(rows->row, rows->capacity, *rows->count, sizeof(**rows->row)) ||
	    table_add(rows->table, hash, index))
		return -ENOMEM;
	(*rows->row)[(*rows->count)++] = (struct profile_row){.key = *key};
	*out_row = index;
	return 0;
}

int profile_row_at(struct profile *profile, const struct profile_row_key *key, uint32_t *out_row)
{
	return row_at(&(struct rows){&profile->row, &profile->row_count,
				     &profile->index->row_capacity, &profile->index->rows},
		      key, out_row);
}

int profile_mapping_at(struct profile *profile, const struct profile_row_key *key,
		       uint32_t *out_mapping)
{
	const int err =
		row_at(&(struct rows){&profile->mapping, &profile->mapping_count,
				      &profile->index->mapping_capacity, &profile->index->mappings},
		       key, out_mapping);

	if (!err)
		profile->mapping[*out_mapping].is_mapping = true;
	return err;
}

int profile_pooled_at(struct profile *profile, const struct profile_row_key *key,
		      uint32_t *out_pooled)
{
	const int err =
		row_at(&(struct rows){&profile->pooled, &profile->pooled_count,
				      &profile->index->pooled_capacity, &profile->index->pooled},
		       key, out_pooled);

	if (!err)
		profile->pooled[*out_pooled].is_pooled = true;
	return err;
}

int profile_row_append(struct profile *profile, const struct profile_row *row, uint32_t *out_row)
{
	if (array_reserve(&profile->row, &profile->index->row_capacity, profile->row_count,
			  sizeof(*profile->row)))
		return -ENOMEM;
	*out_row = (uint32_t)profile->row_count;
	profile->row[profile->row_count++] = *row;
	return 0;
}

bool profile_row_balances(const struct profile *profile, const struct profile_row *row)
{
	return row->key.side == PROFILE_BASE && row->alloc_count && !row->alloc_bytes &&
	       !row->inuse_bytes && !(profile->meta.missing & PROFILE_MISSING_SPACE);
}

bool profile_has_base(const struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		if (profile->row[i].key.side == PROFILE_BASE)
			return true;
	}
	return false;
}

bool profile_is_comparison(const struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = &profile->row[i];

		if (row->key.side == PROFILE_BASE && !profile_row_balances(profile, row))
			return true;
	}
	return false;
}

#define MOMENT_STEP_NS 250000000u

static void halve_moments(struct profile_meta *meta)
{
	for (uint32_t i = 0; i < PROFILE_MOMENTS_MAX / 2; i++)
		meta->moment[i] = meta->moment[2 * i];
	meta->moment_count = PROFILE_MOMENTS_MAX / 2;
	meta->moment_step_ns *= 2;
}

void profile_add_moment(struct profile_meta *meta, const struct profile_moment *moment)
{
	const struct profile_moment *last =
		meta->moment_count ? &meta->moment[meta->moment_count - 1] : NULL;

	if (!meta->moment_step_ns)
		meta->moment_step_ns = MOMENT_STEP_NS;
	if (last && moment->time_ns <= last->time_ns)
		return;
	/* a moment stays until the next stretch begins, so that the last one is the latest of all
	 */
	if (meta->moment_count > 1 &&
	    moment->time_ns - meta->moment[meta->moment_count - 2].time_ns < meta->moment_step_ns)
		meta->moment_count--;
	if (meta->moment_count == PROFILE_MOMENTS_MAX)
		halve_moments(meta);
	meta->moment[meta->moment_count++] = *moment;
}

void profile_intervals(const struct profile *profile, uint64_t *out_finest, uint64_t *out_coarsest)
{
	uint64_t finest = UINT64_MAX, coarsest = 0;

	for (size_t i = 0; i < profile->row_count; i++) {
		const uint64_t interval = profile->row[i].key.interval;

		finest = interval < finest ? interval : finest;
		coarsest = interval > coarsest ? interval : coarsest;
	}
	*out_finest = coarsest ? finest : profile->meta.interval;
	*out_coarsest = coarsest ? coarsest : profile->meta.interval;
}

void profile_rates(const struct profile *profile, uint64_t *out_finest, uint64_t *out_coarsest)
{
	const struct profile_meta *meta = &profile->meta;
	const size_t count = meta->change_count < PROFILE_CHANGES_MAX ? (size_t)meta->change_count
								      : PROFILE_CHANGES_MAX;

	profile_intervals(profile, out_finest, out_coarsest);
	if (profile->row_count || !count)
		return;
	*out_finest = *out_coarsest = meta->change[0].interval;
	for (size_t i = 1; i < count; i++) {
		const uint64_t interval = meta->change[i].interval;

		*out_finest = interval < *out_finest ? interval : *out_finest;
		*out_coarsest = interval > *out_coarsest ? interval : *out_coarsest;
	}
}

void profile_add_change(struct profile_meta *meta, const struct profile_change *change)
{
	if (meta->change_count < PROFILE_CHANGES_MAX)
		meta->change[meta->change_count] = *change;
	meta->change_count++;
}

const char *profile_fitting_rate(const struct profile *profile, char *buffer, size_t size)
{
	const struct profile_meta *meta = &profile->meta;
	const double fitted = (double)meta->samples + (double)meta->frees,
		     lost = (double)meta->dropped_allocs + (double)meta->dropped_frees;
	uint64_t bytes = 0, count = 0;

	for (size_t i = 0; i < profile->row_count; i++) {
		bytes += profile->row[i].alloc_bytes;
		count += profile->row[i].alloc_count;
	}
	return hi_format_rate(hi_fitting_interval(meta->interval, count ? bytes / count : 0,
						  fitted / (fitted + lost)),
			      buffer, size);
}
