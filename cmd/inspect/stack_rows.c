/* SPDX-License-Identifier: MIT */
/* stack_rows.c - see stack_rows.h. */
#include "stack_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "plain_text.h"

#define SHOWN 3u

static int compare_keys(const void *a, const void *b)
{
	const struct stack_row *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static int compare(const void *a, const void *b)
{
	const struct stack_row *left = a, *right = b;

	if (left->group == right->group && left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return compare_keys(a, b);
}

/* A row for each block that was sampled. */
static void take(struct stack_rows *rows, const struct mark_block *block, size_t count,
		 const uint32_t *group)
{
	const struct known_stacks *stacks = rows->stacks;
	size_t at = 0;

	for (size_t i = 0; i < count && at < stacks->count; i++) {
		while (at < stacks->count && stacks->block[at].address < block[i].address)
			at++;
		if (at < stacks->count && stacks->block[at].address == block[i].address)
			rows->row[rows->count++] =
				(struct stack_row){group[i], stacks->block[at].stack, 1};
	}
}

static void join(struct stack_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (kept && !compare_keys(&rows->row[kept - 1], &rows->row[i]))
			rows->row[kept - 1].count++;
		else
			rows->row[kept++] = rows->row[i];
	rows->count = kept;
}

int stack_rows_find(const struct known_stacks *stacks, const struct mark_block *block, size_t count,
		    const uint32_t *group, struct stack_rows *out_rows)
{
	*out_rows = (struct stack_rows){.stacks = stacks};
	const size_t most = stacks->count < count ? stacks->count : count;

	out_rows->row = calloc(most + 1, sizeof(*out_rows->row));
	if (!out_rows->row)
		return -ENOMEM;
	take(out_rows, block, count, group);
	out_rows->sampled = out_rows->count;
	if (!out_rows->count)
		return 0;
	qsort(out_rows->row, out_rows->count, sizeof(*out_rows->row), compare_keys);
	join(out_rows);
	qsort(out_rows->row, out_rows->count, sizeof(*out_rows->row), compare);
	return 0;
}

void stack_rows_close(struct stack_rows *rows)
{
	free(rows->row);
	*rows = (struct stack_rows){0};
}

/* The rows of the group: where they begin, and their blocks. Returns how many. */
static size_t rows_of(const struct stack_rows *rows, size_t group, const struct stack_row **out_row,
		      uint64_t *out_blocks)
{
	size_t low = 0, high = rows->count, count = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (rows->row[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	*out_row = rows->row + low;
	*out_blocks = 0;
	for (; low + count < rows->count && rows->row[low + count].group == group; count++)
		*out_blocks += rows->row[low + count].count;
	return count;
}

void stack_rows_print(const struct stack_rows *rows, size_t group, FILE *out)
{
	const struct stack_row *row;
	uint64_t blocks;
	const size_t count = rows_of(rows, group, &row, &blocks);

	for (size_t i = 0; i < count && i < SHOWN; i++)
		fprintf(out, "      %5.1f%% of %" PRIu64 " sampled: %s\n",
			100.0 * (double)row[i].count / (double)blocks, blocks,
			rows->stacks->text[row[i].stack]);
	if (count > SHOWN)
		fprintf(out, "      (%zu more stacks)\n", count - SHOWN);
}

void stack_rows_print_json(const struct stack_rows *rows, size_t group, FILE *out)
{
	const struct stack_row *row;
	uint64_t blocks;

	if (!rows->stacks)
		return;
	const size_t count = rows_of(rows, group, &row, &blocks);

	fprintf(out, ",\"sampled\":%" PRIu64 ",\"stacks\":[", blocks);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s{\"sampled\":%" PRIu64 ",\"stack\":", i ? "," : "", row[i].count);
		plain_text_json(out, rows->stacks->text[row[i].stack]);
		fputc('}', out);
	}
	fputc(']', out);
}

void stack_rows_note(const struct stack_rows *rows, uint64_t blocks, FILE *out)
{
	if (rows->stacks)
		fprintf(out,
			"Stacks: of %" PRIu64 " of these %" PRIu64
			" blocks, which the session that is attached has sampled\n",
			rows->sampled, blocks);
}
