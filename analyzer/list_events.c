/* SPDX-License-Identifier: MIT */
/* list_events.c - the list of what a session recorded, for trials of allocators. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "event_list.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_interval.h"
#include "input.h"
#include "printable.h"
#include "profile.h"
#include "records.h"
#include "replay.h"

#define BEGINNING_BYTES 16u

static int on_event(void *context, const struct replay_event *event)
{
	return event_list_add(context, event);
}

static void on_stats(void *context, struct profile *profile, uint64_t bad_records)
{
	struct event_list *list = context;
	const uint64_t anonymous = profile->meta.memory.anonymous_end;

	(void)bad_records;
	if (anonymous > list->head.anonymous_most)
		list->head.anonymous_most = anonymous;
}

static void set_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
	printable(to);
}

static void describe(struct hi_trial_head *head, const struct profile_meta *meta)
{
	head->pid = (uint64_t)meta->pid;
	head->dropped = meta->dropped_allocs + meta->dropped_frees + meta->no_thread_slot +
			meta->live_set_full;
	head->duration_ns = meta->duration_ns;
	head->paused_ns = meta->paused_ns;
	head->anonymous_begin = meta->memory.anonymous_begin;
	head->anonymous_end = meta->memory.anonymous_end;
	if (head->anonymous_end > head->anonymous_most)
		head->anonymous_most = head->anonymous_end;
	set_text(head->name, sizeof(head->name), meta->comm);
	set_text(head->text, sizeof(head->text), meta->damage);
	set_text(head->unhooked, sizeof(head->unhooked), meta->unhooked);
}

static enum hi_trial_refusal refusal_of(int err, const struct event_list *list,
					const struct profile_meta *meta)
{
	if (err == -EBADMSG)
		return HI_TRIAL_NO_STREAM;
	if (err == -ENOTSUP || (!err && meta->interval > HI_INTERVAL_EXACT))
		return HI_TRIAL_SAMPLED;
	if (err == -ENOMEM)
		return HI_TRIAL_NO_MEMORY;
	if (err)
		return HI_TRIAL_NOT_WRITTEN;
	return list->head.allocations ? HI_TRIAL_LISTED : HI_TRIAL_EMPTY;
}

/* A profile, or any other file, is no damaged stream. */
static int check_beginning(struct input *input, struct profile_meta *meta)
{
	const uint8_t *bytes;
	const size_t size = input_peek(input, BEGINNING_BYTES, &bytes);

	if (records_recognize(bytes, size))
		return 0;
	meta->damage = strdup(size ? "it is no record stream of heapinject" : "it is empty");
	return -EBADMSG;
}

static int list_events(struct input *input, struct profile *profile, int list_fd)
{
	static struct event_list list;
	const struct replay_observer observer = {
		.on_stats = on_stats, .on_event = on_event, .context = &list};
	int err = event_list_open(&list, list_fd);

	if (!err)
		err = input_unpack(input);
	if (!err)
		err = check_beginning(input, &profile->meta);
	if (!err)
		err = replay_stream(input, &observer, profile);
	describe(&list.head, &profile->meta);
	list.head.refusal = refusal_of(err, &list, &profile->meta);
	list.head.err = err;
	if (list.head.refusal == HI_TRIAL_LISTED || list.head.refusal == HI_TRIAL_EMPTY)
		err = event_list_finish(&list);
	else
		err = event_list_write_head(&list) ? -EIO : -ENODATA;
	event_list_close(&list);
	return err;
}

int hi_analyzer_list_events(int stream_fd, int list_fd)
{
	struct profile profile;
	struct input input;
	int err;

	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to report */
	err = profile_open(&profile);
	if (!err)
		err = input_open(&input, stream_fd);
	if (!err) {
		err = list_events(&input, &profile, list_fd);
		input_close(&input);
	}
	profile_close(&profile);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
