/* SPDX-License-Identifier: MIT */
/*
 * replay_events.c - the records of many allocations and frees at once, and the one place where the analyzer is in a hurry: it shares the CPUs with the program.
 *
 * What an allocation belongs to is looked up among the kinds of allocations seen last, and places in the table of live blocks are fetched some events ahead.
 * Start at replay_events().
 */
#include <errno.h>

#include "replay_state.h"

#define ADDRESS_MASK ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1)
#define AHEAD_BYTES 256u
#define SITE_HASH 0x9e3779b97f4a7c15ull

static bool is_free(const struct hi_stream_event *event)
{
	return !(event->what >> HI_STREAM_EVENT_ADDRESS_BITS);
}

/* What of an event there is at least. */
static size_t size_of(const struct hi_stream_event *event)
{
	return is_free(event) ? HI_STREAM_EVENT_FREE_BYTES : sizeof(*event);
}

static struct replay_site *site_of(struct replay *replay, const struct hi_stream_event *event)
{
	const uint64_t kind = ((uint64_t)event->stack << 32 | event->bytes) ^ (uint64_t)event->thread << 20;

	return &replay->site[kind * SITE_HASH >> (64 - __builtin_ctz(REPLAY_SITES))];
}

/* Only what has been told is remembered: whoever names another stack is told off each time. */
static int learn_site(struct replay *replay, const struct hi_stream_event *event, struct replay_site *out_site)
{
	const struct hi_stream_alloc alloc = {.bytes = event->bytes, .thread = event->thread, .interval = replay->sites_interval, .stack = event->stack};
	struct replay_site site = {
		.stack = event->stack,
		.thread = event->thread,
		.bytes = event->bytes,
		.stamp = told_stacks_get(&replay->told, event->stack) ? replay->stamp : 0,
	};

	if (replay_part_of(replay, &alloc, &site.part, &site.end))
		return -ENOMEM;
	*out_site = site;
	return 0;
}

static int on_alloc(struct replay *replay, const struct hi_stream_event *event, uint64_t time_ns)
{
	struct live_block block = {.address = event->what & ADDRESS_MASK, .bytes = event->bytes, .born_ns = time_ns, .slack = event->slack};
	struct replay_site *site = site_of(replay, event);

	if (!block.address) {
		replay_bad(replay, "an allocation of an impossible size, address or sampling interval");
		return 0;
	}
	if (site->stamp != replay->stamp || site->stack != event->stack || site->bytes != event->bytes || site->thread != event->thread) {
		if (learn_site(replay, event, site))
			return -ENOMEM;
	}
	block.part = site->part;
	replay_credit(replay, &block, site->end);
	if (event->lived_ns == HI_STREAM_LIVES)
		return replay_credit_live(replay, &block);
	replay_credit_passed(replay, &block, time_ns + event->lived_ns);
	return 0;
}

static void begin(struct replay *replay, uint64_t interval)
{
	if (replay->sites_interval == interval)
		return;
	replay->sites_interval = interval;
	replay->stamp++;
}

int replay_events(struct replay *replay, const struct hi_stream_events *events, size_t size)
{
	const uint8_t *at = (const uint8_t *)(events + 1), *ahead = at;
	const uint8_t *const end = (const uint8_t *)events + size;
	int error = 0;

	if (events->interval == 0 || events->interval > INTERVAL_MAX) {
		replay_bad(replay, "allocations of an impossible sampling interval");
		return 0;
	}
	begin(replay, events->interval);
	while (!error && (size_t)(end - at) >= HI_STREAM_EVENT_FREE_BYTES) {
		const struct hi_stream_event *event = (const void *)at;
		const uint64_t time_ns = events->time_ns + event->after_ns;

		for (; (size_t)(end - ahead) >= sizeof(*event) && ahead < at + AHEAD_BYTES; ahead += size_of((const void *)ahead))
			live_prefetch(&replay->live, ((const struct hi_stream_event *)(const void *)ahead)->what & ADDRESS_MASK);
		if ((size_t)(end - at) < size_of(event))
			break;
		at += size_of(event);
		if (is_free(event))
			replay_free(replay, event->what & ADDRESS_MASK, time_ns);
		else
			error = on_alloc(replay, event, time_ns);
	}
	peak_settle(&replay->peak);
	if (!error && at != end)
		replay_bad(replay, "a record does not hold what it announces");
	return error;
}
