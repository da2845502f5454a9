/* SPDX-License-Identifier: MIT */
/* made_go_table.h - a handmade table of functions of Go, in both versions of its format. */
#ifndef MADE_GO_TABLE_H
#define MADE_GO_TABLE_H

#include "hi_go_table.h"
#include "unit.h"

#define MADE_TEXT 0x1000u
#define MADE_FUNCTIONS_MAX 8u

struct made_go_table {
	uint8_t bytes[1152];
	uint32_t used, count;
	uint32_t lo[MADE_FUNCTIONS_MAX + 1], known[MADE_FUNCTIONS_MAX];
	bool is_1_20;
	uint8_t unit; /* bytes of the smallest instruction; 0 = one */
};

enum { NAMES = 72, PAIRS = 336, LIST = 600, KNOWN = 700 };

static inline void put(uint8_t *at, uint64_t value, size_t size)
{
	memcpy(at, &value, size);
}

/* pairs: as in the table, ended by a zero. */
static inline void made_go_function(struct made_go_table *table, uint32_t lo, const char *name,
				    const char *pairs, uint8_t flags)
{
	const uint32_t number = table->count++, place = 32 * number;
	const size_t size = table->is_1_20 ? 44 : 40;
	uint8_t *known = table->bytes + KNOWN + 44 * (size_t)number;

	CHECK(number < MADE_FUNCTIONS_MAX && strlen(name) < 32 && strlen(pairs) < 32);
	memcpy(table->bytes + NAMES + place, name, strlen(name) + 1);
	memcpy(table->bytes + PAIRS + place, pairs, strlen(pairs) + 1);
	table->lo[number] = lo;
	put(known, lo, 4);
	put(known + 4, place, 4);
	put(known + 16, place, 4);
	known[size - 3] = flags;
}

/* Writes the rest, when all functions were added. end: where the last one ends. */
static inline void made_go_finish(struct made_go_table *table, uint32_t end)
{
	static const struct {
		unsigned at;
		uint64_t value;
	} words[] = {{2, MADE_TEXT}, {3, NAMES}, {4, NAMES}, {5, NAMES}, {6, PAIRS}, {7, LIST}};

	put(table->bytes, table->is_1_20 ? 0xfffffff1u : 0xfffffff0u, 4);
	table->bytes[6] = table->unit ? table->unit : 1;
	table->bytes[7] = 8;
	put(table->bytes + 8, table->count, 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		put(table->bytes + 8 + 8 * (size_t)words[i].at, words[i].value, 8);
	for (uint32_t i = 0; i < table->count; i++) {
		put(table->bytes + LIST + 8 * (size_t)i, table->lo[i], 4);
		put(table->bytes + LIST + 8 * (size_t)i + 4, KNOWN - LIST + 44 * i, 4);
	}
	put(table->bytes + LIST + 8 * (size_t)table->count, end, 4);
}

#endif
