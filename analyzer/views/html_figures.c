/* SPDX-License-Identifier: MIT */
/* html_figures.c - see html_figures.h. */
#include "html_figures.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "html_write.h"
#include "row_history.h"
#include "text_out.h"

#define THREADS_MAX 31u /* told apart; the others are one */

/* ---- figures by node and by something else --------------------------------------------------- */

/* Sums by node, in columns of four sample types each. */
struct sums {
	size_t nodes, columns;
	double (*value)[SAMPLE_TYPES_ALWAYS];
};

static int sums_open(struct sums *sums, size_t nodes, size_t columns)
{
	*sums = (struct sums){.nodes = nodes, .columns = columns};
	sums->value = calloc(nodes * columns + 1, sizeof(*sums->value));
	return sums->value ? 0 : -ENOMEM;
}

static double *sums_at(const struct sums *sums, size_t node, size_t column)
{
	return sums->value[node * sums->columns + column];
}

/* What is written of a cell: a sample type, or SAMPLE_TYPES_ALWAYS + 0 or 1 for node and column. */
enum { CELL_NODE = SAMPLE_TYPES_ALWAYS, CELL_COLUMN };

static bool has_cell(const double *value)
{
	return value[ALLOC_OBJECTS] >= 0.5 || value[ALLOC_SPACE] >= 0.5 ||
	       value[INUSE_OBJECTS] >= 0.5 || value[INUSE_SPACE] >= 0.5;
}

static void write_cells(const struct sums *sums, const char *name, int what, FILE *out)
{
	const char *before = "";

	fprintf(out, ",\"%s\":[", name);
	for (size_t node = 0; node < sums->nodes; node++) {
		for (size_t column = 0; column < sums->columns; column++) {
			const double *value = sums_at(sums, node, column);

			if (!has_cell(value))
				continue;
			fputs(before, out);
			before = ",";
			if (what == CELL_NODE)
				text_count(node, out);
			else if (what == CELL_COLUMN)
				text_count(column, out);
			else
				text_number(text_whole(value[what]), out);
		}
	}
	fputc(']', out);
}

/* ---- ages ------------------------------------------------------------------------------------ */

/* The widest slices of any row: all others are made as wide. */
static bool common_shift(const struct profile *profile, uint32_t *out_shift)
{
	struct history history;
	bool is_known = false;

	*out_shift = HISTORY_SHIFT_FIRST;
	for (size_t i = 0; i < profile->row_count; i++) {
		if (!row_history_get(profile, &profile->row[i], &history))
			continue;
		is_known = true;
		*out_shift = history.shift > *out_shift ? history.shift : *out_shift;
	}
	return is_known;
}

/* Column HISTORY_SLICES has what is of an unknown age. */
static void add_ages(const struct html_nodes *nodes, const struct profile_row *row, uint32_t shift,
		     const struct sums *sums)
{
	const double bytes = estimate_of(nodes->profile, row, INUSE_SPACE).value,
		     objects = estimate_of(nodes->profile, row, INUSE_OBJECTS).value;
	const uint32_t node = nodes->leaf[row->key.stack];
	struct history history;
	double *at;

	if (!row->inuse_count || row->key.side == PROFILE_BASE)
		return;
	if (!row_history_get(nodes->profile, row, &history)) {
		at = sums_at(sums, node, HISTORY_SLICES);
		at[INUSE_SPACE] += bytes;
		at[INUSE_OBJECTS] += objects;
		return;
	}
	history_widen(&history, shift);
	for (size_t i = 0; i < HISTORY_SLICES; i++) {
		const double share = (double)history.live[i] / (double)row->inuse_count;

		at = sums_at(sums, node, i);
		at[INUSE_SPACE] += share * bytes;
		at[INUSE_OBJECTS] += share * objects;
	}
}

