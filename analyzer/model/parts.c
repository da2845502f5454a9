/* SPDX-License-Identifier: MIT */
/* parts.c - see parts.h. */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX (1u << 18) /* the injector gives out no more */

/* Numbers are dense from 1, so the array grows by one as a rule; a stream that says otherwise gets nobody for what it left out. */
static int reserve_number(struct parts *parts, uint32_t number)
{
	while (parts->number_count <= number) {
		if (array_reserve(&parts->thread_of, &parts->number_capacity, parts->number_count, sizeof(*parts->thread_of)))
			return -ENOMEM;
		parts->thread_of[parts->number_count++] = 0;
	}
	return 0;
}

static int add_thread(struct parts *parts, const struct part_thread *thread, uint32_t *out_index)
{
	if (array_reserve(&parts->thread, &parts->thread_capacity, parts->thread_count, sizeof(*parts->thread)))
		return -ENOMEM;
	*out_index = (uint32_t)parts->thread_count;
	parts->thread[parts->thread_count++] = *thread;
	return 0;
}

/* All threads of one name. Takes the name over. */
static int thread_by_name(struct parts *parts, char *name, uint32_t *out_index)
{
	const uint64_t hash = hash_bytes(name, strlen(name));
	struct table_cursor cursor = table_seek(&parts->names, hash);

	while (table_next(&parts->names, &cursor, out_index)) {
		if (strcmp(parts->thread[*out_index].name, name) == 0) {
			free(name);
			return 0;
		}
	}
	*out_index = 0;
	if (parts->name_count >= PARTS_NAMES_MAX) {
		free(name);
		return 0;
	}
	if (add_thread(parts, &(struct part_thread){.name = name}, out_index)) {
		free(name);
		return -ENOMEM;
	}
	parts->name_count++;
	return table_add(&parts->names, hash, *out_index);
}

/* One of the first threads. Takes the name over. */
static int thread_by_number(struct parts *parts, uint32_t number, const struct part_thread *thread)
{
	struct part_thread *known = &parts->thread[parts->thread_of[number]];

	if (!parts->thread_of[number])
		return add_thread(parts, thread, &parts->thread_of[number]);
	free(known->name);
	*known = *thread;
	return 0;
}

int parts_tell(struct parts *parts, const struct hi_stream_thread *record)
{
	struct part_thread thread = {.tid = record->tid};
	uint32_t nobody;
	int error;

	if (!record->thread || record->thread >= NUMBERS_MAX)
		return 0;
	if (!parts->thread_count && add_thread(parts, &(struct part_thread){0}, &nobody))
		return -ENOMEM;
	thread.name = record->name_size ? strndup((const char *)(record + 1), record->name_size) : NULL;
	if ((record->name_size && !thread.name) || reserve_number(parts, record->thread)) {
		free(thread.name);
		return -ENOMEM;
	}
	if (record->thread > PARTS_THREADS_MAX)
		return thread.name ? thread_by_name(parts, thread.name, &parts->thread_of[record->thread]) : 0;
	error = thread_by_number(parts, record->thread, &thread);
	if (error)
		free(thread.name);
	return error;
}

static bool find_part(const struct parts *parts, uint64_t key, uint32_t *out_part)
{
	struct table_cursor cursor = table_seek(&parts->index, hash_number(key));
	uint32_t index;

	while (table_next(&parts->index, &cursor, &index)) {
		if (((uint64_t)parts->part[index].row << 32 | parts->part[index].thread) == key) {
			*out_part = index;
			return true;
		}
	}
	return false;
}

static bool is_thread(const struct part_thread *thread, const char *name, uint32_t tid)
{
	if (thread->tid != tid || !thread->name != !name)
		return false;
	return !name || strcmp(thread->name, name) == 0;
}

int parts_thread(struct parts *parts, const char *name, uint32_t tid, uint32_t *out_thread)
{
	struct part_thread thread = {.tid = tid};
	uint32_t nobody;

	*out_thread = 0;
	if (!parts->thread_count && add_thread(parts, &(struct part_thread){0}, &nobody))
		return -ENOMEM;
	if (!name && !tid)
		return 0;
	for (uint32_t i = 1; i < parts->thread_count; i++) {
		if (is_thread(&parts->thread[i], name, tid)) {
			*out_thread = i;
			return 0;
		}
	}
	if (parts->thread_count > PARTS_THREADS_MAX)
		return 0;
	thread.name = name ? strdup(name) : NULL;
	if ((name && !thread.name) || add_thread(parts, &thread, out_thread)) {
		free(thread.name);
		return -ENOMEM;
	}
	return 0;
}

int parts_at(struct parts *parts, uint32_t row, uint32_t number, uint32_t *out_part)
{
	return parts_of(parts, row, number < parts->number_count ? parts->thread_of[number] : 0, out_part);
}

int parts_of(struct parts *parts, uint32_t row, uint32_t thread, uint32_t *out_part)
{
	const uint64_t of_row = (uint64_t)row << 32;

	if (find_part(parts, of_row | thread, out_part))
		return 0;
	if (parts->count >= PARTS_MAX)
		thread = 0;
	if (!thread && find_part(parts, of_row, out_part))
		return 0;
	if (array_reserve(&parts->part, &parts->capacity, parts->count, sizeof(*parts->part)) ||
	    table_add(&parts->index, hash_number(of_row | thread), (uint32_t)parts->count))
		return -ENOMEM;
	*out_part = (uint32_t)parts->count;
	parts->part[parts->count++] = (struct part){.row = row, .thread = thread};
	return 0;
}

void parts_close(struct parts *parts)
{
	for (size_t i = 0; i < parts->thread_count; i++)
		free(parts->thread[i].name);
	free(parts->part);
	free(parts->thread);
	free(parts->thread_of);
	table_close(&parts->index);
	table_close(&parts->names);
	*parts = (struct parts){0};
}
