/* SPDX-License-Identifier: MIT */
/*
 * labels.h - the labels that samples of a pprof file have besides those with a place of their own
 * in the model (size of the blocks, thread): "request" = "/login", "alignment" = 16 bytes.
 *
 * What a sample has is a set. Sets and the texts in them are stored once, so that memory is bounded
 * by the size of the file. Texts are cut off after LABEL_TEXT_MAX - 1 bytes. Zero-initialized =
 * only the empty set, number 0.
 */
#ifndef HI_LABELS_H
#define HI_LABELS_H

#include "table.h"

#define LABELS_MAX 64u /* in one set */
#define LABEL_TEXT_MAX 512u
#define LABEL_BYTES "bytes" /* the unit of all sizes */

struct label {
	const char *key;
	const char *text; /* NULL = it is a number */
	int64_t number;
	const char *unit; /* of a number; LABEL_BYTES, or what the file says, "" = nothing */
};
struct label_set {
	const struct label *label; /* by key */
	size_t count;
};
struct label_sets {
	char **text;
	struct label_set *set; /* [0] is empty */
	size_t text_count, text_capacity, set_count, set_capacity;
	struct table texts, sets;
};

/*
 * The number of the set of these labels, at most LABELS_MAX, which are copied; sorts them. 0 or
 * -ENOMEM.
 */
int labels_add(struct label_sets *sets, struct label *label, size_t count, uint32_t *out_set);
const struct label_set *labels_get(const struct label_sets *sets, uint32_t set);
/*
 * Adds the sets of `from`. place: by number in `from`, gets the number in `into`; has room for
 * set_count + 1. Where `into` was empty, the numbers stay. 0 or -ENOMEM.
 */
int labels_merge(struct label_sets *into, const struct label_sets *from, uint32_t *place);
/* The same for equal sets of different profiles. */
uint64_t labels_hash(const struct label_set *set);
/*
 * The value as pprof writes it: "1.50kB", "20ms", "7". size: writes a size into a text of
 * HI_UNITS_TEXT_MAX bytes, and returns it. Returns text, or the label's own.
 */
const char *labels_value(const struct label *label, char *(*size)(double bytes, char *text),
			 char text[LABEL_TEXT_MAX]);
void labels_close(struct label_sets *sets);

#endif
