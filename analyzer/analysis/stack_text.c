/* SPDX-License-Identifier: MIT */
/* stack_text.c - see stack_text.h. */
#include "stack_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"
#include "text_out.h"

#define NAMES_SHOWN 5u /* names on one line, the outermost included */

int stack_text_open(const struct profile *profile, struct stack_text *out_text)
{
	*out_text = (struct stack_text){.profile = profile};
	if (functions_open(profile, &out_text->functions))
		return -ENOMEM;
	out_text->name_hash =
		malloc((out_text->functions.count + 1) * sizeof(*out_text->name_hash));
	if (!out_text->name_hash)
		return -ENOMEM;
	for (size_t i = 0; i < out_text->functions.count; i++)
		out_text->name_hash[i] = hash_bytes(out_text->functions.name[i],
						    strlen(out_text->functions.name[i]));
	return 0;
}

void stack_text_close(struct stack_text *text)
{
	functions_close(&text->functions);
	free(text->name_hash);
	*text = (struct stack_text){0};
}

uint64_t stack_text_hash(const struct stack_text *text, uint32_t stack)
{
	const struct profile_stack *of = &text->profile->stack[stack];
	uint64_t hash = 1;
	size_t count;
	const uint32_t *calls = functions_unfold(&text->functions, of, &count);

	for (size_t i = 0; i < count; i++) {
		const struct function_call *call = &text->functions.call[calls[i]];

		hash = hash_number(hash ^ text->name_hash[call->function]) + call->line;
	}
	/* Where the line is unknown, the address tells the calls of one function apart. */
	for (uint32_t f = 0; f < of->frame_count; f++) {
		const struct profile_frame *frame = &text->profile->frame[of->frame[f]];

		if (!frame->line_count || !frame->line[0].line)
			hash = hash_number(hash ^ frame->address);
	}
	return hash;
}

/* Functions that run before main or begin a thread say nothing about the program. */
static bool is_start(const char *name)
{
	static const char *const starts[] = {
		"_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone",
		"clone3", "__clone3"};
	const size_t length = strcspn(name, "@");

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (strlen(starts[i]) == length && strncmp(name, starts[i], length) == 0)
			return true;
	}
	return strncmp(name, "__libc_start_main", 17) == 0;
}

static const char *name_of(const struct stack_text *text, uint32_t call)
{
	return text->functions.name[text->functions.call[call].function];
}

static const uint32_t *shown_calls(const struct stack_text *text, uint32_t stack, size_t *out_count)
{
	const uint32_t *calls =
		functions_unfold(&text->functions, &text->profile->stack[stack], out_count);

	while (*out_count > 1 && is_start(name_of(text, calls[*out_count - 1])))
		--*out_count;
	return calls;
}

static void print_call(const struct stack_text *text, uint32_t call, bool has_place, FILE *out)
{
	const struct function_call *of = &text->functions.call[call];

	fputs(name_of(text, call), out);
	if (!has_place || !of->file || !of->line)
		return;
	fputc(' ', out);
	text_plain(hi_base_name(of->file), "", out);
	fprintf(out, ":%u", of->line);
}

static bool is_library(const char *name)
{
	return strncmp(name, "std::", 5) == 0 || strncmp(name, "__gnu_cxx::", 11) == 0;
}

/*
 * Internals of a container say nothing about the program. Of its functions only the one that the
 * program called is shown, with the place of that call.
 */
static size_t first_shown(const struct stack_text *text, const uint32_t *calls, size_t count)
{
	size_t first = 0;

	while (first + 1 < count && is_library(name_of(text, calls[first])) &&
	       is_library(name_of(text, calls[first + 1])))
		first++;
	return first + 1 < count ? first : 0;
}

void stack_text_print(const struct stack_text *text, uint32_t stack, FILE *out)
{
	size_t count, first;
	const uint32_t *calls = shown_calls(text, stack, &count);

	first = first_shown(text, calls, count);
	calls += first;
	count -= first;
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputs(" < ", out);
		if (count > NAMES_SHOWN && i == NAMES_SHOWN - 1) {
			fputs("... < ", out);
			i = count - 1;
		}
		print_call(text, calls[i], i == (is_library(name_of(text, calls[0])) && count > 1),
			   out);
	}
}

void stack_text_print_all(const struct stack_text *text, uint32_t stack, const char *before,
			  FILE *out)
{
	size_t count;
	const uint32_t *calls =
		functions_unfold(&text->functions, &text->profile->stack[stack], &count);

	for (size_t i = 0; i < count; i++) {
		fputs(before, out);
		print_call(text, calls[i], true, out);
		fputc('\n', out);
	}
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int find_groups(const struct stack_text *text, struct stack_groups *groups, uint64_t *hashes)
{
	struct table table = {0};
	int err = 0;

	for (uint32_t stack = 0; stack < text->profile->stack_count && !err; stack++) {
		const uint64_t hash = stack_text_hash(text, stack);
		struct table_cursor cursor = table_seek(&table, hash);
		uint32_t group;
		bool is_known = false;

		while (!is_known && table_next(&table, &cursor, &group))
			is_known = hashes[group] == hash;
		if (!is_known) {
			group = (uint32_t)groups->count++;
			groups->stack[group] = stack;
			hashes[group] = hash;
			err = table_add(&table, hash, group);
		}
		groups->group_of[stack] = group;
	}
	table_close(&table);
	return err;
}

/* Rows by group: a counting sort. */
static void sort_rows(const struct profile *profile, struct stack_groups *groups)
{
	size_t *next = groups->first_row;

	for (size_t i = 0; i < profile->row_count; i++)
		next[groups->group_of[profile->row[i].key.stack] + 2]++;
	for (size_t group = 2; group < groups->count + 2; group++)
		next[group] += next[group - 1];
	for (size_t i = 0; i < profile->row_count; i++)
		groups->row[next[groups->group_of[profile->row[i].key.stack] + 1]++] = (uint32_t)i;
}

int stack_groups_open(const struct stack_text *text, struct stack_groups *out_groups)
{
	const size_t stacks = text->profile->stack_count;
	uint64_t *hashes = malloc((stacks + 1) * sizeof(*hashes));
	int err = -ENOMEM;

	*out_groups = (struct stack_groups){
		.group_of = malloc((stacks + 1) * sizeof(uint32_t)),
		.stack = malloc((stacks + 1) * sizeof(uint32_t)),
		.row = malloc((text->profile->row_count + 1) * sizeof(uint32_t)),
	};
	if (hashes && out_groups->group_of && out_groups->stack && out_groups->row)
		err = find_groups(text, out_groups, hashes);
	if (!err) {
		out_groups->first_row =
			calloc(out_groups->count + 2, sizeof(*out_groups->first_row));
		err = out_groups->first_row ? 0 : -ENOMEM;
	}
	if (!err)
		sort_rows(text->profile, out_groups);
	free(hashes);
	return err;
}

void stack_groups_close(struct stack_groups *groups)
{
	free(groups->group_of);
	free(groups->stack);
	free(groups->row);
	free(groups->first_row);
	*groups = (struct stack_groups){0};
}
