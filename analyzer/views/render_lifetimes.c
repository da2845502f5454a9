/* SPDX-License-Identifier: MIT */
/*
 * render_lifetimes.c - three views with a line for each stack: blocks that are in use (--kept),
 * blocks that were freed soon after they were allocated (--temporary), and usable bytes beyond
 * those requested (--waste).
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "hi_units.h"
#include "render_header.h"
#include "stack_columns.h"

#define SHORT_SHARE 0.01 /* of the window: a short life lasts at most this long */

struct line {
	uint32_t stack;
	struct estimate bytes, objects;
	double value; /* the sort key */
};
/*
 * What a view does with a line. value: the sort key; a line with 0 or less is left out. print: the
 * columns. columns: their names.
 */
struct view {
	enum sample_type space, objects;
	const char *columns, *nothing;
	double (*value)(const struct line *line, double window_ns);
	void (*print)(const struct line *line, FILE *out);
};

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static size_t make_lines(const struct profile *profile, const struct stack_groups *groups,
			 const struct view *view, struct line *lines)
{
	size_t count = 0;

	for (size_t group = 0; group < groups->count; group++) {
		struct line line = {.stack = groups->stack[group]};

		for (size_t i = groups->first_row[group]; i < groups->first_row[group + 1]; i++) {
			const struct profile_row *row = &profile->row[groups->row[i]];
			const struct estimate bytes = estimate_of(profile, row, view->space),
					      objects = estimate_of(profile, row, view->objects);

			estimate_add(&line.bytes, &bytes);
			estimate_add(&line.objects, &objects);
		}
		line.value = view->value(&line, (double)profile->meta.duration_ns);
		if (line.value > 0)
			lines[count++] = line;
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

static void print_lines(const struct stack_text *text, const struct view *view,
			const struct line *lines, size_t count,
			const struct render_options *options, FILE *out)
{
	const struct estimate total = estimate_total(text->profile, view->space);
	size_t shown = options->limit ? options->limit : STACK_COLUMNS_LINES;

	shown = shown < count ? shown : count;
	render_header(text->profile, view->space, &total, out);
	fprintf(out, "%s\n", count ? view->columns : view->nothing);
	for (size_t i = 0; i < shown; i++) {
		view->print(&lines[i], out);
		stack_column_stack(text, lines[i].stack, options, out);
	}
	stack_columns_rest(count, shown, out);
}

static int render_view(const struct profile *profile, const struct view *view,
		       const struct render_options *options, FILE *out)
{
	struct stack_text text;
	struct stack_groups groups = {0};
	struct line *lines = NULL;
	int err = stack_text_open(profile, &text);

	if (!err)
		err = stack_groups_open(&text, &groups);
	if (!err) {
		lines = malloc((groups.count + 1) * sizeof(*lines));
		err = lines ? 0 : -ENOMEM;
	}
	if (!err)
		print_lines(&text, view, lines, make_lines(profile, &groups, view, lines), options,
			    out);
	free(lines);
	stack_groups_close(&groups);
	stack_text_close(&text);
	return render_result(err, out);
}

/* ---- blocks that live for a short time ------------------------------------------------------- */

static double temporary_value(const struct line *line, double window_ns)
{
	const double freed = line->objects.freed;

	return freed > 0 && line->objects.lifetime_ns / freed <= SHORT_SHARE * window_ns ? freed
											 : 0;
}

static void print_temporary(const struct line *line, FILE *out)
{
	const double freed = line->objects.freed, all = line->objects.value;
	char bytes[HI_UNITS_TEXT_MAX], lifetime[HI_UNITS_TEXT_MAX], share[HI_UNITS_TEXT_MAX];

	fprintf(out, "%12.0f %s %10s %10s %8.0f  ", freed, render_percent(freed, all, share),
		hi_format_ns(line->objects.lifetime_ns / freed, lifetime, sizeof(lifetime)),
		hi_format_bytes(line->bytes.value, bytes, sizeof(bytes)), line->objects.samples);
}

int render_temporary(const struct profile *profile, const struct render_options *options, FILE *out)
{
	static const struct view view = {
		.space = ALLOC_SPACE,
		.objects = ALLOC_OBJECTS,
		.columns = "       freed  share   lifetime  allocated  samples  stack",
		.nothing = "No stack whose blocks were freed within a hundredth of the window, in "
			   "the mean.",
		.value = temporary_value,
		.print = print_temporary,
	};

	return render_view(profile, &view, options, out);
}

/* ---- blocks in use --------------------------------------------------------------------------- */

static double kept_value(const struct line *line, double window_ns)
{
	(void)window_ns;
	return line->bytes.value;
}

static void print_kept(const struct line *line, FILE *out)
{
	char bytes[HI_UNITS_TEXT_MAX], error[HI_UNITS_TEXT_MAX];

	fprintf(out, "%10s %10s %10.0f %8.0f  ",
		hi_format_bytes(line->bytes.value, bytes, sizeof(bytes)),
		stack_column_error(&line->bytes, INUSE_SPACE, error), line->objects.value,
		line->bytes.samples);
}

int render_kept(const struct profile *profile, const struct render_options *options, FILE *out)
{
	static const struct view view = {
		.space = INUSE_SPACE,
		.objects = INUSE_OBJECTS,
		.columns = "    in use        +/-    objects  samples  stack",
		.nothing = "Nothing that was allocated in the window is in use.",
		.value = kept_value,
		.print = print_kept,
	};

	return render_view(profile, &view, options, out);
}

/* ---- usable bytes beyond those requested ----------------------------------------------------- */

static double waste_value(const struct line *line, double window_ns)
{
	(void)window_ns;
	return line->bytes.slack;
}

static void print_waste(const struct line *line, FILE *out)
{
	char waste[HI_UNITS_TEXT_MAX], bytes[HI_UNITS_TEXT_MAX], share[HI_UNITS_TEXT_MAX];

	fprintf(out, "%10s %s %10s %10.0f %8.0f  ",
		hi_format_bytes(line->bytes.slack, waste, sizeof(waste)),
		render_percent(line->bytes.slack, line->bytes.value, share),
		hi_format_bytes(line->bytes.value, bytes, sizeof(bytes)), line->objects.value,
		line->bytes.samples);
}

int render_waste(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const bool is_alloc = options->type == ALLOC_SPACE || options->type == ALLOC_OBJECTS;
	const struct view view = {
		.space = is_alloc ? ALLOC_SPACE : INUSE_SPACE,
		.objects = is_alloc ? ALLOC_OBJECTS : INUSE_OBJECTS,
		.columns = "     waste  share  requested    objects  samples  stack",
		.nothing = "No waste is known: nothing is in use, or its allocator cannot be asked "
			   "how much a block can hold.",
		.value = waste_value,
		.print = print_waste,
	};

	return render_view(profile, &view, options, out);
}
