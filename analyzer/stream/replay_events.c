/* SPDX-License-Identifier: MIT */
/*
 * replay_events.c - the records of many allocations and frees at once. This is the one place where
 * the analyzer must be fast: it shares the CPUs with the profiled program.
 *
 * The part of an allocation is looked up among the kinds of allocations seen last. Each event is
 * about another block, another row and another history, and most of the time would go by waiting
 * for their memory. So a few events at a time are gone through once for each such place, to
 * prefetch it for all of them, and only then counted. Start at replay_events().
 */
#include <errno.h>
#include <stdlib.h>

#include "replay_state.h"

#define ADDRESS_MASK ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1)
#define STEP_EVENTS 16u /* about what a CPU can fetch at once */
#define LINE_BYTES 64u
#define SITE_HASH 0x9e3779b97f4a7c15ull
#define SITE_BITS_FIRST 16u
#define SITE_BITS_MORE 2u
#define SITE_BITS_MAX 20u /* 32 MB; as many rows take twenty times that */
#define SITES_A_PART 8u

/*
 * An event that is counted soon, with what is known of it: all fields but event and size_class are
 * hints.
 */
struct upcoming {
	const struct hi_stream_event *event;
	struct replay_site *site; /* NULL: a free */
	uint32_t size_class;
	uint32_t part;
	const struct profile_row *row; /* NULL = unknown */
};

static bool is_free(const struct hi_stream_event *event)
{
	return !(event->what >> HI_STREAM_EVENT_ADDRESS_BITS);
}

/* The bytes of an event in the record. */
static size_t size_of(const struct hi_stream_event *event)
{
	return is_free(event) ? HI_STREAM_EVENT_FREE_BYTES : sizeof(*event);
}

static struct replay_site *site_of(struct replay *replay, const struct hi_stream_event *event,
				   uint32_t size_class)
{
	const uint64_t kind = ((uint64_t)event->stack << 32 | size_class) ^ (uint64_t)event->thread
										    << 20;

	return &replay->site[kind * SITE_HASH >> (64 - replay->site_bits)];
}

/*
 * Finds the part of an allocation. It is remembered only if the stream has introduced the stack
 * (else stamp is 0), so that each event that names an unknown stack is reported as bad.
 */
static int learn_site(struct replay *replay, const struct hi_stream_event *event,
		      struct replay_site *out_site)
{
	const struct hi_stream_alloc alloc = {.bytes = event->bytes,
					      .thread = event->thread,
					      .interval = replay->sites_interval,
					      .stack = event->stack};
	struct replay_site site = {
		.stack = event->stack,
		.thread = event->thread,
		.size_class = replay_size_class(replay, event->stack, event->bytes,
						replay->sites_interval),
		.stamp = stack_ids_get(&replay->stack_ids, event->stack) ? replay->stamp : 0,
	};

	if (replay_part_of(replay, &alloc, &site.part, &site.end))
		return -ENOMEM;
	*out_site = site;
	return 0;
}

