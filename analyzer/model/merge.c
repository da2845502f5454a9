/* SPDX-License-Identifier: MIT */
/*
 * merge.c - see merge.h.
 *
 * Each part of the model is copied in the order in which the next one refers to it: modules,
 * frames, stacks, rows, threads. Start at profile_merge().
 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "hooked_lines.h"
#include "percent_base.h"
#include "row_history.h"
#include "text_equal.h"

struct merge {
	struct profile *into;
	const struct profile *from;
	enum profile_side side;
	uint32_t *module, *frame, *stack, *row, *labels,
		*thread;   /* by index in `from`: index in `into` */
	uint32_t *longest; /* room for the frames of any stack */
	double later_ns;   /* by how much the common window ends after that of `from` */
};

static bool is_same_module(const struct profile_module *a, const struct profile_module *b)
{
	return a->lo == b->lo && a->hi == b->hi && a->bias == b->bias &&
	       a->file_offset == b->file_offset && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       text_equal(a->path, b->path);
}

/*
 * The highest object number in the profile. Object numbers are those of the file that they came
 * from: in another file the same number means another object.
 */
static uint32_t number_after(const struct profile *profile)
{
	uint32_t number = 0;

	for (size_t i = 0; i < profile->module_count; i++)
		number = profile->module[i].number > number ? profile->module[i].number : number;
	return number;
}

static int merge_modules(struct merge *merge)
{
	struct profile *into = merge->into;
	const size_t count = into->module_count;
	const uint32_t base = number_after(into);

	for (size_t i = 0; i < merge->from->module_count; i++) {
		struct profile_module module = merge->from->module[i];
		size_t same = 0;

		while (same < count && !is_same_module(&into->module[same], &module))
			same++;
		merge->module[i] = (uint32_t)same;
		module.number += base;
		if (same == count && profile_add_module(into, &module, &merge->module[i]))
			return -ENOMEM;
	}
	return 0;
}

static int merge_frames(struct merge *merge)
{
	for (size_t i = 0; i < merge->from->frame_count; i++) {
		const struct profile_frame *frame = &merge->from->frame[i];
		const int32_t module =
			frame->module < 0 ? -1 : (int32_t)merge->module[frame->module];
		struct profile_frame *copy;
		const bool has_name_only =
			!frame->address && frame->module < 0 && frame->line_count;

		if (has_name_only ? profile_frame_named(merge->into, frame->line, frame->line_count,
							&merge->frame[i])
				  : profile_frame_at(merge->into, frame->address, module,
						     &merge->frame[i]))
			return -ENOMEM;
		copy = &merge->into->frame[merge->frame[i]];
		copy->function = copy->function ? copy->function : frame->function;
		if (frame->line_count && !copy->line_count &&
		    profile_frame_lines(copy, frame->line, frame->line_count))
			return -ENOMEM;
	}
	return 0;
}

