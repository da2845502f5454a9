/* SPDX-License-Identifier: MIT */
/* census_print.c - see census_print.h. */
#include "census_print.h"

#include <inttypes.h>
#include <math.h>

#include "group_name.h"
#include "hi_units.h"
#include "plain_text.h"

/* ---- table ----------------------------------------------------------------------------------- */

static void print_bytes_rate(double bytes, int width, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX], rate[HI_UNITS_TEXT_MAX + 4] = "?";

	if (isfinite(bytes))
		snprintf(rate, sizeof(rate), "%c%s/s", bytes < 0 ? '-' : '+',
			 hi_format_bytes(fabs(bytes), text, sizeof(text)));
	fprintf(out, "%*s", width, rate);
}

static void print_blocks_rate(double blocks, int width, FILE *out)
{
	char rate[HI_UNITS_TEXT_MAX] = "?";

	if (isfinite(blocks))
		snprintf(rate, sizeof(rate), "%+.1f/s", blocks);
	fprintf(out, "%*s", width, rate);
}

typedef void print_rate(double value, int width, FILE *out);

static void print_interval(const struct census_rate *rate, print_rate *print, FILE *out)
{
	fputs("  ", out);
	print(rate->low, 11, out);
	fputs(" .. ", out);
	print(rate->high, -11, out);
}

#define GROWTH_FORMAT "  %-16s  %12s  %26s  %10s  %26s"

static void print_growth(const struct census_row *row, bool has_intervals, FILE *out)
{
	if (!row->has_changed) {
		fprintf(out, "%*s", has_intervals ? 100 : 26, "");
		return;
	}
	if (has_intervals)
		fprintf(out, "  %-16s", census_verdict_word(row->verdict));
	print_bytes_rate(row->bytes.value, 14, out);
	if (has_intervals)
		print_interval(&row->bytes, print_bytes_rate, out);
	print_blocks_rate(row->blocks.value, 12, out);
	if (has_intervals)
		print_interval(&row->blocks, print_blocks_rate, out);
}

static bool has_intervals(const struct census_growth *growth)
{
	return growth->looks >= CENSUS_LOOKS_MIN;
}

static void print_row(const struct counted *counted, const struct census_row *row, FILE *out)
{
	const struct census_group *group = row->group;
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %10s  %5.1f  %10" PRIu64,
		hi_format_bytes((double)group->bytes, text, sizeof(text)),
		100.0 * (double)group->bytes / (double)counted->now->bytes, group->count);
	if (counted->growth->looks)
		print_growth(row, has_intervals(counted->growth), out);
	fputs("  ", out);
	group_name_print(group, counted->type, counted->show_data, out);
	fputc('\n', out);
	stack_rows_print(counted->stacks, (size_t)(group - counted->now->group), out);
	referrer_rows_print(counted->referrers, (size_t)(group - counted->now->group), out);
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

static void print_head(const struct counted *counted, FILE *out)
{
	fputs("  ", out);
	print_kinds(counted, out);
	fprintf(out, "  %10s  %5s  %10s", "bytes", "%", "blocks");
	if (has_intervals(counted->growth))
		fprintf(out, GROWTH_FORMAT, "", "bytes", "95%", "blocks", "95%");
	else if (counted->growth->looks)
		fprintf(out, "%14s%12s", "growth", "blocks");
	fputs("  what\n", out);
}

static void print_looks(const struct counted *counted, FILE *out)
{
	const struct census_growth *growth = counted->growth;
	char within[HI_UNITS_TEXT_MAX], look[HI_UNITS_TEXT_MAX];

	fprintf(out, "; %u looks within %s", growth->looks,
		hi_format_ns(growth->seconds * 1e9, within, sizeof(within)));
	if (has_intervals(growth))
		fputs(", what grows comes first", out);
	else
		fprintf(out,
			".\nThese are too few to say what grows: the difference may be chance. "
			"A look takes %s, %u are\nneeded: --duration %.0fs or more",
			hi_format_ns(counted->look_seconds * 1e9, look, sizeof(look)),
			CENSUS_LOOKS_MIN, ceil(counted->look_seconds * (CENSUS_LOOKS_MIN + 1)));
}

void census_print(const struct counted *counted, FILE *out)
{
	const struct census_growth *growth = counted->growth;
	char text[HI_UNITS_TEXT_MAX];
	const size_t shown =
		counted->rows && counted->rows < growth->count ? counted->rows : growth->count;

	fprintf(out, "%d (%s): %" PRIu64 " blocks in use, %s usable", (int)counted->pid,
		counted->name, counted->now->block_count,
		hi_format_bytes((double)counted->now->bytes, text, sizeof(text)));
	if (growth->looks)
		print_looks(counted, out);
	fputc('\n', out);
	if (growth->count)
		print_head(counted, out);
	for (size_t i = 0; i < shown; i++)
		print_row(counted, &growth->row[i], out);
	if (shown < growth->count)
		fprintf(out, "  (%zu more rows: --all)\n", growth->count - shown);
	if (counted->now->is_crowded)
		fprintf(out, "more than %u kinds: sizes of the others are not told apart\n",
			CENSUS_GROUPS_MAX);
	stack_rows_note(counted->stacks, counted->now->block_count, out);
	group_notes_print(counted->blocks, out);
	referrer_rows_note(counted->referrers, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_rate_json(const char *name, const struct census_rate *rate, bool has_interval,
			    FILE *out)
{
	fprintf(out, ",\"%s_per_second\":%.3f", name, rate->value);
	if (has_interval && isfinite(rate->low) && isfinite(rate->high))
		fprintf(out, ",\"%s_per_second_low\":%.3f,\"%s_per_second_high\":%.3f", name,
			rate->low, name, rate->high);
	else
		fprintf(out, ",\"%s_per_second_low\":null,\"%s_per_second_high\":null", name, name);
}

static void print_row_json(const struct counted *counted, const struct census_row *row, FILE *out)
{
	fputc('{', out);
	group_name_print_json(row->group, counted->type, counted->show_data, out);
	fprintf(out, ",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64, row->group->count,
		row->group->bytes);
	if (counted->growth->looks) {
		const bool has_interval = has_intervals(counted->growth);

		fprintf(out, ",\"verdict\":\"%s\"", census_verdict_word(row->verdict));
		print_rate_json("blocks", &row->blocks, has_interval, out);
		print_rate_json("bytes", &row->bytes, has_interval, out);
	}
	stack_rows_print_json(counted->stacks, (size_t)(row->group - counted->now->group), out);
	referrer_rows_print_json(counted->referrers, (size_t)(row->group - counted->now->group),
				 out);
	fputc('}', out);
}

void census_print_json(const struct counted *counted, FILE *out)
{
	const struct census_growth *growth = counted->growth;

	fprintf(out, "{\"pid\":%d,\"name\":", (int)counted->pid);
	plain_text_json(out, counted->name);
	fprintf(out, ",\"seconds\":%.3f,\"looks\":%u,\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64,
		growth->seconds, growth->looks ? growth->looks : 1, counted->now->block_count,
		counted->now->bytes);
	referrer_rows_note_json(counted->referrers, out);
	group_notes_print_json(counted->blocks, out);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; i < growth->count; i++) {
		fputs(i ? "," : "", out);
		print_row_json(counted, &growth->row[i], out);
	}
	fputs("]}\n", out);
}
