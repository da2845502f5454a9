/* SPDX-License-Identifier: MIT */
/*
 * percent_base.c - see percent_base.h. Rows that are to be subtracted from each other are brought
 * together by sorting.
 */
#include "percent_base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "table.h"

/* The difference of one stack, one mean size, one thread and one set of labels. */
struct difference {
	uint64_t stack, size, tags; /* hashes, except the size */
	double value[SAMPLE_TYPE_COUNT];
};

static uint64_t hash_text(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

/* Hashes the place in the object: two processes seldom have it at the same address. */
static uint64_t hash_frame(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_module *module =
		frame->module >= 0 && frame->module < (int64_t)profile->module_count
			? &profile->module[frame->module]
			: NULL;
	uint64_t hash = frame->address;

	if (module) {
		hash = hash_number(frame->address - module->lo + module->file_offset);
		hash ^= module->build_id_size ? hash_bytes(module->build_id, module->build_id_size)
					      : hash_text(module->path);
	}
	for (size_t i = 0; i < frame->line_count && !frame->address; i++)
		hash = hash_number(hash ^ hash_text(frame->line[i].function)) ^
		       hash_text(frame->line[i].file) ^ frame->line[i].line;
	return hash;
}

static uint64_t hash_stack(const struct profile *profile, const struct profile_stack *stack)
{
	uint64_t hash = stack->frame_count;

	for (uint32_t i = 0; i < stack->frame_count; i++)
		hash = hash_number(hash ^ hash_frame(profile, &profile->frame[stack->frame[i]]));
	return hash;
}

static int compare_numbers(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int compare_differences(const void *left, const void *right)
{
	const struct difference *a = left, *b = right;
	int order = compare_numbers(a->stack, b->stack);

	order = order ? order : compare_numbers(a->size, b->size);
	return order ? order : compare_numbers(a->tags, b->tags);
}

static void sum_changes(struct profile_meta *meta, struct difference *difference, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct difference *next = i + 1 < count ? &difference[i + 1] : NULL;
		const bool is_last = !next || compare_differences(&difference[i], next) != 0;

		for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
			if (is_last)
				meta->percent_base[type] += fabs(difference[i].value[type]);
			else
				next->value[type] += difference[i].value[type];
		}
	}
}

/* Without a label, pprof does not tell samples of one stack apart. */
static uint64_t labelled_size(const struct profile_row *row)
{
	return row->block_bytes == PROFILE_NO_LABEL ? 0 : profile_block_bytes(row);
}

static uint64_t hash_thread(const struct profile *profile, const struct part *part)
{
	const struct part_thread *thread =
		part && part->thread ? &profile->breakdown.thread[part->thread] : NULL;

	return thread ? hash_number(thread->tid) ^ hash_text(thread->name) : 0;
}

/*
 * `profile` has the figures. `before` has what tells differences apart: it is the same profile or,
 * after a filter, the profile before it.
 */
struct compared {
	const struct profile *profile, *before;
	const uint32_t *origin; /* by row, the one of `before`; NULL = the same */
	uint64_t *stack;        /* hashes, by stack of `before` */
};

/* part: NULL = the whole row */
static struct difference difference_of(const struct compared *compared, uint32_t index,
				       const struct part *part)
{
	const struct profile_row *
		row = &compared->profile->row[index],
	       *origin = &compared->before->row[compared->origin ? compared->origin[index] : index];
	struct difference difference = {
		.stack = compared->stack[origin->key.stack],
		.size = labelled_size(origin),
		.tags = hash_thread(compared->profile, part) ^
			labels_hash(labels_get(&compared->before->labels, origin->key.labels))};

	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		difference.value[type] =
			estimate_part(compared->profile, row, part, (enum sample_type)type).value;
	return difference;
}

static int set_to_changes(struct profile *profile, const struct profile *before,
			  const uint32_t *origin)
{
	const struct part *part = profile->breakdown.part;
	const size_t count =
		profile->breakdown.count ? profile->breakdown.count : profile->row_count;
	struct compared compared = {.profile = profile, .before = before, .origin = origin};
	struct difference *difference = malloc((count + 1) * sizeof(*difference));

	compared.stack = malloc((before->stack_count + 1) * sizeof(*compared.stack));
	for (size_t i = 0; compared.stack && i < before->stack_count; i++)
		compared.stack[i] = hash_stack(before, &before->stack[i]);
	for (size_t i = 0; difference && compared.stack && i < count; i++)
		difference[i] = profile->breakdown.count
					? difference_of(&compared, part[i].row, &part[i])
					: difference_of(&compared, (uint32_t)i, NULL);
	const int err = difference && compared.stack ? 0 : -ENOMEM;
	if (!err) {
		qsort(difference, count, sizeof(*difference), compare_differences);
		sum_changes(&profile->meta, difference, count);
	}
	free(difference);
	free(compared.stack);
	return err;
}

int percent_base_set_relative(struct profile *left, enum percent_base_of of,
			      const struct profile *before, const uint32_t *origin)
{
	const enum sample_type first = estimate_first_type(left);
	double base[SAMPLE_TYPE_COUNT];
	bool has_base = false;

	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		const struct estimate total = estimate_total(left, (enum sample_type)type);

		base[type] = left->meta.is_difference && left == before
				     ? left->meta.base_changes[type]
				     : total.base;
		has_base |= total.base > 0;
		left->meta.percent_base[type] = total.value;
	}
	left->meta.percent_divisor = left->meta.percent_base[first];
	if (!has_base)
		return 0;
	memset(left->meta.percent_base, 0, sizeof(left->meta.percent_base));
	if (set_to_changes(left, before, origin))
		return -ENOMEM;
	for (int type = 0; type < SAMPLE_TYPE_COUNT && of == PERCENT_BASE_BASE; type++)
		left->meta.percent_base[type] =
			base[type] > 0 ? base[type] : left->meta.percent_base[type];
	if (of == PERCENT_BASE_BASE && base[first] > 0)
		left->meta.percent_divisor = base[first];
	return 0;
}

int percent_base_add(const struct profile *profile, double sum[PROFILE_VALUES])
{
	struct profile copy = *profile; /* a shallow one, which nobody closes */
	const int err = percent_base_set(&copy, PERCENT_BASE_CHANGES);

	for (int type = 0; type < SAMPLE_TYPE_COUNT && !err; type++)
		sum[type] += copy.meta.percent_base[type];
	return err;
}

int percent_base_set(struct profile *profile, enum percent_base_of of)
{
	return percent_base_set_relative(profile, of, profile, NULL);
}
