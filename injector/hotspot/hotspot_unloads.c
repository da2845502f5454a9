/* SPDX-License-Identifier: MIT */
/*
 * hotspot_unloads.c - see hotspot_unloads.h. PerfMemory is a head and a row of entries, each with
 * a name and a value at offsets that it says.
 */
#include "hotspot_unloads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_MAX (1u << 20) /* bytes; a JVM has 32 KiB unless it is told otherwise */
#define COUNTER "java.cls.unloadedClasses"

static const enum hotspot_field needed[] = {
	HOTSPOT_COUNTERS,       HOTSPOT_COUNTERS_USED, HOTSPOT_COUNTERS_FIRST,
	HOTSPOT_COUNTER_LENGTH, HOTSPOT_COUNTER_NAME,  HOTSPOT_COUNTER_VALUE,
};

struct counters {
	const struct hotspot_layout *layout;
	const uint8_t *bytes;
	size_t size;
};

/* A number of the structure that begins at this offset. False: it does not lie within. */
static bool number_at(const struct counters *counters, size_t at, enum hotspot_field field,
		      uint64_t *out_number)
{
	const size_t end = counters->layout->field[field].at + sizeof(uint64_t);

	if (at > counters->size || end > counters->size - at)
		return false;
	*out_number = hotspot_number(counters->layout, field, counters->bytes + at);
	return true;
}

static bool is_named(const struct counters *counters, uint64_t at)
{
	return at < counters->size && counters->size - at >= sizeof(COUNTER) &&
	       !memcmp(counters->bytes + at, COUNTER, sizeof(COUNTER));
}

/* The offset of its value. 0: it is not there. */
static uint64_t find(const struct counters *counters)
{
	uint64_t at, length, name, value;

	if (!number_at(counters, 0, HOTSPOT_COUNTERS_FIRST, &at))
		return 0;
	while (number_at(counters, at, HOTSPOT_COUNTER_LENGTH, &length) &&
	       number_at(counters, at, HOTSPOT_COUNTER_NAME, &name) &&
	       number_at(counters, at, HOTSPOT_COUNTER_VALUE, &value) && length) {
		if (is_named(counters, at + name))
			return at + value <= counters->size - sizeof(uint64_t) ? at + value : 0;
		at += length;
	}
	return 0;
}

int hotspot_unloads_find(const struct hotspot_layout *layout, const struct memory *memory,
			 remote_addr *out_counter)
{
	remote_addr start = 0;
	uint64_t used = 0, at = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!hotspot_has(layout, needed[i]))
			return -ENOENT;
	if (memory_read_u64(memory, layout->field[HOTSPOT_COUNTERS].at, &start) || !start ||
	    hotspot_read(layout, memory, start, HOTSPOT_COUNTERS_USED, &used) ||
	    used < sizeof(uint64_t) || used > COUNTERS_MAX)
		return -ENOENT;
	uint8_t *bytes = malloc(used);

	if (!bytes)
		return -ENOMEM;
	if (!memory_read_much(memory, start, bytes, used))
		at = find(&(struct counters){.layout = layout, .bytes = bytes, .size = used});
	free(bytes);
	if (!at)
		return -ENOENT;
	*out_counter = start + at;
	return 0;
}