static int on_alloc(struct replay *replay, const struct upcoming *upcoming, uint64_t time_ns)
{
	const struct hi_stream_event *event = upcoming->event;
	struct live_block block = {.address = event->what & ADDRESS_MASK,
				   .bytes = event->bytes,
				   .born_ns = time_ns,
				   .slack = event->slack};
	struct replay_site *site = upcoming->site;

	if (!block.address) {
		replay_bad(replay,
			   "an allocation of an impossible size, address or sampling interval");
		return 0;
	}
	if (site->stamp != replay->stamp || site->stack != event->stack ||
	    site->size_class != upcoming->size_class || site->thread != event->thread) {
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

/*
 * Makes enough sites, up to SITE_BITS_MAX, for almost every kind to have a slot of its own. New
 * sites are empty and learned anew. 0, or -ENOMEM: there are none.
 */
static int make_sites(struct replay *replay)
{
	const unsigned bits = replay->site ? replay->site_bits + SITE_BITS_MORE : SITE_BITS_FIRST;
	struct replay_site *site;

	if (replay->site &&
	    (bits > SITE_BITS_MAX ||
	     replay->profile->breakdown.count <= (1ull << replay->site_bits) / SITES_A_PART))
		return 0;
	site = calloc(1ull << bits, sizeof(*site));
	if (!site)
		return replay->site ? 0 : -ENOMEM;
	free(replay->site);
	replay->site = site;
	replay->site_bits = bits;
	return 0;
}

static int begin(struct replay *replay, uint64_t interval)
{
	if (replay->sites_interval != interval)
		replay->stamp++;
	replay->sites_interval = interval;
	return make_sites(replay);
}

/* Takes the next events that are complete. Returns where they end. */
static const uint8_t *take_step(struct replay *replay, const uint8_t *at, const uint8_t *end,
				struct upcoming *step, size_t *out_count)
{
	size_t count = 0;

	while (count < STEP_EVENTS && (size_t)(end - at) >= HI_STREAM_EVENT_FREE_BYTES) {
		const struct hi_stream_event *event = (const void *)at;
		struct upcoming *upcoming = &step[count];

		if ((size_t)(end - at) < size_of(event))
			break;
		*upcoming = (struct upcoming){.event = event};
		live_prefetch(&replay->live, event->what & ADDRESS_MASK);
		if (!is_free(event)) {
			upcoming->size_class = replay_size_class(replay, event->stack, event->bytes,
								 replay->sites_interval);
			upcoming->site = site_of(replay, event, upcoming->size_class);
			__builtin_prefetch(upcoming->site, 1);
		}
		at += size_of(event);
		count++;
	}
	*out_count = count;
	return at;
}

/*
 * Prefetches, one after the other, what leads to the next: the site or the block, the part, the
 * row, its history.
 */
static void fetch_step(const struct replay *replay, struct upcoming *step, size_t count)
{
	const struct profile *profile = replay->profile;

	for (size_t i = 0; i < count; i++) {
		step[i].part =
			step[i].site ? step[i].site->part
				     : live_hint(&replay->live, step[i].event->what & ADDRESS_MASK);
		if (step[i].part < profile->breakdown.count)
			__builtin_prefetch(&profile->breakdown.part[step[i].part], 1);
	}
	for (size_t i = 0; i < count; i++) {
		if (step[i].part >= profile->breakdown.count)
			continue;
		step[i].row = &profile->row[profile->breakdown.part[step[i].part].row];
		for (size_t byte = 0; byte < sizeof(*step[i].row); byte += LINE_BYTES)
			__builtin_prefetch((const char *)step[i].row + byte, 1);
	}
	for (size_t i = 0; i < count; i++) {
		if (step[i].row)
			histories_prefetch(&profile->histories, step[i].row->history);
	}
}

static int count_step(struct replay *replay, const struct upcoming *step, size_t count,
		      uint64_t from_ns)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const uint64_t time_ns = from_ns + step[i].event->after_ns;

		if (step[i].site)
			err = on_alloc(replay, &step[i], time_ns);
		else
			replay_free(replay, step[i].event->what & ADDRESS_MASK, time_ns);
	}
	return err;
}

int replay_events(struct replay *replay, const struct hi_stream_events *events, size_t size)
{
	const uint8_t *at = (const uint8_t *)(events + 1);
	const uint8_t *const end = (const uint8_t *)events + size;
	struct upcoming step[STEP_EVENTS];
	size_t count;
	int err;

	if (events->interval == 0 || events->interval > INTERVAL_MAX) {
		replay_bad(replay, "allocations of an impossible sampling interval");
		return 0;
	}
	err = replay_observe_events(replay, events, size);
	if (!err)
		err = begin(replay, events->interval);
	if (err)
		return err;
	do {
		at = take_step(replay, at, end, step, &count);
		fetch_step(replay, step, count);
		err = count_step(replay, step, count, replay_since(replay, events->time_ns));
	} while (!err && count);
	peak_settle(&replay->peak);
	if (!err && at != end)
		replay_bad(replay, "a record does not hold what it announces");
	return err;
}
