/* SPDX-License-Identifier: MIT */
/*
 * render_groups.c - the profile divided by something else than functions: by thread, by size of
 * block, by module.
 *
 * Threads and sizes divide it without overlap: their table has one column of shares, and objects
 * and bytes side by side. A module has, like a function, flat and cumulative weight: its table is
 * that of functions, with modules in place of functions.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hi_units.h"
#include "printable.h"
#include "render_header.h"
#include "style.h"

/*
 * one group per power of two: group n has the sizes from 2^(n - 1) + 1 to 2^n bytes, group 0 those
 * of 0 and 1 byte
 */
#define SIZES 65u
#define BAR_WIDTH 40

struct group {
	struct estimate value; /* of the requested type */
	double objects, bytes;
	bool is_there;
};
struct groups {
	struct group *group;
	size_t count;
	double whole;
	bool is_comparison;
	const struct render_options *options;
};

static int groups_open(struct groups *groups, const struct profile *profile,
		       const struct render_options *options, size_t count)
{
	*groups = (struct groups){.count = count,
				  .options = options,
				  .whole = profile->meta.percent_base[options->type],
				  .is_comparison = profile_is_comparison(profile)};
	if (groups->whole == 0)
		groups->whole = estimate_total(profile, options->type).value;
	groups->group = calloc(count + 1, sizeof(*groups->group));
	return groups->group ? 0 : -ENOMEM;
}

/* Adds a row, or a thread's part of it, to a group. */
static void group_add(struct groups *groups, size_t index, const struct profile *profile,
		      const struct profile_row *row, const struct part *part)
{
	const enum sample_type type = groups->options->type;
	const bool is_inuse = sample_type_is_inuse(type);
	struct group *group = &groups->group[index];
	const struct estimate value = estimate_part(profile, row, part, type);

	estimate_add(&group->value, &value);
	group->objects +=
		estimate_part(profile, row, part, is_inuse ? INUSE_OBJECTS : ALLOC_OBJECTS).value;
	group->bytes +=
		estimate_part(profile, row, part, is_inuse ? INUSE_SPACE : ALLOC_SPACE).value;
	group->is_there = true;
}

static bool is_worth_a_line(const struct group *group)
{
	return group->is_there && (llround(group->objects) != 0 || llround(group->bytes) != 0);
}

static void print_heading(const struct groups *groups, const char *what, FILE *out)
{
	style_print(STYLE_HEADING, out, "%10s %10s %5s%%%s  %s", "objects", "bytes", "",
		    groups->options->intervals ? "            95%          " : "", what);
	fputc('\n', out);
}

static void print_group(const struct groups *groups, const struct group *group, FILE *out)
{
	const enum sample_type type = groups->options->type;
	char objects[HI_UNITS_TEXT_MAX], bytes[HI_UNITS_TEXT_MAX], percent[HI_UNITS_TEXT_MAX],
		low_text[HI_UNITS_TEXT_MAX], high_text[HI_UNITS_TEXT_MAX];

	style_print(style_of_change(group->objects, groups->is_comparison), out, "%10s",
		    render_value(group->objects, INUSE_OBJECTS, objects));
	style_print(style_of_change(group->bytes, groups->is_comparison), out, " %10s",
		    render_value(group->bytes, INUSE_SPACE, bytes));
	fprintf(out, " %s", render_percent(group->value.value, groups->whole, percent));
	if (groups->options->intervals) {
		double low, high;

		estimate_interval(&group->value, &low, &high);
		fprintf(out, " %10s .. %-10s", render_value(low, type, low_text),
			render_value(high, type, high_text));
	}
	fputs("  ", out);
}

/* ---- threads --------------------------------------------------------------------------------- */

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct groups *groups = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const double a_value = fabs(groups->group[a].value.value),
		     b_value = fabs(groups->group[b].value.value);

	if (a_value != b_value)
		return a_value > b_value ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void print_thread(const struct part_thread *thread, FILE *out)
{
	char *name = thread->name ? strdup(thread->name) : NULL;

	if (name)
		printable(name);
	fputs(name ? name : thread->tid ? "?" : "<unknown>", out);
	if (thread->tid)
		fprintf(out, " (%" PRIu32 ")", thread->tid);
	fputc('\n', out);
	free(name);
}

