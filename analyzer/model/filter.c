/* SPDX-License-Identifier: MIT */
/*
 * filter.c - see filter.h. First the frames, each once; then the stacks, each once; then the rows, which have what is left of their stacks and of their
 * threads. Rows whose stacks have become one stay rows of their own, so that each keeps the weight of its samples. Start at filter_profile().
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_names.h"
#include "filter_tags.h"
#include "merge.h"

#define NOT_THERE UINT32_MAX

const char *const filter_names[FILTER_KINDS] = {
	[FILTER_FOCUS] = "focus",         [FILTER_IGNORE] = "ignore",         [FILTER_HIDE] = "hide",         [FILTER_SHOW] = "show",
	[FILTER_SHOW_FROM] = "show-from", [FILTER_PRUNE_FROM] = "prune-from", [FILTER_TAGFOCUS] = "tagfocus", [FILTER_TAGIGNORE] = "tagignore",
};

struct filter {
	const struct filter_options *options;
	struct pattern pattern[FILTER_TAGFOCUS]; /* the kinds before it */
	struct filter_tag focus, ignore;
	const struct profile *from;
	struct profile into;
	struct filtered_frame *frame; /* by frame of `from` */
	uint32_t *new_frame, *stack;  /* index in `into`; NOT_THERE = nothing is left of it, or it was not needed so far */
	uint32_t *longest;            /* room for the frames of any stack */
	struct part *kept;            /* by row: what its threads keep of it */
	unsigned int matched;
};

/* ---- options ---- */

static int open_one(struct filter *filter, size_t kind, char complaint[PATTERN_COMPLAINT_MAX])
{
	const char *text = filter->options->text[kind];

	switch (kind) {
	case FILTER_TAGFOCUS:
		return filter_tag_open(&filter->focus, text, complaint);
	case FILTER_TAGIGNORE:
		return filter_tag_open(&filter->ignore, text, complaint);
	default:
		return pattern_open(&filter->pattern[kind], text, complaint);
	}
}

static int open_patterns(struct filter *filter, char complaint[FILTER_COMPLAINT_MAX])
{
	char reason[PATTERN_COMPLAINT_MAX];
	int error = 0;

	for (size_t kind = 0; kind < FILTER_KINDS && !error; kind++) {
		error = open_one(filter, kind, reason);
		if (error == -EINVAL)
			snprintf(complaint, FILTER_COMPLAINT_MAX, "--%s: \"%.200s\" is no regular expression: %s", filter_names[kind],
				 filter->options->text[kind], reason);
	}
	return error;
}

static void close_patterns(struct filter *filter)
{
	for (size_t kind = 0; kind < FILTER_TAGFOCUS; kind++)
		pattern_close(&filter->pattern[kind]);
	filter_tag_close(&filter->focus);
	filter_tag_close(&filter->ignore);
}

int filter_check(const struct filter_options *options, char complaint[FILTER_COMPLAINT_MAX])
{
	struct filter filter = {.options = options};
	const int error = open_patterns(&filter, complaint);

	close_patterns(&filter);
	return error;
}

bool filter_is_idle(const struct filter_options *options)
{
	for (size_t kind = 0; kind < FILTER_KINDS; kind++) {
		if (options->text[kind])
			return false;
	}
	return !options->trim_path && !options->source_path && options->granularity == PROFILE_FUNCTIONS && !options->no_inlines;
}

/* ---- frames ---- */

static int filter_frames(struct filter *filter)
{
	for (size_t i = 0; i < filter->from->frame_count; i++) {
		if (filter_frame(filter->from, &filter->from->frame[i], filter->pattern, &filter->frame[i], &filter->matched))
			return -ENOMEM;
	}
	return 0;
}

