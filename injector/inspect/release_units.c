/* SPDX-License-Identifier: MIT */
/* release_units.c - see release_units.h. */
#include "release_units.h"

#include <errno.h>
#include <stdlib.h>

#include "array_room.h"

/* 0, -ENOMEM, or -E2BIG: there are too many. */
static int add_run(struct release_runs *runs, const struct release_run *run)
{
	struct release_run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

	if (last && last->lo + last->bytes == run->lo && last->kind == run->kind) {
		last->bytes += run->bytes;
		return 0;
	}
	if (runs->count >= RELEASE_RUNS_MAX)
		return -E2BIG;
	const int err =
		array_make_room((void **)&runs->run, runs->count, &runs->room, sizeof(*run), 1);

	if (!err)
		runs->run[runs->count++] = *run;
	return err;
}

static int take_run(struct release_units *units, struct release_runs *runs,
		    const struct release_run *run)
{
	const int err = add_run(runs, run);

	units->is_partial |= err == -E2BIG;
	return err == -E2BIG ? 0 : err;
}

static int take_piece(void *context, const struct heap_piece *piece)
{
	struct release_units *units = context;
	const struct release_run run = {
		.lo = piece->address - piece->head_bytes,
		.bytes = piece->head_bytes + piece->bytes + piece->tail_bytes,
		.kind = piece->kind,
	};

	return piece->kind == HEAP_USED ? 0 : take_run(units, &units->unused, &run);
}

static int take_trimmable(void *context, remote_addr lo, remote_addr hi)
{
	struct release_units *units = context;
	const struct release_run run = {.lo = lo, .bytes = hi - lo, .kind = HEAP_FREE};

	return take_run(units, &units->trimmable, &run);
}

static int take_unit(void *context, const struct heap_unit *unit)
{
	struct release_units *units = context;
	const int err = array_make_room((void **)&units->unit, units->count, &units->room,
					sizeof(*unit), 1);

	if (!err)
		units->unit[units->count++] = *unit;
	return err;
}

struct heap_visitor release_units_visitor(struct release_units *units)
{
	return (struct heap_visitor){take_piece, take_trimmable, take_unit, units};
}

static int compare_units(const void *a, const void *b)
{
	const struct heap_unit *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

static int compare_runs(const void *a, const void *b)
{
	const struct release_run *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

static void sort_runs(struct release_runs *runs)
{
	bool is_sorted = true;

	for (size_t i = 1; i < runs->count && is_sorted; i++)
		is_sorted = runs->run[i - 1].lo <= runs->run[i].lo;
	if (!is_sorted)
		qsort(runs->run, runs->count, sizeof(*runs->run), compare_runs);
}

void release_units_sort(struct release_units *units)
{
	if (units->count)
		qsort(units->unit, units->count, sizeof(*units->unit), compare_units);
	sort_runs(&units->unused);
	sort_runs(&units->trimmable);
}

void release_units_close(struct release_units *units)
{
	free(units->unit);
	free(units->unused.run);
	free(units->trimmable.run);
	*units = (struct release_units){0};
}