static int print_threads(const struct profile *profile, struct groups *groups, FILE *out)
{
	uint32_t *order = malloc((groups->count + 1) * sizeof(*order));
	const size_t limit = groups->options->limit ? groups->options->limit : groups->count;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < groups->count; i++)
		order[i] = i;
	qsort_r(order, groups->count, sizeof(*order), compare_groups, groups);
	print_heading(groups, "thread", out);
	for (size_t i = 0, shown = 0; i < groups->count && shown < limit; i++) {
		if (!is_worth_a_line(&groups->group[order[i]]))
			continue;
		print_group(groups, &groups->group[order[i]], out);
		print_thread(&profile->breakdown.thread[order[i]], out);
		shown++;
	}
	free(order);
	return 0;
}

int render_threads(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct thread_breakdown *breakdown = &profile->breakdown;
	const struct estimate total = estimate_total(profile, options->type);
	struct groups groups;
	int err;

	if (!breakdown->count && profile->row_count)
		return render_fail(-ENODATA, "this file does not say which thread allocated what; "
					     "record streams and .pb.gz do");
	err = groups_open(&groups, profile, options, breakdown->thread_count);
	for (size_t i = 0; i < breakdown->count && !err; i++)
		group_add(&groups, breakdown->part[i].thread, profile,
			  &profile->row[breakdown->part[i].row], &breakdown->part[i]);
	if (!err) {
		render_header(profile, options->type, &total, out);
		err = print_threads(profile, &groups, out);
	}
	free(groups.group);
	return render_result(err, out);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static size_t size_group(const struct profile_row *row)
{
	const bool has_alloc = row->alloc_count && row->alloc_bytes;
	const uint64_t count = has_alloc ? row->alloc_count : row->inuse_count,
		       bytes = has_alloc ? row->alloc_bytes : row->inuse_bytes;
	const uint64_t size = count ? bytes / count : 0;

	return size <= 1 ? 0 : 64u - (size_t)__builtin_clzll(size - 1);
}

static void print_bar(double share, FILE *out)
{
	const int width = (int)lround(fmin(fabs(share), 1) * BAR_WIDTH);

	for (int i = 0; i < width; i++)
		fputc(share < 0 ? '-' : '#', out);
	fputc('\n', out);
}

static void print_size(size_t index, FILE *out)
{
	char low[HI_UNITS_TEXT_MAX] = "0", high[HI_UNITS_TEXT_MAX];

	if (index)
		hi_format_bytes(ldexp(1, (int)index - 1), low, sizeof(low));
	fprintf(out, "%7s .. %-7s  ", low,
		hi_format_bytes(ldexp(1, (int)index), high, sizeof(high)));
}

static void print_sizes(const struct groups *groups, FILE *out)
{
	size_t first = 0, end = groups->count;
	double largest = 0;

	while (first < end && !is_worth_a_line(&groups->group[first]))
		first++;
	while (end > first && !is_worth_a_line(&groups->group[end - 1]))
		end--;
	for (size_t i = first; i < end; i++)
		largest = fmax(largest, fabs(groups->group[i].value.value));
	print_heading(groups, "  above .. to", out);
	for (size_t i = first; i < end; i++) {
		print_group(groups, &groups->group[i], out);
		print_size(i, out);
		print_bar(largest > 0 ? groups->group[i].value.value / largest : 0, out);
	}
}

int render_sizes(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const struct estimate total = estimate_total(profile, options->type);
	struct groups groups;
	const int err = groups_open(&groups, profile, options, SIZES);

	for (size_t i = 0; i < profile->row_count && !err; i++)
		group_add(&groups, size_group(&profile->row[i]), profile, &profile->row[i], NULL);
	if (!err) {
		render_header(profile, options->type, &total, out);
		print_sizes(&groups, out);
	}
	free(groups.group);
	return render_result(err, out);
}

/* ---- modules --------------------------------------------------------------------------------- */

int render_modules(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct profile by_module = *profile; /* a shallow copy: it owns nothing */

	by_module.meta.granularity = PROFILE_MODULES;
	return render_text(&by_module, options, out);
}
