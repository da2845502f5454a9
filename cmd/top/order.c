/* SPDX-License-Identifier: MIT */
/* order.c - see order.h. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

const char *order_key_name(enum order_key key)
{
	static const char *const names[ORDER_KEYS] = {"verdict", "slope", "live", "age", "name"};

	return names[key];
}

static bool matches(const struct glance_row *row, const char *filter)
{
	return !*filter || strcasestr(row->row.name, filter) ||
	       strcasestr(row->row.source, filter) || strcasestr(row->stack, filter);
}

static int compare_figures(double a, double b)
{
	return a > b ? -1 : a < b;
}

struct sorting {
	const struct glance *glance;
	enum order_key key;
};

static int compare(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const size_t at = *(const size_t *)left, other = *(const size_t *)right;
	const struct hi_row *a = &sorting->glance->row[at].row,
			    *b = &sorting->glance->row[other].row;
	int result = 0;

	if (sorting->key == ORDER_VERDICT)
		result = !!b->is_growing - !!a->is_growing;
	else if (sorting->key == ORDER_LIVE)
		result = compare_figures(a->live, b->live);
	else if (sorting->key == ORDER_AGE)
		result = compare_figures(a->age_ns, b->age_ns);
	else if (sorting->key == ORDER_NAME)
		result = strcmp(a->name, b->name);
	if (!result)
		result = compare_figures(a->slope, b->slope);
	if (!result)
		result = compare_figures(a->live, b->live);
	return result ? result : at < other ? -1 : at > other;
}

size_t order_rows(const struct glance *glance, const struct order *order, size_t *out_index)
{
	struct sorting sorting = {.glance = glance, .key = order->key};
	size_t count = 0;

	for (size_t i = 0; i < glance->count; i++)
		if (glance->row[i].row.kind == order->kind &&
		    matches(&glance->row[i], order->filter))
			out_index[count++] = i;
	qsort_r(out_index, count, sizeof(*out_index), compare, &sorting);
	return count;
}
