/* SPDX-License-Identifier: MIT */
/*
 * replay_observed.c - each allocation and free as the observer sees it. Apart from replay_events.c,
 * which has to be fast: few observers want to see them.
 */
#include "replay.h"

#include "replay_state.h"

#define ADDRESS_MASK ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1)

static bool wants(const struct replay *replay)
{
	return replay->observer && replay->observer->on_event;
}

static int show(const struct replay *replay, const struct replay_event *event)
{
	return replay->observer->on_event(replay->observer->context, event);
}

static int show_event(const struct replay *replay, const struct hi_stream_events *events,
		      const struct hi_stream_event *event)
{
	const uint64_t function = event->what >> HI_STREAM_EVENT_ADDRESS_BITS;
	struct replay_event shown = {.kind = REPLAY_FREE,
				     .thread = event->thread,
				     .time_ns = events->time_ns + event->after_ns,
				     .address = event->what & ADDRESS_MASK};

	if (!shown.address)
		return 0;
	if (function) {
		shown.kind = REPLAY_ALLOC;
		shown.function = (uint16_t)(function - 1);
		shown.bytes = event->bytes;
		shown.interval = events->interval;
		shown.freed_ns = event->lived_ns == HI_STREAM_LIVES
					 ? REPLAY_LIVES
					 : shown.time_ns + event->lived_ns;
	}
	return show(replay, &shown);
}

int replay_observe_events(const struct replay *replay, const struct hi_stream_events *events,
			  size_t size)
{
	const uint8_t *at = (const uint8_t *)(events + 1);
	const uint8_t *const end = (const uint8_t *)events + size;
	int err = 0;

	while (wants(replay) && !err && (size_t)(end - at) >= HI_STREAM_EVENT_FREE_BYTES) {
		const struct hi_stream_event *event = (const void *)at;
		const size_t length = event->what >> HI_STREAM_EVENT_ADDRESS_BITS
					      ? sizeof(*event)
					      : HI_STREAM_EVENT_FREE_BYTES;

		if ((size_t)(end - at) < length)
			break;
		err = show_event(replay, events, event);
		at += length;
	}
	return err;
}

int replay_observe_alloc(const struct replay *replay, const struct hi_stream_alloc *alloc)
{
	const struct replay_event shown = {.kind = REPLAY_ALLOC,
					   .function = alloc->function,
					   .thread = alloc->thread,
					   .time_ns = alloc->time_ns,
					   .address = alloc->address,
					   .bytes = alloc->bytes,
					   .interval = alloc->interval,
					   .freed_ns = REPLAY_LIVES};

	return wants(replay) ? show(replay, &shown) : 0;
}

int replay_observe_free(const struct replay *replay, const struct hi_stream_free *record)
{
	const struct replay_event shown = {
		.kind = record->record.type == HI_STREAM_UNFREE ? REPLAY_UNFREE : REPLAY_FREE,
		.thread = record->thread,
		.time_ns = record->time_ns,
		.address = record->address};

	return wants(replay) && record->address ? show(replay, &shown) : 0;
}
