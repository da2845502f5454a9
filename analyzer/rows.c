/* SPDX-License-Identifier: MIT */
/*
 * rows.c - what a profile says, as rows for `heapinject top` (hi_rows.h). Start at
 * hi_analyzer_rows().
 *
 * Rows by stack are those of leaks.h. Rows by function add up the same stacks by the function that
 * a person would look at, as the answer does.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caveats.h"
#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_path.h"
#include "hi_rows.h"
#include "leaks.h"
#include "render_answer.h"

struct function_sum {
	struct row_trend sum;
	double live, objects, most; /* in use; most: bytes of the stack that holds most */
	uint32_t stack;             /* that one */
};

struct rows {
	const struct profile *profile;
	struct stack_text text;
	struct stack_groups groups;
	struct leaks leaks;
	double *live; /* by group of stacks: bytes in use */
	double *objects;
	uint32_t *sum_of; /* by function, and their number for no frames: 1 + index into sum[] */
	struct function_sum *sum;
	size_t sum_count, sum_room;
	FILE *out;
};

/* ---- one row --------------------------------------------------------------------------------- */

static const struct function_call *call_of(const struct rows *rows, uint32_t stack)
{
	const struct user_frames *frames = &rows->leaks.answer.frames;
	struct user_frame found;

	return user_frame_of(frames, stack, &found) ? &frames->functions.call[found.call] : NULL;
}

static void set_name(const struct rows *rows, uint32_t stack, struct hi_row *row)
{
	const struct function_call *call = call_of(rows, stack);

	snprintf(row->name, sizeof(row->name), "%s",
		 call ? rows->leaks.answer.frames.functions.name[call->function] : "(no stack)");
	if (call && call->file && call->line)
		snprintf(row->source, sizeof(row->source), "%s:%" PRIu32, hi_base_name(call->file),
			 call->line);
}

static void set_trend(const struct trend *trend, struct hi_row *row)
{
	row->is_growing = trend_is_growth(trend->verdict);
	row->is_unsure = trend->verdict == TREND_UNSURE;
	row->slope = trend->slope;
	row->slope_low = trend->slope_low;
	row->slope_high = trend->slope_high;
	snprintf(row->verdict, sizeof(row->verdict), "%s", trend_word(trend->verdict));
}

static void set_bars(const double bar[HI_ROWS_BARS], struct hi_row *row)
{
	for (size_t i = 0; i < HI_ROWS_BARS; i++)
		row->bar[i] = (uint8_t)fmin(HI_ROWS_BAR_MAX, ceil(HI_ROWS_BAR_MAX * bar[i]));
}

static int write_row(const struct rows *rows, uint32_t stack, struct hi_row *row)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	set_name(rows, stack, row);
	stack_text_print_all(&rows->text, stack, "", stream);
	if (fclose(stream)) {
		free(text);
		return -ENOMEM;
	}
	row->stack_size = (uint32_t)(size < HI_ROWS_STACK_MAX ? size : HI_ROWS_STACK_MAX);
	fwrite(row, sizeof(*row), 1, rows->out);
	fwrite(text, 1, row->stack_size, rows->out);
	free(text);
	return 0;
}

static int write_stack(const struct rows *rows, const struct leak *leak)
{
	const uint32_t group = rows->groups.group_of[leak->stack];
	struct hi_row row = {.kind = HI_ROW_STACK,
			     .live = rows->live[group],
			     .objects = rows->objects[group],
			     .age_ns = leak->age_ns,
			     .samples = leak->bytes.samples};

	set_trend(&leak->trend, &row);
	set_bars(leak->bar, &row);
	return write_row(rows, leak->stack, &row);
}

/* ---- by function ----------------------------------------------------------------------------- */

static uint32_t function_of(const struct rows *rows, uint32_t stack)
{
	const struct function_call *call = call_of(rows, stack);

	return call ? call->function : (uint32_t)rows->leaks.answer.frames.functions.count;
}

/* NULL = out of memory. Valid until the next call. */
static struct function_sum *sum_for(struct rows *rows, uint32_t function)
{
	if (rows->sum_of[function])
		return &rows->sum[rows->sum_of[function] - 1];
	if (rows->sum_count == rows->sum_room) {
		const size_t room = 2 * rows->sum_room + 16;
		struct function_sum *grown = realloc(rows->sum, room * sizeof(*grown));

		if (!grown)
			return NULL;
		rows->sum = grown;
		rows->sum_room = room;
	}
	struct function_sum *sum = &rows->sum[rows->sum_count++];
	*sum = (struct function_sum){.sum = rows->leaks.begin};
	rows->sum_of[function] = (uint32_t)rows->sum_count;
	return sum;
}

static int add_group(struct rows *rows, size_t group)
{
	const struct stack_groups *groups = &rows->groups;
	const uint32_t stack = groups->stack[group];
	struct function_sum *sum = sum_for(rows, function_of(rows, stack));

	if (!sum)
		return -ENOMEM;
	for (size_t i = groups->first_row[group]; i < groups->first_row[group + 1]; i++) {
		const struct profile_row *row = &rows->profile->row[groups->row[i]];

		row_trend_add(rows->profile, row, &sum->sum);
		rows->live[group] += estimate_of(rows->profile, row, INUSE_SPACE).value;
		rows->objects[group] += estimate_of(rows->profile, row, INUSE_OBJECTS).value;
	}
	sum->live += rows->live[group];
	sum->objects += rows->objects[group];
	if (rows->live[group] >= sum->most) {
		sum->most = rows->live[group];
		sum->stack = stack;
	}
	return 0;
}

