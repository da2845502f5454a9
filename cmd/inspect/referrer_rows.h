/* SPDX-License-Identifier: MIT */
/*
 * referrer_rows.h - below the row of a class: whose pointers lead to its blocks.
 */
#ifndef HI_REFERRER_ROWS_H
#define HI_REFERRER_ROWS_H

#include "owner_name.h"
#include "referrers.h"

/* Zero-initialized: it was not asked for, and nothing is printed. */
struct referrer_rows {
	struct owner_names names;
	const struct referrers *referrers;
};

/* Two lines for the group of the owners' census: what refers to its blocks, and what keeps them. */
void referrer_rows_print(const struct referrer_rows *rows, size_t group, FILE *out);
/* The members pointers, places and modules of a JSON object, after a comma. */
void referrer_rows_print_json(const struct referrer_rows *rows, size_t group, FILE *out);
/* What these pointers are, and what is not known of them. */
void referrer_rows_note(const struct referrer_rows *rows, FILE *out);
/* The members conservative and cut, after a comma. */
void referrer_rows_note_json(const struct referrer_rows *rows, FILE *out);

#endif