/* The frame in the new profile, when it is first needed. */
static int copy_frame(struct filter *filter, uint32_t index)
{
	const struct profile_frame *frame = &filter->from->frame[index];
	struct filtered_frame *filtered = &filter->frame[index];
	uint32_t *to = &filter->new_frame[index];

	if (*to != NOT_THERE)
		return 0;
	if (filter->options->no_inlines && filtered->line_count > 1) {
		filtered->line[0] = filtered->line[filtered->line_count - 1];
		filtered->line_count = 1;
	}
	const bool has_name_only = !frame->address && frame->module < 0 && filtered->line_count;
	if (has_name_only)
		return profile_frame_named(&filter->into, filtered->line, filtered->line_count, to);
	if (profile_frame_at(&filter->into, frame->address, frame->module, to))
		return -ENOMEM;
	struct profile_frame *copy = &filter->into.frame[*to];
	return filtered->line_count && !copy->line_count ? profile_frame_lines(copy, filtered->line, filtered->line_count) : 0;
}

static void trim_paths(struct filter *filter)
{
	struct profile *into = &filter->into;

	for (size_t i = 0; i < into->frame_count; i++) {
		for (size_t k = 0; k < into->frame[i].line_count; k++) {
			if (into->frame[i].line[k].file)
				filter_trim_path(into->frame[i].line[k].file, filter->options);
		}
	}
}

/* ---- stacks ---- */

/* Where a stack begins, as the views see it. */
static uint32_t first_frame(const struct filter *filter, const struct profile_stack *stack)
{
	uint32_t first = 0;

	while (first + 1 < stack->frame_count && filter->frame[stack->frame[first]].is_allocator)
		first++;
	return first;
}

static bool is_chosen(const struct filter *filter, const struct profile_stack *stack)
{
	bool is_focused = false;

	for (uint32_t i = first_frame(filter, stack); i < stack->frame_count; i++) {
		if (filter->frame[stack->frame[i]].is_ignored)
			return false;
		is_focused |= filter->frame[stack->frame[i]].is_focused;
	}
	return is_focused;
}

/* Its frames that are left, in longest[]; returns how many. */
static uint32_t thin_out(struct filter *filter, const struct profile_stack *stack)
{
	uint32_t count = 0, first = 0;

	for (uint32_t i = first_frame(filter, stack); i < stack->frame_count; i++) {
		if (!filter->frame[stack->frame[i]].is_hidden)
			filter->longest[count++] = stack->frame[i];
	}
	while (filter->pattern[FILTER_SHOW_FROM].is_set && count > 0 && !filter->frame[filter->longest[count - 1]].is_show_from)
		count--;
	while (first < count && !filter->frame[filter->longest[first]].is_prune_from)
		first++;
	if (first < count && first > 0) {
		count -= first;
		memmove(filter->longest, filter->longest + first, count * sizeof(*filter->longest));
	}
	return count;
}