static int merge_stacks(struct merge *merge)
{
	for (size_t i = 0; i < merge->from->stack_count; i++) {
		const struct profile_stack *stack = &merge->from->stack[i];

		for (uint32_t f = 0; f < stack->frame_count; f++)
			merge->longest[f] = merge->frame[stack->frame[f]];
		if (profile_stack_of(merge->into, merge->longest, stack->frame_count, stack->end,
				     &merge->stack[i]))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void add_row(struct merge *merge, struct profile_row *to, const struct profile_row *from)
{
	struct history history;

	if (row_history_get(merge->from, from, &history))
		row_history_add(merge->into, to, &history);
	to->alloc_count += from->alloc_count;
	to->alloc_bytes += from->alloc_bytes;
	to->inuse_count += from->inuse_count;
	to->inuse_bytes += from->inuse_bytes;
	to->resident_bytes += from->resident_bytes;
	to->swapped_bytes += from->swapped_bytes;
	to->alloc_slack += from->alloc_slack;
	to->inuse_slack += from->inuse_slack;
	to->freed_count += from->freed_count;
	to->freed_ns += from->freed_ns;
	to->inuse_ns += from->inuse_ns + merge->later_ns * (double)from->inuse_count;
	to->block_bytes = to->block_bytes ? to->block_bytes : from->block_bytes;
	to->first_ns = earlier(to->first_ns, from->first_ns);
	to->last_ns = to->last_ns > from->last_ns ? to->last_ns : from->last_ns;
	to->grain = to->grain > from->grain ? to->grain : from->grain;
	to->is_mapping |= from->is_mapping;
	to->is_pooled |= from->is_pooled;
}

static int merge_rows(struct merge *merge)
{
	for (size_t i = 0; i < merge->from->row_count; i++) {
		const struct profile_row *row = &merge->from->row[i];
		struct profile_row_key key = row->key;

		key.stack = merge->stack[key.stack];
		key.labels = merge->labels[key.labels];
		/*
		 * what a comparison counted negatively counts positively once the comparison is a
		 * base
		 */
		if (merge->side == PROFILE_BASE)
			key.side = key.side == PROFILE_BASE ? PROFILE_NEW : PROFILE_BASE;
		if (profile_row_at(merge->into, &key, &merge->row[i]))
			return -ENOMEM;
		add_row(merge, &merge->into->row[merge->row[i]], row);
	}
	return 0;
}

static int add_part(struct merge *merge, uint32_t row, uint32_t thread, const struct part *counts)
{
	uint32_t index;

	if (thread_breakdown_of(&merge->into->breakdown, row, thread, &index))
		return -ENOMEM;
	struct part *part = &merge->into->breakdown.part[index];
	part->alloc_count += counts->alloc_count;
	part->alloc_bytes += counts->alloc_bytes;
	part->inuse_count += counts->inuse_count;
	part->inuse_bytes += counts->inuse_bytes;
	part->resident_bytes += counts->resident_bytes;
	part->swapped_bytes += counts->swapped_bytes;
	return 0;
}

/* Rows whose threads are unknown belong to nobody (thread 0). */
static int add_nobodys(struct merge *merge, size_t row_count, const struct profile_row *rows,
		       const uint32_t *place)
{
	for (size_t i = 0; i < row_count; i++) {
		const struct part counts = {.alloc_count = rows[i].alloc_count,
					    .alloc_bytes = rows[i].alloc_bytes,
					    .inuse_count = rows[i].inuse_count,
					    .inuse_bytes = rows[i].inuse_bytes,
					    .resident_bytes = rows[i].resident_bytes,
					    .swapped_bytes = rows[i].swapped_bytes};
		if (add_part(merge, place ? place[i] : (uint32_t)i, 0, &counts))
			return -ENOMEM;
	}
	return 0;
}

static int merge_threads(struct merge *merge)
{
	const struct thread_breakdown *from = &merge->from->breakdown;

	for (size_t i = 0; i < from->thread_count; i++) {
		if (thread_breakdown_thread(&merge->into->breakdown, from->thread[i].name,
					    from->thread[i].tid, &merge->thread[i]))
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->count; i++) {
		if (add_part(merge, merge->row[from->part[i].row],
			     merge->thread[from->part[i].thread], &from->part[i]))
			return -ENOMEM;
	}
	return from->count
		       ? 0
		       : add_nobodys(merge, merge->from->row_count, merge->from->row, merge->row);
}

static int copy_text(char **to, const char *from)
{
	if (*to || !from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : -ENOMEM;
}

/* For the first profile: copies everything. */
static int copy_meta(struct profile_meta *to, const struct profile_meta *from)
{
	*to = *from;
	to->comm = to->cmdline = to->exe = to->host = to->version = to->maps = to->filters =
		to->comments = to->damage = to->hooked = to->unhooked = to->unhooked_frees =
			to->sources = to->trigger = NULL;
	to->heap.name = to->heap.refusal = NULL;
	memset(to->caveat, 0, sizeof(to->caveat));
	return copy_text(&to->comments, from->comments) || copy_text(&to->comm, from->comm) ||
			       copy_text(&to->cmdline, from->cmdline) ||
			       copy_text(&to->trigger, from->trigger) ||
			       copy_text(&to->heap.name, from->heap.name) ||
			       copy_text(&to->heap.refusal, from->heap.refusal) ||
			       copy_text(&to->exe, from->exe) || copy_text(&to->host, from->host) ||
			       copy_text(&to->version, from->version) ||
			       copy_text(&to->maps, from->maps) ||
			       copy_text(&to->damage, from->damage) ||
			       copy_text(&to->sources, from->sources) ||
			       copy_text(&to->unhooked, from->unhooked)
		       ? -ENOMEM
		       : 0;
}

static int merge_meta(struct profile_meta *to, const struct profile_meta *from)
{
	to->is_scaled |= from->is_scaled;
	to->runtimes |= from->runtimes;
	to->missing |= from->missing;
	/* a sum is of no single process, and belongs to no session */
	to->pid = 0;
	free(to->trigger);
	to->trigger = NULL;
	to->files = (to->files ? to->files : 1) + (from->files ? from->files : 1);
	/* the peak of several profiles does not follow from their peaks */
	to->peak_inuse_bytes = to->peak_ns = 0;
	to->suppressed_bytes += from->suppressed_bytes;
	to->slack_samples += from->slack_samples;
	to->samples += from->samples;
	to->frees += from->frees;
	to->missed_frees += from->missed_frees;
	to->memory = (struct profile_memory){0}; /* likewise */
	heap_history_close(&to->heap);
	to->dropped_allocs += from->dropped_allocs;
	to->dropped_frees += from->dropped_frees;
	to->live_set_full += from->live_set_full;
	to->no_thread_slot += from->no_thread_slot;
	to->passed_bytes += from->passed_bytes;
	to->payload_cpu_ns += from->payload_cpu_ns;
	to->target_cpu_ns += from->target_cpu_ns;
	to->stacks_complete += from->stacks_complete;
	to->stacks_truncated += from->stacks_truncated;
	for (size_t i = 0; i < HI_STACK_ENDS; i++)
		to->stack_ends[i] += from->stack_ends[i];
	return copy_text(&to->damage, from->damage);
}

static int reserve(struct merge *merge)
{
	const struct profile *from = merge->from;
	uint32_t longest = 0;

	for (size_t i = 0; i < from->stack_count; i++)
		longest =
			from->stack[i].frame_count > longest ? from->stack[i].frame_count : longest;
	merge->module = malloc((from->module_count + 1) * sizeof(*merge->module));
	merge->frame = malloc((from->frame_count + 1) * sizeof(*merge->frame));
	merge->stack = malloc((from->stack_count + 1) * sizeof(*merge->stack));
	merge->row = malloc((from->row_count + 1) * sizeof(*merge->row));
	merge->thread = malloc((from->breakdown.thread_count + 1) * sizeof(*merge->thread));
	merge->labels = malloc((from->labels.set_count + 1) * sizeof(*merge->labels));
	merge->longest = malloc((longest + (size_t)1) * sizeof(*merge->longest));
	return merge->module && merge->frame && merge->stack && merge->row && merge->thread &&
			       merge->labels && merge->longest
		       ? 0
		       : -ENOMEM;
}

static int merge_all(struct merge *merge)
{
	const bool has_parts = merge->into->breakdown.count > 0,
		   has_rows = merge->into->row_count > 0;
	const size_t rows_before = merge->into->row_count;

	if (merge_modules(merge) || merge_frames(merge) || merge_stacks(merge) ||
	    labels_merge(&merge->into->labels, &merge->from->labels, merge->labels))
		return -ENOMEM;
	/*
	 * Before merge_rows() adds to the rows: what they hold so far becomes the part of nobody.
	 */
	if (has_rows && !has_parts && merge->from->breakdown.count &&
	    add_nobodys(merge, rows_before, merge->into->row, NULL))
		return -ENOMEM;
	if (merge_rows(merge))
		return -ENOMEM;
	return has_parts || merge->from->breakdown.count ? merge_threads(merge) : 0;
}

/*
 * The window of a sum is as long as the longest of its parts, and all parts end with it: ages count
 * back from the end.
 */
static void align_ends(struct merge *merge)
{
	const uint64_t ours_ns = merge->into->meta.duration_ns,
		       theirs_ns = merge->from->meta.duration_ns;

	if (theirs_ns <= ours_ns) {
		merge->later_ns = (double)(ours_ns - theirs_ns);
		return;
	}
	for (size_t i = 0; i < merge->into->row_count; i++) {
		struct profile_row *row = &merge->into->row[i];

		row->inuse_ns += (double)(theirs_ns - ours_ns) * (double)row->inuse_count;
	}
	merge->into->meta.duration_ns = theirs_ns;
}

int profile_merge(struct profile *into, const struct profile *from, enum profile_side side)
{
	struct merge merge = {.into = into, .from = from, .side = side};
	const bool is_first = into->row_count == 0 && !into->meta.interval,
		   is_difference = into->meta.is_difference || from->meta.is_difference;
	/* of some of the rows it would be of no use */
	const bool is_known = from->meta.residency == PROFILE_RESIDENCY_KNOWN &&
			      (is_first || into->meta.residency == PROFILE_RESIDENCY_KNOWN);
	double changes[PROFILE_VALUES];
	int err = reserve(&merge);

	memcpy(changes, into->meta.base_changes, sizeof(changes));
	if (!err && side == PROFILE_BASE)
		err = percent_base_add(from, changes);

	if (side == PROFILE_NEW && !is_first)
		align_ends(&merge);
	if (!err)
		err = merge_all(&merge);
	if (!err && side == PROFILE_NEW)
		err = is_first ? copy_meta(&into->meta, &from->meta)
			       : merge_meta(&into->meta, &from->meta);
	if (!is_first)
		into->meta.residency =
			is_known ? PROFILE_RESIDENCY_KNOWN : PROFILE_RESIDENCY_UNKNOWN;
	memcpy(into->meta.base_changes, changes, sizeof(changes));
	into->meta.is_difference = is_difference;
	if (!err)
		err = caveats_take_over(&into->meta, &from->meta);
	if (!err)
		err = hooked_lines_take_over(&into->meta, &from->meta);
	free(merge.module);
	free(merge.frame);
	free(merge.stack);
	free(merge.row);
	free(merge.thread);
	free(merge.labels);
	free(merge.longest);
	return err;
}
