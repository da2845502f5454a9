/* SPDX-License-Identifier: MIT */
/*
 * source_lines.c - see source_lines.h. First each call of a wanted function is mapped to its source
 * line; then the stacks are summed up by line.
 */
#include "source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_LINE UINT32_MAX

struct summing {
	const struct functions *functions;
	struct source_lines lines;
	size_t room;
	struct table by_place;
	uint32_t *line_of; /* by call, NO_LINE = not wanted */
	uint32_t *round;   /* by line: the last row that counted, from 1 */
};

static const char *text_of(const char *file)
{
	return file ? file : "";
}

static uint64_t hash_place(const struct function_call *call)
{
	const char *file = text_of(call->file);

	return hash_number(hash_bytes(file, strlen(file)) ^
			   hash_number((uint64_t)call->function << 32 | call->line));
}

static int line_of_call(struct summing *summing, const struct function_call *call, int32_t module,
			uint32_t *out_line)
{
	struct source_lines *lines = &summing->lines;
	const uint64_t hash = hash_place(call);
	struct table_cursor cursor = table_seek(&summing->by_place, hash);
	uint32_t index;

	while (table_next(&summing->by_place, &cursor, &index)) {
		const struct source_line *line = &lines->line[index];
		if (line->function == call->function && line->line == call->line &&
		    strcmp(text_of(line->file), text_of(call->file)) == 0) {
			*out_line = index;
			return 0;
		}
	}
	if (array_reserve(&lines->line, &summing->room, lines->count, sizeof(*lines->line)) ||
	    table_add(&summing->by_place, hash, (uint32_t)lines->count))
		return -ENOMEM;
	*out_line = (uint32_t)lines->count++;
	lines->line[*out_line] = (struct source_line){.function = call->function,
						      .file = call->file,
						      .line = call->line,
						      .module = module};
	return 0;
}

static int find_lines(struct summing *summing, const struct profile *profile, const bool *wanted)
{
	const struct functions *functions = summing->functions;
	const uint32_t count = functions->first[profile->frame_count];

	summing->line_of = malloc((count + (size_t)1) * sizeof(*summing->line_of));
	if (!summing->line_of)
		return -ENOMEM;
	for (size_t frame = 0; frame < profile->frame_count; frame++) {
		for (uint32_t i = functions->first[frame]; i < functions->first[frame + 1]; i++) {
			const struct function_call *call = &functions->call[i];
			summing->line_of[i] = NO_LINE;
			if (wanted[call->function] &&
			    line_of_call(summing, call, profile->frame[frame].module,
					 &summing->line_of[i]))
				return -ENOMEM;
		}
	}
	summing->round = calloc(summing->lines.count + 1, sizeof(*summing->round));
	return summing->round ? 0 : -ENOMEM;
}

static void sum_stack(struct summing *summing, const struct profile_stack *stack, uint32_t round,
		      const struct estimate *weight)
{
	size_t count;
	const uint32_t *calls = functions_unfold(summing->functions, stack, &count);

	for (size_t i = 0; i < count; i++) {
		const uint32_t line = summing->line_of[calls[i]];
		if (line == NO_LINE)
			continue;
		if (i == 0)
			estimate_add(&summing->lines.line[line].flat, weight);
		if (summing->round[line] != round)
			estimate_add(&summing->lines.line[line].cum, weight);
		summing->round[line] = round;
	}
}

static int compare_lines(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	const int order = strcmp(text_of(a->file), text_of(b->file));
	if (order)
		return order;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Drops the lines that are on no counted stack, and sorts the rest. */
static void keep_counted(struct summing *summing)
{
	struct source_lines *lines = &summing->lines;
	size_t kept = 0;

	for (size_t i = 0; i < lines->count; i++) {
		if (summing->round[i])
			lines->line[kept++] = lines->line[i];
	}
	lines->count = kept;
	if (kept)
		qsort(lines->line, kept, sizeof(*lines->line), compare_lines);
}

int source_lines_sum(const struct profile *profile, const struct functions *functions,
		     enum sample_type type, const bool *wanted, struct source_lines *out_lines)
{
	struct summing summing = {.functions = functions};
	const int err = find_lines(&summing, profile, wanted);

	for (size_t i = 0; i < profile->row_count && !err; i++) {
		const struct estimate weight = estimate_of(profile, &profile->row[i], type);
		if (weight.value != 0)
			sum_stack(&summing, &profile->stack[profile->row[i].key.stack],
				  (uint32_t)i + 1, &weight);
	}
	if (!err)
		keep_counted(&summing);
	free(summing.line_of);
	free(summing.round);
	table_close(&summing.by_place);
	if (err)
		source_lines_close(&summing.lines);
	else
		*out_lines = summing.lines;
	return err;
}

void source_lines_close(struct source_lines *lines)
{
	free(lines->line);
	*lines = (struct source_lines){0};
}
