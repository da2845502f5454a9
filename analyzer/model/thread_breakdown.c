/* SPDX-License-Identifier: MIT */
/* thread_breakdown.c - see thread_breakdown.h. */
#include "thread_breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text_equal.h"

#define NUMBERS_MAX (1u << 18) /* the injector gives out no higher numbers */

/*
 * Makes room for a thread number. Numbers are dense from 1, so the array usually grows by one. A
 * number that the stream left out belongs to nobody (thread 0).
 */
static int reserve_number(struct thread_breakdown *breakdown, uint32_t number)
{
	while (breakdown->number_count <= number) {
		if (array_reserve(&breakdown->thread_of, &breakdown->number_capacity,
				  breakdown->number_count, sizeof(*breakdown->thread_of)))
			return -ENOMEM;
		breakdown->thread_of[breakdown->number_count++] = 0;
	}
	return 0;
}

static int add_thread(struct thread_breakdown *breakdown, const struct part_thread *thread,
		      uint32_t *out_index)
{
	if (array_reserve(&breakdown->thread, &breakdown->thread_capacity, breakdown->thread_count,
			  sizeof(*breakdown->thread)))
		return -ENOMEM;
	*out_index = (uint32_t)breakdown->thread_count;
	breakdown->thread[breakdown->thread_count++] = *thread;
	return 0;
}

/* The entry of all threads of one name. Takes ownership of the name. */
static int thread_by_name(struct thread_breakdown *breakdown, char *name, uint32_t *out_index)
{
	const uint64_t hash = hash_bytes(name, strlen(name));
	struct table_cursor cursor = table_seek(&breakdown->names, hash);

	while (table_next(&breakdown->names, &cursor, out_index)) {
		if (strcmp(breakdown->thread[*out_index].name, name) == 0) {
			free(name);
			return 0;
		}
	}
	*out_index = 0;
	if (breakdown->name_count >= BREAKDOWN_NAMES_MAX) {
		free(name);
		return 0;
	}
	if (add_thread(breakdown, &(struct part_thread){.name = name}, out_index)) {
		free(name);
		return -ENOMEM;
	}
	breakdown->name_count++;
	return table_add(&breakdown->names, hash, *out_index);
}

/* The entry of one of the first threads. Takes ownership of the name, except on failure. */
static int thread_by_number(struct thread_breakdown *breakdown, uint32_t number,
			    const struct part_thread *thread)
{
	struct part_thread *known = &breakdown->thread[breakdown->thread_of[number]];

	if (!breakdown->thread_of[number])
		return add_thread(breakdown, thread, &breakdown->thread_of[number]);
	free(known->name);
	*known = *thread;
	return 0;
}

int thread_breakdown_name(struct thread_breakdown *breakdown, const struct hi_stream_thread *record)
{
	struct part_thread thread = {.tid = record->tid};
	uint32_t nobody;
	int err;

	if (!record->thread || record->thread >= NUMBERS_MAX)
		return 0;
	if (!breakdown->thread_count && add_thread(breakdown, &(struct part_thread){0}, &nobody))
		return -ENOMEM;
	thread.name =
		record->name_size ? strndup((const char *)(record + 1), record->name_size) : NULL;
	if ((record->name_size && !thread.name) || reserve_number(breakdown, record->thread)) {
		free(thread.name);
		return -ENOMEM;
	}
	if (record->thread > BREAKDOWN_THREADS_MAX)
		return thread.name ? thread_by_name(breakdown, thread.name,
						    &breakdown->thread_of[record->thread])
				   : 0;
	err = thread_by_number(breakdown, record->thread, &thread);
	if (err)
		free(thread.name);
	return err;
}

static bool find_part(const struct thread_breakdown *breakdown, uint64_t key, uint32_t *out_part)
{
	struct table_cursor cursor = table_seek(&breakdown->index, hash_number(key));
	uint32_t index;

	while (table_next(&breakdown->index, &cursor, &index)) {
		if (((uint64_t)breakdown->part[index].row << 32 | breakdown->part[index].thread) ==
		    key) {
			*out_part = index;
			return true;
		}
	}
	return false;
}

static bool is_thread(const struct part_thread *thread, const char *name, uint32_t tid)
{
	return thread->tid == tid && text_equal(thread->name, name);
}

int thread_breakdown_thread(struct thread_breakdown *breakdown, const char *name, uint32_t tid,
			    uint32_t *out_thread)
{
	struct part_thread thread = {.tid = tid};
	uint32_t nobody;

	*out_thread = 0;
	if (!breakdown->thread_count && add_thread(breakdown, &(struct part_thread){0}, &nobody))
		return -ENOMEM;
	if (!name && !tid)
		return 0;
	for (uint32_t i = 1; i < breakdown->thread_count; i++) {
		if (is_thread(&breakdown->thread[i], name, tid)) {
			*out_thread = i;
			return 0;
		}
	}
	if (breakdown->thread_count > BREAKDOWN_THREADS_MAX)
		return 0;
	thread.name = name ? strdup(name) : NULL;
	if ((name && !thread.name) || add_thread(breakdown, &thread, out_thread)) {
		free(thread.name);
		return -ENOMEM;
	}
	return 0;
}

int thread_breakdown_at(struct thread_breakdown *breakdown, uint32_t row, uint32_t number,
			uint32_t *out_part)
{
	return thread_breakdown_of(
		breakdown, row, number < breakdown->number_count ? breakdown->thread_of[number] : 0,
		out_part);
}

int thread_breakdown_of(struct thread_breakdown *breakdown, uint32_t row, uint32_t thread,
			uint32_t *out_part)
{
	const uint64_t of_row = (uint64_t)row << 32;

	if (find_part(breakdown, of_row | thread, out_part))
		return 0;
	if (breakdown->count >= BREAKDOWN_PARTS_MAX)
		thread = 0;
	if (!thread && find_part(breakdown, of_row, out_part))
		return 0;
	if (array_reserve(&breakdown->part, &breakdown->capacity, breakdown->count,
			  sizeof(*breakdown->part)) ||
	    table_add(&breakdown->index, hash_number(of_row | thread), (uint32_t)breakdown->count))
		return -ENOMEM;
	*out_part = (uint32_t)breakdown->count;
	breakdown->part[breakdown->count++] = (struct part){.row = row, .thread = thread};
	return 0;
}

void thread_breakdown_forget(struct thread_breakdown *breakdown)
{
	free(breakdown->part);
	breakdown->part = NULL;
	breakdown->count = breakdown->capacity = 0;
	table_close(&breakdown->index);
}

void thread_breakdown_close(struct thread_breakdown *breakdown)
{
	for (size_t i = 0; i < breakdown->thread_count; i++)
		free(breakdown->thread[i].name);
	free(breakdown->part);
	free(breakdown->thread);
	free(breakdown->thread_of);
	table_close(&breakdown->index);
	table_close(&breakdown->names);
	*breakdown = (struct thread_breakdown){0};
}
