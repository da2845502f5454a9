/* SPDX-License-Identifier: MIT */
/* order.h - which rows of a look are shown, and in which order. */
#ifndef HI_TOP_ORDER_H
#define HI_TOP_ORDER_H

#include "glance.h"

enum order_key { ORDER_VERDICT, ORDER_SLOPE, ORDER_LIVE, ORDER_AGE, ORDER_NAME, ORDER_KEYS };

#define ORDER_FILTER_MAX 64

struct order {
	enum hi_row_kind kind;
	enum order_key key;
	char filter[ORDER_FILTER_MAX]; /* part of a name, a source line or a stack, in either case
					*/
};

/* "slope", "live", ... */
const char *order_key_name(enum order_key key);
/*
 * Indices into glance->row. Returns how many; at most glance->count, for which `out_index` must
 * have room.
 */
size_t order_rows(const struct glance *glance, const struct order *order, size_t *out_index);

#endif