int html_figures_write_ages(const struct html_nodes *nodes, FILE *out)
{
	const struct profile *profile = nodes->profile;
	struct sums sums;
	uint32_t shift;

	if (!common_shift(profile, &shift)) {
		fputs("\"ages\":null,\n", out);
		return 0;
	}
	if (sums_open(&sums, nodes->tree->count, HISTORY_SLICES + 1))
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++)
		add_ages(nodes, &profile->row[i], shift, &sums);
	fprintf(out, "\"ages\":{\"width\":%.9g,\"unknown\":%u",
		(double)(UINT64_C(1) << shift) / 1e9, HISTORY_SLICES);
	write_cells(&sums, "node", CELL_NODE, out);
	write_cells(&sums, "slice", CELL_COLUMN, out);
	write_cells(&sums, "objects", INUSE_OBJECTS, out);
	write_cells(&sums, "bytes", INUSE_SPACE, out);
	fputs("},\n", out);
	free(sums.value);
	return 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The column of each thread of the breakdown: those that hold most have one of their own. */
static int rank_threads(const struct html_nodes *nodes, uint32_t *column, uint32_t *order)
{
	const struct profile *profile = nodes->profile;
	const struct thread_breakdown *threads = &profile->breakdown;
	double *weight = calloc(threads->thread_count + 1, sizeof(*weight));
	size_t shown = 0;

	if (!weight)
		return -ENOMEM;
	for (size_t i = 0; i < threads->count; i++) {
		const struct part *part = &threads->part[i];

		weight[part->thread] += 1 + (double)part->alloc_bytes;
	}
	for (size_t i = 0; i < threads->thread_count; i++)
		column[i] = THREADS_MAX;
	for (; shown < THREADS_MAX; shown++) {
		size_t heaviest = 0;

		for (size_t i = 0; i < threads->thread_count; i++)
			heaviest = weight[i] > weight[heaviest] ? i : heaviest;
		if (weight[heaviest] <= 0)
			break;
		weight[heaviest] = 0;
		column[heaviest] = (uint32_t)shown;
		order[shown] = (uint32_t)heaviest;
	}
	free(weight);
	return (int)shown;
}

static void add_part(const struct html_nodes *nodes, const struct part *part,
		     const uint32_t *column, const struct sums *sums)
{
	const struct profile *profile = nodes->profile;
	const struct profile_row *row = &profile->row[part->row];
	double *at = sums_at(sums, nodes->leaf[row->key.stack], column[part->thread]);

	for (int type = 0; type < SAMPLE_TYPES_ALWAYS && row->key.side == PROFILE_NEW; type++)
		at[type] += estimate_part(profile, row, part, (enum sample_type)type).value;
}

static void write_thread_names(const struct thread_breakdown *threads, const uint32_t *order,
			       size_t shown, FILE *out)
{
	fputs("\"threads\":{\"names\":[", out);
	for (size_t i = 0; i <= THREADS_MAX; i++) {
		const struct part_thread *thread = i < shown ? &threads->thread[order[i]] : NULL;

		fputs(i ? ",{" : "{", out);
		html_write_printable("name", thread && thread->name ? thread->name : "", out);
		fprintf(out, "\"tid\":%" PRIu32 "}", thread ? thread->tid : 0);
	}
	fputc(']', out);
}

int html_figures_write_threads(const struct html_nodes *nodes, FILE *out)
{
	static const char *const name[SAMPLE_TYPES_ALWAYS] = {"allocObjects", "allocSpace",
							      "inuseObjects", "inuseSpace"};
	const struct thread_breakdown *threads = &nodes->profile->breakdown;
	uint32_t *column, order[THREADS_MAX];
	struct sums sums;
	int shown;

	if (!threads->count) {
		fputs("\"threads\":null,\n", out);
		return 0;
	}
	column = calloc(threads->thread_count + 1, sizeof(*column));
	if (!column || sums_open(&sums, nodes->tree->count, THREADS_MAX + 1)) {
		free(column);
		return -ENOMEM;
	}
	shown = rank_threads(nodes, column, order);
	for (size_t i = 0; i < threads->count && shown >= 0; i++)
		add_part(nodes, &threads->part[i], column, &sums);
	if (shown >= 0) {
		write_thread_names(threads, order, (size_t)shown, out);
		write_cells(&sums, "node", CELL_NODE, out);
		write_cells(&sums, "thread", CELL_COLUMN, out);
		for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++)
			write_cells(&sums, name[type], type, out);
		fputs("},\n", out);
	}
	free(sums.value);
	free(column);
	return shown < 0 ? shown : 0;
}

/* ---- what grows ------------------------------------------------------------------------------ */

