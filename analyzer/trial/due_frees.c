/* SPDX-License-Identifier: MIT */
/* due_frees.c - see due_frees.h. */
#include "due_frees.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_FIRST 1024u

static bool comes_before(const struct due_free *one, const struct due_free *other)
{
	return one->time_ns != other->time_ns ? one->time_ns < other->time_ns
					      : one->serial < other->serial;
}

static int make_room(struct due_frees *due)
{
	const size_t room = due->room ? due->room * 2 : ROOM_FIRST;
	struct due_free *heap;

	if (due->count < due->room)
		return 0;
	heap = reallocarray(due->heap, room, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	due->heap = heap;
	due->room = room;
	return 0;
}

int due_frees_add(struct due_frees *due, const struct due_free *free)
{
	const int err = make_room(due);
	size_t at = due->count;

	if (err)
		return err;
	due->count++;
	while (at && comes_before(free, &due->heap[(at - 1) / 2])) {
		due->heap[at] = due->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	due->heap[at] = *free;
	return 0;
}

bool due_frees_take(struct due_frees *due, uint64_t time_ns, struct due_free *out_free)
{
	size_t at = 0;

	if (!due->count || due->heap[0].time_ns > time_ns)
		return false;
	*out_free = due->heap[0];
	const struct due_free last = due->heap[--due->count];
	for (size_t child = 1; child < due->count; child = 2 * at + 1) {
		child += child + 1 < due->count &&
			 comes_before(&due->heap[child + 1], &due->heap[child]);
		if (!comes_before(&due->heap[child], &last))
			break;
		due->heap[at] = due->heap[child];
		at = child;
	}
	if (due->count)
		due->heap[at] = last;
	return true;
}

void due_frees_close(struct due_frees *due)
{
	free(due->heap);
	*due = (struct due_frees){0};
}
