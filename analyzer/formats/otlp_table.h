/* SPDX-License-Identifier: MIT */
/*
 * otlp_table.h - a table of the dictionary that all Profiles of a request share: each entry once,
 * in the order in which they are first used. Entry 0 is the zero value, by which an index of 0
 * means that there is none.
 *
 * Entries are compared as they are encoded. A string is its bytes.
 */
#ifndef HI_OTLP_TABLE_H
#define HI_OTLP_TABLE_H

#include "protobuf.h"
#include "table.h"

struct otlp_entry {
	size_t at, size; /* in `fields` */
};
struct otlp_table {
	unsigned int field;     /* of ProfilesDictionary */
	struct protobuf fields; /* all entries, as fields of the dictionary */
	struct otlp_entry *entry;
	size_t count, capacity;
	struct table by_bytes;
	bool failed; /* out of memory, or too many entries */
};

/* Begins with the zero value. table: anything; it is to be closed. */
void otlp_table_open(struct otlp_table *table, unsigned int field);
/* The number of the entry with these bytes. After a failure 0. */
uint64_t otlp_table_add(struct otlp_table *table, const void *bytes, size_t size);
/* The same for a message, which is emptied. */
uint64_t otlp_table_take(struct otlp_table *table, struct protobuf *message);
void otlp_table_close(struct otlp_table *table);

#endif
