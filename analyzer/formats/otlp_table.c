/* SPDX-License-Identifier: MIT */
/* otlp_table.c - see otlp_table.h. */
#include "otlp_table.h"

#include <stdlib.h>
#include <string.h>

/* Indices are int32 on the wire. */
#define ENTRIES_MAX ((size_t)INT32_MAX)

void otlp_table_open(struct otlp_table *table, unsigned int field)
{
	*table = (struct otlp_table){.field = field};
	otlp_table_add(table, "", 0);
}

static bool is_entry(const struct otlp_table *table, uint32_t index, const void *bytes, size_t size)
{
	const struct otlp_entry *entry = &table->entry[index];

	return entry->size == size &&
	       (!size || !memcmp(table->fields.bytes + entry->at, bytes, size));
}

static bool append(struct otlp_table *table, const void *bytes, size_t size, uint64_t hash)
{
	if (table->count == ENTRIES_MAX ||
	    array_reserve(&table->entry, &table->capacity, table->count, sizeof(*table->entry)))
		return false;
	protobuf_bytes(&table->fields, table->field, bytes, size);
	if (table->fields.failed || table_add(&table->by_bytes, hash, (uint32_t)table->count))
		return false;
	table->entry[table->count++] =
		(struct otlp_entry){.at = table->fields.size - size, .size = size};
	return true;
}

uint64_t otlp_table_add(struct otlp_table *table, const void *bytes, size_t size)
{
	const uint64_t hash = hash_bytes(size ? bytes : "", size);
	struct table_cursor cursor = table_seek(&table->by_bytes, hash);
	uint32_t index;

	while (table_next(&table->by_bytes, &cursor, &index))
		if (is_entry(table, index, bytes, size))
			return index;
	if (!table->failed && append(table, bytes, size, hash))
		return table->count - 1;
	table->failed = true;
	return 0;
}

uint64_t otlp_table_take(struct otlp_table *table, struct protobuf *message)
{
	const uint64_t number = otlp_table_add(table, message->bytes, message->size);

	table->failed |= message->failed;
	protobuf_close(message);
	return number;
}

void otlp_table_close(struct otlp_table *table)
{
	protobuf_close(&table->fields);
	free(table->entry);
	table_close(&table->by_bytes);
	*table = (struct otlp_table){0};
}
