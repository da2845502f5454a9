/* SPDX-License-Identifier: MIT */
/* event_list.c - see event_list.h. */
#include "event_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hi_interval.h"
#include "trial_ops.h"

#define UNUSED_FIRST 4096u
#define EVENTS_AT_ONCE 8u /* that one of the stream becomes, at most */

/* ---- the file -------------------------------------------------------------------------------- */

static int write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		const ssize_t done = write(fd, at, size);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			at += done;
			size -= (size_t)done;
		}
	}
	return 0;
}

/* Writes the first of the events in memory. */
static int write_events(struct event_list *list, size_t count)
{
	const size_t kept = (size_t)(list->head.events - list->written) - count;
	const int err = write_all(list->fd, list->window, count * sizeof(*list->window));

	if (err)
		return err;
	memmove(list->window, list->window + count, kept * sizeof(*list->window));
	list->written += count;
	return 0;
}

static int append(struct event_list *list, const struct hi_trial_event *event)
{
	int err = 0;

	if (list->head.events - list->written == EVENT_LIST_WINDOW)
		err = write_events(list, EVENT_LIST_WINDOW / 2);
	if (!err)
		list->window[list->head.events++ - list->written] = *event;
	return err;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Threads are numbered from 1, and 0 is one of the others. */
static uint16_t thread_of(struct event_list *list, uint32_t number)
{
	const uint32_t thread = number ? (number - 1) % HI_TRIAL_THREADS_MAX : 0;

	if (number > list->head.recorded_threads)
		list->head.recorded_threads = number;
	if (thread >= list->head.threads)
		list->head.threads = thread + 1;
	return (uint16_t)thread;
}

static int give_back(struct event_list *list, uint32_t block)
{
	if (list->unused_count == list->unused_room) {
		const size_t room = list->unused_room ? list->unused_room * 2 : UNUSED_FIRST;
		uint32_t *const unused = reallocarray(list->unused, room, sizeof(*unused));

		if (!unused)
			return -ENOMEM;
		list->unused = unused;
		list->unused_room = room;
	}
	list->unused[list->unused_count++] = block;
	return 0;
}

/* A number for a new block. -ENOMEM: there are too many. */
static int take_number(struct event_list *list, uint32_t *out_block)
{
	if (list->unused_count)
		*out_block = list->unused[--list->unused_count];
	else if (list->head.blocks < HI_TRIAL_BLOCKS_MAX)
		*out_block = list->head.blocks++;
	else
		return -ENOMEM;
	return 0;
}

/* The free that the thread made last is no part of what it does now. */
static int let_go(struct event_list *list, uint16_t thread)
{
	struct event_list_freed *freed = &list->freed[thread];

	if (!freed->is_held)
		return 0;
	freed->is_held = false;
	return give_back(list, freed->block.part);
}

/* ---- what is in use -------------------------------------------------------------------------- */

static int note_block(struct event_list *list, const struct live_block *block)
{
	struct hi_trial_head *head = &list->head;
	struct live_block *place = live_place(&list->live, block->address);

	if (!place)
		return -ENOMEM;
	*place = *block;
	list->live.count++;
	list->bytes += block->bytes;
	list->blocks++;
	if (list->blocks > head->most_blocks)
		head->most_blocks = list->blocks;
	if (list->bytes > head->most_bytes) {
		head->most_bytes = list->bytes;
		head->most_at = head->events;
	}
	return 0;
}

static int free_block(struct event_list *list, uint64_t address, uint16_t thread)
{
	struct live_block block;
	int err = let_go(list, thread);

	if (err)
		return err;
	if (!live_drop(&list->live, address, &block)) {
		list->head.unknown_frees++;
		return 0;
	}
	list->bytes -= block.bytes;
	list->blocks--;
	list->head.frees++;
	list->freed[thread] =
		(struct event_list_freed){.is_held = true, .at = list->head.events, .block = block};
	return append(list, &(struct hi_trial_event){
				    .block = block.part, .thread = thread, .op = HI_TRIAL_FREE});
}

/* Takes the last free of the thread out of the list, where that is still possible. */
static bool take_free_back(struct event_list *list, uint16_t thread)
{
	struct event_list_freed *freed = &list->freed[thread];

	if (!freed->is_held || freed->at < list->written || freed->at >= list->head.events)
		return false;
	list->window[freed->at - list->written].op = HI_TRIAL_NOTHING;
	freed->is_held = false;
	list->head.frees--;
	return true;
}

static int note_time(struct event_list *list, uint64_t time_ns, uint16_t thread)
{
	if (time_ns < list->time_ns || time_ns - list->time_ns < HI_TRIAL_TIME_NS)
		return 0;
	list->time_ns = time_ns;
	return append(list, &(struct hi_trial_event){
				    .thread = thread, .op = HI_TRIAL_TIME, .bytes = time_ns});
}

static int make_due_frees(struct event_list *list, uint64_t time_ns)
{
	struct due_free due;
	int err = 0;

	while (!err && list->head.events + EVENTS_AT_ONCE <= HI_TRIAL_EVENTS_MAX &&
	       due_frees_take(&list->due, time_ns, &due)) {
		const struct live_block *block = live_find(&list->live, due.address);

		/* the address has another block, and this one was freed then */
		if (!block || block->born_ns != due.serial)
			continue;
		const uint16_t thread = thread_of(list, due.thread);
		err = note_time(list, due.time_ns, thread);
		if (!err)
			err = free_block(list, due.address, thread);
	}
	return err;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* By what it is made again, and the number of its block. */
static int choose(struct event_list *list, const struct replay_event *event,
		  struct hi_trial_event *made)
{
	const bool is_realloc = trial_ops_of(event->function) == HI_TRIAL_REALLOC;
	const uint32_t freed = list->freed[made->thread].block.part;

	if (is_realloc && take_free_back(list, made->thread)) {
		made->op = HI_TRIAL_REALLOC;
		made->block = freed;
		list->head.reallocs++;
		return 0;
	}
	list->head.allocations++;
	made->op = (uint8_t)(is_realloc ? HI_TRIAL_MALLOC : trial_ops_of(event->function));
	if (made->op == HI_TRIAL_ALIGNED) {
		list->head.aligned++;
		made->alignment_bits =
			trial_ops_alignment(event->function, event->address, event->bytes);
	}
	const int err = let_go(list, made->thread);
	return err ? err : take_number(list, &made->block);
}

static int on_alloc(struct event_list *list, const struct replay_event *event, uint16_t thread)
{
	struct hi_trial_event made = {.thread = thread, .bytes = event->bytes};
	int err = 0;

	if (event->interval > HI_INTERVAL_EXACT)
		return -ENOTSUP;
	if (live_has(&list->live, event->address)) {
		/* not by this thread: it would look like the free of a realloc */
		err = free_block(list, event->address, thread);
		list->head.missed_frees++;
		if (!err)
			err = let_go(list, thread);
	}
	if (!err)
		err = choose(list, event, &made);
	if (!err)
		err = append(list, &made);
	const struct live_block block = {.address = event->address,
					 .bytes = event->bytes,
					 .born_ns = ++list->serial,
					 .part = made.block};
	if (!err)
		err = note_block(list, &block);
	if (err || event->freed_ns == REPLAY_LIVES)
		return err;
	return due_frees_add(&list->due, &(struct due_free){.time_ns = event->freed_ns,
							    .serial = block.born_ns,
							    .address = event->address,
							    .thread = event->thread});
}

/* A realloc has failed: what it seemed to have freed is still there. */
static int on_unfree(struct event_list *list, uint64_t address, uint16_t thread)
{
	const struct event_list_freed freed = list->freed[thread];

	if (freed.block.address != address || live_has(&list->live, address) ||
	    !take_free_back(list, thread))
		return 0;
	return note_block(list, &freed.block);
}

int event_list_add(struct event_list *list, const struct replay_event *event)
{
	const uint16_t thread = thread_of(list, event->thread);
	int err = make_due_frees(list, event->time_ns);

	if (err)
		return err;
	if (list->head.left_out || list->head.events + EVENTS_AT_ONCE > HI_TRIAL_EVENTS_MAX) {
		list->head.left_out++;
		return 0;
	}
	err = note_time(list, event->time_ns, thread);
	if (err)
		return err;
	if (event->kind == REPLAY_ALLOC)
		return on_alloc(list, event, thread);
	return event->kind == REPLAY_FREE ? free_block(list, event->address, thread)
					  : on_unfree(list, event->address, thread);
}

/* ---- begin and end --------------------------------------------------------------------------- */

int event_list_open(struct event_list *list, int fd)
{
	*list = (struct event_list){.fd = fd, .head = {.magic = HI_TRIAL_MAGIC}};
	list->window = calloc(EVENT_LIST_WINDOW, sizeof(*list->window));
	return list->window ? write_all(fd, &list->head, sizeof(list->head)) : -ENOMEM;
}

int event_list_write_head(struct event_list *list)
{
	if (lseek(list->fd, 0, SEEK_SET))
		return -errno;
	return write_all(list->fd, &list->head, sizeof(list->head));
}

int event_list_finish(struct event_list *list)
{
	int err = list->head.left_out ? 0 : make_due_frees(list, UINT64_MAX);

	list->head.last_bytes = list->bytes;
	list->head.last_blocks = list->blocks;
	if (!err)
		err = write_events(list, (size_t)(list->head.events - list->written));
	return err ? err : event_list_write_head(list);
}

void event_list_close(struct event_list *list)
{
	free(list->window);
	free(list->unused);
	live_close(&list->live);
	due_frees_close(&list->due);
	*list = (struct event_list){0};
}