/* As leaks.c judges a stack: the answer knows what replaces older blocks. */
static struct trend trend_of_function(const struct rows *rows, const struct function_sum *sum)
{
	if (rows->leaks.is_unsure)
		return (struct trend){.verdict = TREND_UNSURE};
	struct trend trend = trend_of(&sum->sum.slices, TREND_LEVEL / (double)rows->sum_count);
	const enum trend_verdict known =
		(enum trend_verdict)rows->leaks.answer.stack_verdict[sum->stack];

	if (trend_is_growth(trend.verdict) && (known == TREND_REPLACES || known == TREND_TOO_FEW))
		trend.verdict = known;
	return trend;
}

static int write_function(const struct rows *rows, const struct function_sum *sum)
{
	const struct trend trend = trend_of_function(rows, sum);
	const struct estimate *bytes = &sum->sum.bytes;
	struct hi_row row = {.kind = HI_ROW_FUNCTION,
			     .live = sum->live,
			     .objects = sum->objects,
			     .age_ns = bytes->live > 0 ? bytes->age_ns / bytes->live : 0,
			     .samples = bytes->samples};
	double bar[HI_ROWS_BARS];

	set_trend(&trend, &row);
	row_trend_bars(&sum->sum.slices, HI_ROWS_BARS, bar);
	set_bars(bar, &row);
	return write_row(rows, sum->stack, &row);
}

static int compare_sums(const void *left, const void *right)
{
	const struct function_sum *a = left, *b = right;

	return a->live != b->live ? (a->live > b->live ? -1 : 1) : 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void copy_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static int set_answer(const struct rows *rows, struct hi_rows_head *head)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	render_answer_sentences(&rows->leaks.answer, out);
	const int failed = fclose(out);
	copy_text(head->answer, sizeof(head->answer), text);
	free(text);
	return failed ? -ENOMEM : 0;
}

static void set_notes(const struct profile_meta *meta, struct hi_rows_head *head)
{
	size_t length = 0;

	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if (meta->caveat[kind] && length < sizeof(head->notes))
			length +=
				(size_t)snprintf(head->notes + length, sizeof(head->notes) - length,
						 "%s\n", meta->caveat[kind]);
}

static int write_rows(struct rows *rows)
{
	const size_t most = HI_ROWS_MAX / HI_ROW_KINDS;
	const size_t stacks = rows->leaks.count < most ? rows->leaks.count : most;
	size_t functions = 0;
	const struct estimate live = estimate_total(rows->profile, INUSE_SPACE);
	struct hi_rows_head head = {.magic = HI_ROWS_MAGIC,
				    .window_ns = rows->leaks.window_ns,
				    .tail_ns = rows->leaks.tail_ns,
				    .live = live.value};

	qsort(rows->sum, rows->sum_count, sizeof(*rows->sum), compare_sums);
	while (functions < rows->sum_count && functions < most && rows->sum[functions].live > 0)
		functions++;
	head.count = (uint32_t)(stacks + functions);
	head.left_out = (uint32_t)(rows->leaks.count - stacks);
	estimate_interval(&live, &head.live_low, &head.live_high);
	set_notes(&rows->profile->meta, &head);
	int err = set_answer(rows, &head);
	if (!err)
		fwrite(&head, sizeof(head), 1, rows->out);
	for (size_t i = 0; i < functions && !err; i++)
		err = write_function(rows, &rows->sum[i]);
	for (size_t i = 0; i < stacks && !err; i++)
		err = write_stack(rows, &rows->leaks.leak[i]);
	return err;
}

static int find_rows(struct rows *rows)
{
	const struct leaks_tail tail = {.share = LEAKS_TAIL_SHARE};
	int err = stack_text_open(rows->profile, &rows->text);

	if (!err)
		err = leaks_open(&rows->text, &tail, &rows->leaks);
	if (!err)
		err = stack_groups_open(&rows->text, &rows->groups);
	if (err)
		return err;
	rows->live = calloc(rows->groups.count + 1, sizeof(*rows->live));
	rows->objects = calloc(rows->groups.count + 1, sizeof(*rows->objects));
	rows->sum_of = calloc(rows->leaks.answer.frames.functions.count + 1, sizeof(*rows->sum_of));
	if (!rows->live || !rows->objects || !rows->sum_of)
		return -ENOMEM;
	for (size_t group = 0; group < rows->groups.count && !err; group++)
		err = add_group(rows, group);
	return err;
}

static void close_rows(struct rows *rows)
{
	free(rows->live);
	free(rows->objects);
	free(rows->sum_of);
	free(rows->sum);
	stack_groups_close(&rows->groups);
	leaks_close(&rows->leaks);
	stack_text_close(&rows->text);
}

static int show(const struct profile *profile, int out_fd)
{
	const int copy = fcntl(out_fd, F_DUPFD_CLOEXEC, 0);
	struct rows rows = {.profile = profile, .out = copy < 0 ? NULL : fdopen(copy, "w")};
	int err;

	if (!rows.out) {
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	err = find_rows(&rows);
	if (!err)
		err = write_rows(&rows);
	close_rows(&rows);
	return fclose(rows.out) && !err ? -EIO : err;
}

int hi_analyzer_rows(int profile_fd, int out_fd)
{
	struct profile profile;
	struct input input;
	int err = profile_open(&profile);

	if (!err)
		err = input_open(&input, profile_fd);
	if (!err) {
		err = heapfile_read(&input, &profile);
		input_close(&input);
	}
	if (!err)
		err = show(&profile, out_fd);
	profile_close(&profile);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
