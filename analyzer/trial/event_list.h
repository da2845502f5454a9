/* SPDX-License-Identifier: MIT */
/*
 * Room trial/: what an exact session recorded, as a list of events that can be made again with
 * another allocator (hi_trial.h). Start at event_list.h; due_frees.h puts frees into their place,
 * trial_ops.h says which function is made again by which. Uses stream/.
 */

/*
 * event_list.h - allocations and frees of a stream, in their order, turned into the list.
 *
 * A realloc is a free and an allocation in the stream. They are put together again: if what a
 * thread does after a free is a realloc, the free was a part of it. (A free that a realloc of NULL
 * follows looks the same, and does the same.) A FREE that is already in the list becomes NOTHING
 * then, so the last part of the list is kept in memory; and the number of the block that a thread
 * freed last is given to no other until the thread does something else.
 */
#ifndef HI_EVENT_LIST_H
#define HI_EVENT_LIST_H

#include "due_frees.h"
#include "hi_trial.h"
#include "live.h"
#include "replay.h"

#define EVENT_LIST_WINDOW (1u << 16) /* events in memory; half of them are written at a time */

/* What a thread did last, if that was a free. */
struct event_list_freed {
	bool is_held;
	uint64_t at; /* in the list */
	struct live_block block;
};

struct event_list {
	int fd;
	struct hi_trial_head head;
	struct hi_trial_event *window; /* the events from `written` on */
	uint64_t written;
	struct live live; /* part: the number of the block; born_ns: its serial number, from 1 */
	uint64_t serial;
	struct due_frees due;
	uint32_t *unused; /* numbers of blocks */
	size_t unused_count, unused_room;
	uint64_t bytes, blocks; /* in use now */
	uint64_t time_ns;       /* that the list has said last */
	struct event_list_freed freed[HI_TRIAL_THREADS_MAX];
};

/* fd: an empty file, of which the caller has the only descriptor. 0 or -ENOMEM. */
int event_list_open(struct event_list *list, int fd);
/* Events in the order of the stream. 0, -ENOMEM, -ENOTSUP: it was sampled, or an error of write. */
int event_list_add(struct event_list *list, const struct replay_event *event);
/* Writes the head alone, which says why there is no list. */
int event_list_write_head(struct event_list *list);
/* Writes the rest, and the head. */
int event_list_finish(struct event_list *list);
void event_list_close(struct event_list *list);

#endif
