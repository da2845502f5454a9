/* SPDX-License-Identifier: MIT */
/* leaks_print.c - see leaks_print.h. */
#include "leaks_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "group_name.h"
#include "hi_units.h"
#include "plain_text.h"

struct sums {
	uint64_t count, bytes, more_count, more_bytes;
};

static struct sums sum_up(const struct census *census)
{
	struct sums sums = {0};

	for (size_t i = 0; i < census->count; i++) {
		sums.count += census->group[i].count;
		sums.bytes += census->group[i].bytes;
		sums.more_count += census->group[i].more_count;
		sums.more_bytes += census->group[i].more_bytes;
	}
	return sums;
}

static int compare(const void *a, const void *b)
{
	const struct census_group *left = *(const struct census_group *const *)a;
	const struct census_group *right = *(const struct census_group *const *)b;
	const uint64_t left_bytes = left->bytes + left->more_bytes;
	const uint64_t right_bytes = right->bytes + right->more_bytes;

	if (left_bytes != right_bytes)
		return left_bytes > right_bytes ? -1 : 1;
	return left->sample < right->sample ? -1 : left->sample > right->sample;
}

/* Those first that hold most, with what hangs on them. To be freed; NULL: out of memory. */
static const struct census_group **sorted(const struct census *census)
{
	const struct census_group **group = calloc(census->count + 1, sizeof(*group));

	for (size_t i = 0; group && i < census->count; i++)
		group[i] = &census->group[i];
	if (group && census->count)
		qsort(group, census->count, sizeof(*group), compare);
	return group;
}

static void print_group(const struct leaks_found *found, const struct census_group *group,
			FILE *out)
{
	char bytes[HI_UNITS_TEXT_MAX], more[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %10s  %9" PRIu64,
		hi_format_bytes((double)group->bytes, bytes, sizeof(bytes)), group->count);
	if (group->more_count)
		fprintf(out, "  %10s  %9" PRIu64 "  ",
			hi_format_bytes((double)group->more_bytes, more, sizeof(more)),
			group->more_count);
	else
		fprintf(out, "  %10s  %9s  ", "", "");
	group_name_print(group, found->type, found->show_data, out);
	fputc('\n', out);
	stack_rows_print(found->stacks, (size_t)(group - found->census->group), out);
}

bool leaks_can_tell(const struct leaks_found *found)
{
	return used_blocks_are_known(found->blocks) && found->blocks->count &&
	       !found->blocks->is_partial;
}

void leaks_print(const struct leaks_found *found, FILE *out)
{
	const struct sums sums = sum_up(found->census);
	const struct census_group **group = sorted(found->census);
	const size_t count = group ? found->census->count : 0;
	const size_t shown = found->rows && found->rows < count ? found->rows : count;
	char all[HI_UNITS_TEXT_MAX], text[HI_UNITS_TEXT_MAX];

	fprintf(out, "%d (%s): %zu blocks in use were looked at, ", (int)found->pid, found->name,
		found->blocks->count);
	if (found->blocks->held_times)
		fputs("as they were at one moment\n", out);
	else
		fprintf(out, "%u times within %.1f s\n", found->looks, found->seconds);
	if (!leaks_can_tell(found))
		fprintf(out, "Leaked: cannot tell: its blocks could not %sbe looked at\n",
			found->blocks->is_partial ? "all " : "");
	else if (!sums.count)
		fputs("Leaked: nothing\n", out);
	else
		fprintf(out,
			"Leaked: %s in %" PRIu64 " blocks: %s in %" PRIu64
			" that nothing refers to, and what only these refer to\n",
			hi_format_bytes((double)(sums.bytes + sums.more_bytes), all, sizeof(all)),
			sums.count + sums.more_count,
			hi_format_bytes((double)sums.bytes, text, sizeof(text)), sums.count);
	if (shown)
		fprintf(out, "  %10s  %9s  %10s  %9s  %s\n", "bytes", "blocks", "by these",
			"blocks", "what");
	for (size_t i = 0; i < shown; i++)
		print_group(found, group[i], out);
	if (shown < count)
		fprintf(out, "  (%zu more rows: --all)\n", count - shown);
	if (sums.count)
		stack_rows_note(found->stacks, sums.count, out);
	group_notes_print(found->blocks, out);
	if (found->is_unsettled)
		fputs("The process moves pointers while it is searched: the last searches still "
		      "found "
		      "fewer blocks, and some\nof these may be in use. As they are at one moment: "
		      "--freeze 1s\n",
		      out);
	if (sums.count)
		fprintf(out,
			"What only %sthe kernel (epoll, timers) or a pointer in another form "
			"refers to\nseems leaked, too.%s\n",
			found->blocks->held_times ? "" : "a register, ",
			found->stacks->stacks
				? ""
				: " Which stacks allocate such blocks: heapinject attach PID");
	free(group);
}

void leaks_print_json(const struct leaks_found *found, FILE *out)
{
	const struct sums sums = sum_up(found->census);
	const struct census_group **group = sorted(found->census);

	fprintf(out, "{\"pid\":%d,\"name\":", (int)found->pid);
	plain_text_json(out, found->name);
	fprintf(out,
		",\"verdict\":\"%s\",\"seconds\":%.3f,\"looks\":%u,\"settled\":%s,\"blocks_in_"
		"use\":%zu,"
		"\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"more_blocks\":%" PRIu64
		",\"more_bytes\":%" PRIu64,
		!leaks_can_tell(found) ? "cannot tell"
		: sums.count           ? "leaks"
				       : "nothing",
		found->seconds, found->looks, found->is_unsettled ? "false" : "true",
		found->blocks->count, sums.count, sums.bytes, sums.more_count, sums.more_bytes);
	group_notes_print_json(found->blocks, out);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; group && i < found->census->count; i++) {
		fputs(i ? ",{" : "{", out);
		group_name_print_json(group[i], found->type, found->show_data, out);
		fprintf(out,
			",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"more_blocks\":%" PRIu64
			",\"more_bytes\":%" PRIu64,
			group[i]->count, group[i]->bytes, group[i]->more_count,
			group[i]->more_bytes);
		stack_rows_print_json(found->stacks, (size_t)(group[i] - found->census->group),
				      out);
		fputc('}', out);
	}
	fputs("]}\n", out);
	free(group);
}
