/* SPDX-License-Identifier: MIT */
/* census_print.c - see census_print.h. */
#include "census_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "group_name.h"
#include "hi_units.h"
#include "plain_text.h"

/* A group, with what it was before. */
struct row {
	const struct census_group *group;
	int64_t blocks, bytes; /* more than before */
};

struct rows {
	struct row *row;
	size_t count;
	double seconds; /* 0: there is no before */
};

static int compare_bytes(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->group->bytes != right->group->bytes)
		return left->group->bytes > right->group->bytes ? -1 : 1;
	return left->group->sample < right->group->sample ? -1 : 1;
}

static int compare_growth(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return compare_bytes(a, b);
}

/* The rows, largest first, or those first that grew most. */
static struct rows sorted(const struct counted *counted)
{
	const struct census *now = counted->now, *before = counted->before;
	struct rows rows = {.row = calloc(now->count + 1, sizeof(*rows.row))};

	for (size_t i = 0; rows.row && i < now->count; i++) {
		const struct census_group *old =
			before ? census_find(before, &now->group[i]) : NULL;
		struct row *row = &rows.row[rows.count++];

		row->group = &now->group[i];
		row->blocks = (int64_t)now->group[i].count - (old ? (int64_t)old->count : 0);
		row->bytes = (int64_t)now->group[i].bytes - (old ? (int64_t)old->bytes : 0);
	}
	rows.seconds = before ? (double)(now->at_ns - before->at_ns) / 1e9 : 0;
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row),
		      before ? compare_growth : compare_bytes);
	return rows;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void print_growth(const struct row *row, double seconds, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX], number[HI_UNITS_TEXT_MAX + 4] = "";
	const double bytes = (double)row->bytes / seconds;

	if (row->bytes)
		snprintf(number, sizeof(number), "%c%s/s", bytes < 0 ? '-' : '+',
			 hi_format_bytes(bytes < 0 ? -bytes : bytes, text, sizeof(text)));
	fprintf(out, "  %12s  ", number);
	if (row->blocks)
		snprintf(number, sizeof(number), "%+.1f/s", (double)row->blocks / seconds);
	else
		number[0] = 0;
	fprintf(out, "%11s", number);
}

static void print_row(const struct counted *counted, const struct row *row, double seconds,
		      FILE *out)
{
	const struct census_group *group = row->group;
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %10s  %5.1f  %10" PRIu64,
		hi_format_bytes((double)group->bytes, text, sizeof(text)),
		100.0 * (double)group->bytes / (double)counted->now->bytes, group->count);
	if (seconds > 0)
		print_growth(row, seconds, out);
	fputs("  ", out);
	group_name_print(group, counted->type, counted->show_data, out);
	fputc('\n', out);
	stack_rows_print(counted->stacks, (size_t)(group - counted->now->group), out);
}

static void print_kinds(const struct counted *counted, FILE *out)
{
	uint64_t bytes[CONTENT_KINDS] = {0};
	char text[HI_UNITS_TEXT_MAX];
	const char *before = "";

	for (size_t i = 0; i < counted->now->count; i++)
		bytes[counted->now->group[i].kind] += counted->now->group[i].bytes;
	for (unsigned i = 0; i < CONTENT_KINDS; i++) {
		if (!bytes[i])
			continue;
		fprintf(out, "%s%s %s", before, content_name((enum content_kind)i),
			hi_format_bytes((double)bytes[i], text, sizeof(text)));
		before = ", ";
	}
	fputc('\n', out);
}

static void print_head(const struct counted *counted, bool has_growth, FILE *out)
{
	fputs("  ", out);
	print_kinds(counted, out);
	fprintf(out, "  %10s  %5s  %10s%s  %s\n", "bytes", "%", "blocks",
		has_growth ? "        growth       blocks" : "", "what");
}

void census_print(const struct counted *counted, FILE *out)
{
	struct rows rows = sorted(counted);
	char text[HI_UNITS_TEXT_MAX];
	const size_t shown =
		counted->rows && counted->rows < rows.count ? counted->rows : rows.count;

	fprintf(out, "%d (%s): %" PRIu64 " blocks in use, %s usable", (int)counted->pid,
		counted->name, counted->now->block_count,
		hi_format_bytes((double)counted->now->bytes, text, sizeof(text)));
	if (rows.seconds > 0)
		fprintf(out, "; what grew within %.1f s comes first", rows.seconds);
	fputc('\n', out);
	if (rows.count)
		print_head(counted, rows.seconds > 0, out);
	for (size_t i = 0; i < shown; i++)
		print_row(counted, &rows.row[i], rows.seconds, out);
	if (shown < rows.count)
		fprintf(out, "  (%zu more rows: --all)\n", rows.count - shown);
	if (counted->now->is_crowded)
		fprintf(out, "more than %u kinds: sizes of the others are not told apart\n",
			CENSUS_GROUPS_MAX);
	stack_rows_note(counted->stacks, counted->now->block_count, out);
	group_notes_print(counted->blocks, out);
	free(rows.row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_row_json(const struct counted *counted, const struct row *row, double seconds,
			   FILE *out)
{
	fputc('{', out);
	group_name_print_json(row->group, counted->type, counted->show_data, out);
	fprintf(out, ",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64, row->group->count,
		row->group->bytes);
	if (seconds > 0)
		fprintf(out, ",\"blocks_per_second\":%.3f,\"bytes_per_second\":%.1f",
			(double)row->blocks / seconds, (double)row->bytes / seconds);
	stack_rows_print_json(counted->stacks, (size_t)(row->group - counted->now->group), out);
	fputc('}', out);
}

void census_print_json(const struct counted *counted, FILE *out)
{
	struct rows rows = sorted(counted);

	fprintf(out, "{\"pid\":%d,\"name\":", (int)counted->pid);
	plain_text_json(out, counted->name);
	fprintf(out, ",\"seconds\":%.3f,\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64, rows.seconds,
		counted->now->block_count, counted->now->bytes);
	group_notes_print_json(counted->blocks, out);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; i < rows.count; i++) {
		fputs(i ? "," : "", out);
		print_row_json(counted, &rows.row[i], rows.seconds, out);
	}
	fputs("]}\n", out);
	free(rows.row);
}
