/* SPDX-License-Identifier: MIT */
/* pins_print.c - see pins_print.h. */
#include "pins_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "group_name.h"
#include "hi_units.h"
#include "plain_text.h"

struct row {
	const struct census_group *group;
	const struct pin *pin;
};

struct size_text {
	char of[HI_UNITS_TEXT_MAX];
};

static struct size_text size_text(uint64_t bytes)
{
	struct size_text text;

	hi_format_bytes((double)bytes, text.of, sizeof(text.of));
	return text;
}

static int compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->pin->pinned != right->pin->pinned)
		return left->pin->pinned > right->pin->pinned ? -1 : 1;
	if (left->pin->goes_back != right->pin->goes_back)
		return left->pin->goes_back > right->pin->goes_back ? -1 : 1;
	return left->group->sample < right->group->sample ? -1 : 1;
}

/* Those first that pin most. To be freed; NULL: out of memory. */
static struct row *sorted(const struct counted *counted, const struct pins *pins)
{
	struct row *row = calloc(pins->count + 1, sizeof(*row));

	for (size_t i = 0; row && i < pins->count; i++)
		row[i] = (struct row){&counted->now->group[i], &pins->group[i]};
	if (row && pins->count)
		qsort(row, pins->count, sizeof(*row), compare);
	return row;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void print_row(const struct counted *counted, const struct pins *pins, const struct row *row,
		      FILE *out)
{
	fprintf(out, "  %10s  %5.1f  %10s  %10s  %10" PRIu64 "  ", size_text(row->pin->pinned).of,
		pins->pinned ? 100.0 * (double)row->pin->pinned / (double)pins->pinned : 0,
		size_text(row->pin->goes_back).of, size_text(row->group->bytes).of,
		row->group->count);
	group_name_print(row->group, counted->type, counted->show_data, out);
	fputc('\n', out);
	stack_rows_print(counted->stacks, (size_t)(row->group - counted->now->group), out);
	referrer_rows_print(counted->referrers, (size_t)(row->group - counted->now->group), out);
}

static void print_sums(const struct pins *pins, FILE *out)
{
	fprintf(out,
		"  %10s  are pinned: free, in pages and slabs that blocks in use keep from going "
		"back\n",
		size_text(pins->pinned).of);
	fprintf(out, "  %10s  a trim would give back now\n", size_text(pins->trimmable).of);
	if (pins->pinned_by_caches)
		fprintf(out, "  %10s  are kept only by freed blocks in caches\n",
			size_text(pins->pinned_by_caches).of);
	if (pins->pinned_by_others)
		fprintf(out, "  %10s  are kept only by the allocator's own data\n",
			size_text(pins->pinned_by_others).of);
}

void pins_print(const struct counted *counted, const struct pins *pins, FILE *out)
{
	struct row *row = sorted(counted, pins);
	const size_t most = counted->rows ? counted->rows : pins->count;
	size_t count = row ? pins->count : 0, shown;

	while (count && !row[count - 1].pin->pinned && !row[count - 1].pin->goes_back)
		count--;
	shown = count < most ? count : most;
	fprintf(out,
		"%d (%s): %" PRIu64
		" blocks in use, %s usable; %s of its heap are resident and free\n",
		(int)counted->pid, counted->name, counted->now->block_count,
		size_text(counted->now->bytes).of, size_text(pins->free).of);
	print_sums(pins, out);
	fprintf(out, "  %10s  %5s  %10s  %10s  %10s  %s\n", "pins", "%", "goes back", "bytes",
		"blocks", "what");
	for (size_t i = 0; i < shown; i++)
		print_row(counted, pins, &row[i], out);
	if (shown < count)
		fprintf(out, "  (%zu more rows: --all)\n", count - shown);
	fputs("goes back: by a trim (malloc_trim, a purge) if all blocks of the row were freed\n",
	      out);
	stack_rows_note(counted->stacks, counted->now->block_count, out);
	group_notes_print(counted->blocks, out);
	referrer_rows_note(counted->referrers, out);
	free(row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void pins_print_json(const struct counted *counted, const struct pins *pins, FILE *out)
{
	struct row *row = sorted(counted, pins);

	fprintf(out, "{\"pid\":%d,\"name\":", (int)counted->pid);
	plain_text_json(out, counted->name);
	fprintf(out,
		",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"free\":%" PRIu64
		",\"trimmable\":%" PRIu64 ",\"pinned\":%" PRIu64 ",\"pinned_by_caches\":%" PRIu64
		",\"pinned_by_others\":%" PRIu64,
		counted->now->block_count, counted->now->bytes, pins->free, pins->trimmable,
		pins->pinned, pins->pinned_by_caches, pins->pinned_by_others);
	referrer_rows_note_json(counted->referrers, out);
	group_notes_print_json(counted->blocks, out);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; row && i < pins->count; i++) {
		fputs(i ? ",{" : "{", out);
		group_name_print_json(row[i].group, counted->type, counted->show_data, out);
		fprintf(out,
			",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"pinned\":%" PRIu64
			",\"goes_back\":%" PRIu64,
			row[i].group->count, row[i].group->bytes, row[i].pin->pinned,
			row[i].pin->goes_back);
		stack_rows_print_json(counted->stacks, (size_t)(row[i].group - counted->now->group),
				      out);
		referrer_rows_print_json(counted->referrers,
					 (size_t)(row[i].group - counted->now->group), out);
		fputc('}', out);
	}
	fputs("]}\n", out);
	free(row);
}
