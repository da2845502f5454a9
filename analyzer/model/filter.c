/* SPDX-License-Identifier: MIT */
/*
 * filter.c - see filter.h. First the frames are filtered, each once; then the stacks, each once;
 * then the rows (filter_rows.h), which keep what is left of their stacks and of their threads.
 * Start at filter_profile().
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_names.h"
#include "filter_rows.h"
#include "merge.h"

const char *const filter_names[FILTER_KINDS] = {
	[FILTER_FOCUS] = "focus",         [FILTER_IGNORE] = "ignore",
	[FILTER_HIDE] = "hide",           [FILTER_SHOW] = "show",
	[FILTER_SHOW_FROM] = "show-from", [FILTER_PRUNE_FROM] = "prune-from",
	[FILTER_TAGFOCUS] = "tagfocus",   [FILTER_TAGIGNORE] = "tagignore",
};

struct filter {
	const struct filter_options *options;
	struct pattern pattern[FILTER_TAGFOCUS]; /* the kinds before it */
	struct filter_tag focus, ignore;
	const struct profile *from;
	struct profile into;
	struct filtered_frame *frame; /* by frame of `from` */
	/* index in `into`; FILTER_GONE = nothing is left of it, or it was not needed so far */
	uint32_t *new_frame, *stack;
	uint32_t *longest; /* room for the frames of any stack */
	unsigned int matched;
};

/* ---- options --------------------------------------------------------------------------------- */

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
	int err = 0;

	for (size_t kind = 0; kind < FILTER_KINDS && !err; kind++) {
		err = open_one(filter, kind, reason);
		if (err == -EINVAL)
			snprintf(complaint, FILTER_COMPLAINT_MAX,
				 "--%s: \"%.200s\" is no regular expression: %s",
				 filter_names[kind], filter->options->text[kind], reason);
	}
	return err;
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
	const int err = open_patterns(&filter, complaint);

	close_patterns(&filter);
	return err;
}

bool filter_is_idle(const struct filter_options *options)
{
	for (size_t kind = 0; kind < FILTER_KINDS; kind++) {
		if (options->text[kind])
			return false;
	}
	return !options->tagroot && !options->tagleaf && !options->trim_path &&
	       !options->source_path && options->granularity == PROFILE_FUNCTIONS &&
	       !options->no_inlines;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int filter_frames(struct filter *filter)
{
	for (size_t i = 0; i < filter->from->frame_count; i++) {
		if (filter_frame(filter->from, &filter->from->frame[i], filter->pattern,
				 &filter->frame[i], &filter->matched))
			return -ENOMEM;
	}
	return 0;
}

/* Adds the frame to the new profile, when it is first needed. */
static int copy_frame(struct filter *filter, uint32_t index)
{
	const struct profile_frame *frame = &filter->from->frame[index];
	struct filtered_frame *filtered = &filter->frame[index];
	uint32_t *to = &filter->new_frame[index];

	if (*to != FILTER_GONE)
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
	copy->function = frame->function;
	return filtered->line_count && !copy->line_count
		       ? profile_frame_lines(copy, filtered->line, filtered->line_count)
		       : 0;
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

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The index of the first frame that the views show. */
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

/* Writes the frames that are left to longest[], and returns their number. */
static uint32_t thin_out(struct filter *filter, const struct profile_stack *stack)
{
	uint32_t count = 0, first = 0;

	for (uint32_t i = first_frame(filter, stack); i < stack->frame_count; i++) {
		if (!filter->frame[stack->frame[i]].is_hidden)
			filter->longest[count++] = stack->frame[i];
	}
	while (filter->pattern[FILTER_SHOW_FROM].is_set && count > 0 &&
	       !filter->frame[filter->longest[count - 1]].is_show_from)
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

		filter->stack[i] = FILTER_GONE;
		for (uint32_t f = 0; f < count; f++) {
			if (copy_frame(filter, filter->longest[f]))
				return -ENOMEM;
			filter->longest[f] = filter->new_frame[filter->longest[f]];
		}
		if (count && profile_stack_of(&filter->into, filter->longest, count, stack->end,
					      &filter->stack[i]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the profile ----------------------------------------------------------------------------- */

static int filter_all_rows(struct filter *filter)
{
	struct filter_rows rows = {.from = filter->from,
				   .into = &filter->into,
				   .stack = filter->stack,
				   .focus = &filter->focus,
				   .ignore = &filter->ignore};
	int err = filter_rows(&rows);

	filter->matched |= (rows.is_focus_matched ? 1u << FILTER_TAGFOCUS : 0) |
			   (rows.is_ignore_matched ? 1u << FILTER_TAGIGNORE : 0);
	if (!err && filter->options->relative)
		err = percent_base_set_relative(&filter->into, filter->options->percent_base,
						filter->from, rows.origin);
	free(rows.origin);
	return err;
}

/* Copies the session's meta and modules. */
static int copy_rest(struct filter *filter)
{
	const struct profile rest = {.meta = filter->from->meta,
				     .module = filter->from->module,
				     .labels = filter->from->labels, /* keep their numbers */
				     .module_count = filter->from->module_count};
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
		longest =
			from->stack[i].frame_count > longest ? from->stack[i].frame_count : longest;
	filter->frame = calloc(from->frame_count + 1, sizeof(*filter->frame));
	filter->new_frame = malloc((from->frame_count + 1) * sizeof(*filter->new_frame));
	filter->stack = malloc((from->stack_count + 1) * sizeof(*filter->stack));
	filter->longest = malloc((longest + (size_t)1) * sizeof(*filter->longest));
	if (!filter->frame || !filter->new_frame || !filter->stack || !filter->longest)
		return -ENOMEM;
	for (size_t i = 0; i < from->frame_count; i++)
		filter->new_frame[i] = FILTER_GONE;
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
	close_patterns(filter);
}

int filter_profile(const struct profile *from, const struct filter_options *options,
		   struct profile *out_profile, unsigned int *out_unmatched)
{
	struct filter filter = {.options = options, .from = from};
	char complaint[FILTER_COMPLAINT_MAX];
	int err = profile_open(&filter.into);

	if (!err)
		err = open_patterns(&filter, complaint);
	if (!err && (reserve(&filter) || copy_rest(&filter) || filter_frames(&filter) ||
		     filter_stacks(&filter) || filter_all_rows(&filter)))
		err = -ENOMEM;
	filter_close(&filter);
	if (err) {
		profile_close(&filter.into);
		return err;
	}
	trim_paths(&filter);
	*out_profile = filter.into;
	*out_unmatched = 0;
	for (unsigned int kind = 0; kind < FILTER_KINDS; kind++)
		*out_unmatched |=
			options->text[kind] && !(filter.matched & 1u << kind) ? 1u << kind : 0;
	return 0;
}