static int filter_stacks(struct filter *filter)
{
	for (size_t i = 0; i < filter->from->stack_count; i++) {
		const struct profile_stack *stack = &filter->from->stack[i];
		const uint32_t count = is_chosen(filter, stack) ? thin_out(filter, stack) : 0;

		filter->stack[i] = NOT_THERE;
		for (uint32_t f = 0; f < count; f++) {
			if (copy_frame(filter, filter->longest[f]))
				return -ENOMEM;
			filter->longest[f] = filter->new_frame[filter->longest[f]];
		}
		if (count && profile_stack_of(&filter->into, filter->longest, count, stack->end, &filter->stack[i]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- rows ---- */

static bool passes_tags(struct filter *filter, const struct profile_row *row, const struct part_thread *thread)
{
	const bool is_focused = !filter->focus.is_set || filter_tag_matches(&filter->focus, row, thread);
	const bool is_ignored = filter->ignore.is_set && filter_tag_matches(&filter->ignore, row, thread);

	filter->matched |= (is_focused ? 1u << FILTER_TAGFOCUS : 0) | (is_ignored ? 1u << FILTER_TAGIGNORE : 0);
	return is_focused && !is_ignored;
}

static void add_counts(struct part *to, const struct part *from)
{
	to->alloc_count += from->alloc_count;
	to->alloc_bytes += from->alloc_bytes;
	to->inuse_count += from->inuse_count;
	to->inuse_bytes += from->inuse_bytes;
}

/* How much of each row is left by the threads that have it. */
static void sum_parts(struct filter *filter)
{
	const struct profile *from = filter->from;

	for (size_t i = 0; i < from->parts.count; i++) {
		const struct part *part = &from->parts.part[i];

		if (passes_tags(filter, &from->row[part->row], part->thread ? &from->parts.thread[part->thread] : NULL))
			add_counts(&filter->kept[part->row], part);
	}
	for (size_t i = 0; i < from->row_count && !from->parts.count; i++) {
		const struct profile_row *row = &from->row[i];

		if (passes_tags(filter, row, NULL))
			filter->kept[i] = (struct part){.alloc_count = row->alloc_count,
							.alloc_bytes = row->alloc_bytes,
							.inuse_count = row->inuse_count,
							.inuse_bytes = row->inuse_bytes};
	}
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* What is not counted by thread is divided as what is. */
static struct profile_row row_of(const struct profile_row *row, const struct part *kept)
{
	const double of_alloc = share_of(kept->alloc_count, row->alloc_count), of_inuse = share_of(kept->inuse_count, row->inuse_count);
	struct profile_row part = *row;

	if (kept->alloc_count == row->alloc_count && kept->inuse_count == row->inuse_count)
		return part;
	part.alloc_count = kept->alloc_count;
	part.alloc_bytes = kept->alloc_bytes;
	part.inuse_count = kept->inuse_count;
	part.inuse_bytes = kept->inuse_bytes;
	part.alloc_slack = (uint64_t)((double)row->alloc_slack * of_alloc);
	part.inuse_slack = (uint64_t)((double)row->inuse_slack * of_inuse);
	part.freed_count = (uint64_t)((double)row->freed_count * of_alloc);
	part.freed_ns = row->freed_ns * of_alloc;
	part.inuse_ns = row->inuse_ns * of_inuse;
	return part;
}

/* Its number among those of the copy. Where only a part of the row is left it is not true of that any more, and whoever asks for it finds that out. */
static uint32_t copy_history(struct filter *filter, const struct profile_row *row)
{
	const struct history *known = histories_get(&filter->from->histories, row->history);
	const uint32_t number = known ? histories_new(&filter->into.histories) : 0;
	struct history *copy = histories_get(&filter->into.histories, number);

	if (copy)
		*copy = *known;
	return number;
}

/* new_row: by row of `from`, gets the index of what is left of it. */
static int copy_rows(struct filter *filter, uint32_t *new_row)
{
	for (size_t i = 0; i < filter->from->row_count; i++) {
		const struct profile_row *row = &filter->from->row[i];
		const uint32_t stack = filter->stack[row->key.stack];

		new_row[i] = NOT_THERE;
		if (stack == NOT_THERE || !(filter->kept[i].alloc_count || filter->kept[i].inuse_count))
			continue;
		struct profile_row copy = row_of(row, &filter->kept[i]);
		copy.key.stack = stack;
		copy.history = copy_history(filter, row);
		if (profile_row_append(&filter->into, &copy, &new_row[i]))
			return -ENOMEM;
	}
	return 0;
}

static int copy_threads(struct filter *filter)
{
	const struct parts *from = &filter->from->parts;
	struct parts *into = &filter->into.parts;

	into->thread = calloc(from->thread_count + 1, sizeof(*into->thread));
	if (!into->thread)
		return -ENOMEM;
	into->thread_capacity = from->thread_count + 1;
	for (; into->thread_count < from->thread_count; into->thread_count++) {
		const struct part_thread *thread = &from->thread[into->thread_count];
		struct part_thread *copy = &into->thread[into->thread_count];

		copy->tid = thread->tid;
		if (thread->name && !(copy->name = strdup(thread->name)))
			return -ENOMEM;
	}
	return 0;
}

static int copy_parts(struct filter *filter, const uint32_t *new_row)
{
	const struct profile *from = filter->from;
	uint32_t index;

	for (size_t i = 0; i < from->parts.count; i++) {
		const struct part *part = &from->parts.part[i];

		if (new_row[part->row] == NOT_THERE)
			continue;
		if (!passes_tags(filter, &from->row[part->row], part->thread ? &from->parts.thread[part->thread] : NULL))
			continue;
		if (parts_of(&filter->into.parts, new_row[part->row], part->thread, &index))
			return -ENOMEM;
		add_counts(&filter->into.parts.part[index], part);
	}
	return 0;
}

static int filter_rows(struct filter *filter)
{
	uint32_t *new_row = malloc((filter->from->row_count + 1) * sizeof(*new_row));
	int error = new_row ? 0 : -ENOMEM;

	if (!error) {
		sum_parts(filter);
		error = copy_rows(filter, new_row);
	}
	if (!error && filter->from->parts.count)
		error = copy_threads(filter) || copy_parts(filter, new_row) ? -ENOMEM : 0;
	free(new_row);
	return error;
}

/* ---- the profile ---- */

/* What is known of the session, and its modules. */
static int copy_rest(struct filter *filter)
{
	const struct profile rest = {.meta = filter->from->meta, .module = filter->from->module, .module_count = filter->from->module_count};
	struct profile_meta *meta = &filter->into.meta;
	size_t size;
	FILE *out;

	if (profile_merge(&filter->into, &rest, PROFILE_NEW))
		return -ENOMEM;
	meta->granularity = filter->options->granularity;
	out = open_memstream(&meta->filters, &size);
	for (size_t kind = 0; out && kind < FILTER_KINDS; kind++) {
		if (filter->options->text[kind])
			fprintf(out, "   %s=%s\n", filter_names[kind], filter->options->text[kind]);
	}
	if (!out || fclose(out))
		return -ENOMEM;
	if (!*meta->filters) {
		free(meta->filters);
		meta->filters = NULL;
	}
	return 0;
}

static int reserve(struct filter *filter)
{
	const struct profile *from = filter->from;
	uint32_t longest = 0;

	for (size_t i = 0; i < from->stack_count; i++)
		longest = from->stack[i].frame_count > longest ? from->stack[i].frame_count : longest;
	filter->frame = calloc(from->frame_count + 1, sizeof(*filter->frame));
	filter->new_frame = malloc((from->frame_count + 1) * sizeof(*filter->new_frame));
	filter->stack = malloc((from->stack_count + 1) * sizeof(*filter->stack));
	filter->longest = malloc((longest + (size_t)1) * sizeof(*filter->longest));
	filter->kept = calloc(from->row_count + 1, sizeof(*filter->kept));
	if (!filter->frame || !filter->new_frame || !filter->stack || !filter->longest || !filter->kept)
		return -ENOMEM;
	for (size_t i = 0; i < from->frame_count; i++)
		filter->new_frame[i] = NOT_THERE;
	return 0;
}

static void filter_close(struct filter *filter)
{
	for (size_t i = 0; filter->frame && i < filter->from->frame_count; i++)
		free(filter->frame[i].line);
	free(filter->frame);
	free(filter->new_frame);
	free(filter->stack);
	free(filter->longest);
	free(filter->kept);
	close_patterns(filter);
}

int filter_profile(const struct profile *from, const struct filter_options *options, struct profile *out_profile, unsigned int *out_unmatched)
{
	struct filter filter = {.options = options, .from = from};
	char complaint[FILTER_COMPLAINT_MAX];
	int error = profile_open(&filter.into);

	if (!error)
		error = open_patterns(&filter, complaint);
	if (!error && (reserve(&filter) || copy_rest(&filter) || filter_frames(&filter) || filter_stacks(&filter) || filter_rows(&filter)))
		error = -ENOMEM;
	filter_close(&filter);
	if (error) {
		profile_close(&filter.into);
		return error;
	}
	trim_paths(&filter);
	*out_profile = filter.into;
	*out_unmatched = 0;
	for (unsigned int kind = 0; kind < FILTER_KINDS; kind++)
		*out_unmatched |= options->text[kind] && !(filter.matched & 1u << kind) ? 1u << kind : 0;
	return 0;
}