void html_figures_write_growing(const struct html_nodes *nodes, const struct answer *answer,
				FILE *out)
{
	const char *before = "";

	if (!answer) {
		fputs("\"growing\":null,\n", out);
		return;
	}
	fputs("\"growing\":[", out);
	for (size_t i = 0; i < nodes->profile->stack_count; i++) {
		if (!trend_is_growth((enum trend_verdict)answer->stack_verdict[i]))
			continue;
		fprintf(out, "%s%" PRIu32, before, nodes->leaf[i]);
		before = ",";
	}
	fputs("],\n", out);
}

/* ---- other profiles -------------------------------------------------------------------------- */

/* Column 0 has the values, column 1 their variances. */
static void write_figures(const struct sums *sums, const char *name, int type, bool is_deviation,
			  FILE *out)
{
	const char *before = "";

	fprintf(out, "%s[", name);
	for (size_t node = 0; node < sums->nodes; node++) {
		const double *value = sums_at(sums, node, 0);

		if (!has_cell(value))
			continue;
		fputs(before, out);
		before = ",";
		if (type == SAMPLE_TYPES_ALWAYS)
			text_count(node, out);
		else if (is_deviation)
			fprintf(out, "%.3g", sqrt(fmax(sums_at(sums, node, 1)[type], 0)));
		else
			text_number(text_whole(value[type]), out);
	}
	fputc(']', out);
}

static void write_snapshot(const struct profile *profile, const char *file, const struct sums *sums,
			   FILE *out)
{
	const struct profile_meta *meta = &profile->meta;
	const bool is_exact = meta->interval <= 1 && !meta->change_count;

	fputc('{', out);
	html_write_printable("file", file, out);
	fprintf(out, "\"pid\":%" PRIu32 ",\"start\":%" PRIu64 ",\"duration\":%.3f", meta->pid,
		meta->start_unix_ns / 1000000000u, (double)meta->duration_ns / 1e9);
	write_figures(sums, ",\"node\":", SAMPLE_TYPES_ALWAYS, false, out);
	fputs(",\"self\":[", out);
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++)
		write_figures(sums, type ? "," : "", type, false, out);
	fputs(is_exact ? "],\"deviation\":null}" : "],\"deviation\":[", out);
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS && !is_exact; type++)
		write_figures(sums, type ? "," : "", type, true, out);
	fputs(is_exact ? "" : "]}", out);
}

/* Adds the figures of all rows at the nodes where their stacks end. */
static int add_snapshot(struct html_nodes *nodes, const struct profile *profile,
			const struct sums *sums)
{
	struct functions functions;
	uint32_t *leaf = calloc(profile->stack_count + 1, sizeof(*leaf));
	int err = leaf ? functions_open(profile, &functions) : -ENOMEM;

	if (!err) {
		err = calltree_paths_use(&nodes->paths, &functions);
		for (size_t i = 0; i < profile->stack_count && !err; i++)
			leaf[i] = calltree_paths_leaf(&nodes->paths, &profile->stack[i]);
		functions_close(&functions);
	}
	for (size_t i = 0; i < profile->row_count && !err; i++) {
		const uint32_t node = leaf[profile->row[i].key.stack];
		struct estimate estimate[SAMPLE_TYPE_COUNT];

		estimates_of(profile, &profile->row[i], estimate);
		for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++) {
			sums_at(sums, node, 0)[type] += estimate[type].value;
			sums_at(sums, node, 1)[type] += estimate[type].variance;
		}
	}
	free(leaf);
	return err;
}

int html_figures_write_snapshots(struct html_nodes *nodes, const struct profile_set *set, FILE *out)
{
	int err = 0;

	if (!set || set->count < 2) {
		fputs("\"snapshots\":null,\n", out);
		return 0;
	}
	fputs("\"snapshots\":[", out);
	for (size_t i = 0; i < set->count && !err; i++) {
		struct sums sums;

		err = sums_open(&sums, nodes->tree->count, 2);
		if (!err)
			err = add_snapshot(nodes, &set->profile[i], &sums);
		fputs(i ? ",\n" : "", out);
		if (!err)
			write_snapshot(&set->profile[i], set->file[i], &sums, out);
		free(sums.value);
	}
	fputs("],\n", out);
	return calltree_paths_use(&nodes->paths, &nodes->tree->functions) ? -ENOMEM : err;
}
