/* SPDX-License-Identifier: MIT */
/*
 * events_out.h - allocations and frees on their way into the record stream, put together in EVENTS records of hi_stream.h.
 *
 * Nearly all blocks of a busy program are freed soon: such a free costs no more than finding its allocation in the same record. The record at hand is kept here
 * until it is full or closed; whatever is to stand behind its events in the stream must be written after that. Zero-initialized = empty.
 */
#ifndef HI_EVENTS_OUT_H
#define HI_EVENTS_OUT_H

#include "hi_wire.h"
#include "stream_out.h"

#define EVENTS_OUT_BYTES (32u << 10) /* of a record: fits the caches with all that is done to it */
#define EVENTS_OUT_PLACES 2048u      /* a power of two */

struct events_out {
	uint32_t size;                     /* of the record at hand; 0 = none */
	uint16_t place[EVENTS_OUT_PLACES]; /* by hash of the address: where in the record its last allocation is, perhaps; 0 = nowhere */
	union {
		struct hi_stream_events head;
		uint8_t bytes[EVENTS_OUT_BYTES];
	} record;
};

/* The record at hand goes to `out`, if there is one. -ENOMEM, or what stream_out says; so do all others. */
must_check int events_out_close(struct events_out *events, struct stream_out *out);
/* As a record of its own, behind all others. */
must_check int events_out_alone(struct events_out *events, struct stream_out *out, uint16_t type, void *fixed, size_t fixed_size);
/* A new record at hand, for events of that time and later. interval 0: that of the one before. */
must_check int events_out_begin(struct events_out *events, struct stream_out *out, uint64_t time_ns, uint64_t interval);

#define EVENTS_OUT_ADDRESS_MASK ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1)

static inline struct hi_stream_event *events_out_at(struct events_out *events, uint32_t offset)
{
	return (struct hi_stream_event *)(void *)(events->record.bytes + offset);
}

static inline uint16_t *events_out_place(struct events_out *events, uint64_t address)
{
	return &events->place[address * 0x9e3779b97f4a7c15ull >> (64 - __builtin_ctz(EVENTS_OUT_PLACES))];
}

static inline bool events_out_has_room(const struct events_out *events, uint64_t time_ns, uint64_t interval)
{
	return events->size - 1 < EVENTS_OUT_BYTES - sizeof(struct hi_stream_event) && time_ns - events->record.head.time_ns < UINT32_MAX &&
	       (interval == events->record.head.interval || !interval);
}

static inline void events_out_note_time(struct events_out *events, uint64_t time_ns)
{
	if (time_ns > events->record.head.last_ns)
		events->record.head.last_ns = time_ns;
}

/* As an ALLOC record without frames would have it; record.size and record.type are not looked at. */
must_check static inline int events_out_alloc(struct events_out *events, struct stream_out *out, const struct hi_stream_alloc *alloc)
{
	if (!alloc->stack || alloc->bytes > UINT32_MAX || alloc->address > EVENTS_OUT_ADDRESS_MASK || alloc->function >= HI_FUNCTION_COUNT) {
		struct hi_stream_alloc copy = *alloc;
		return events_out_alone(events, out, HI_STREAM_ALLOC, &copy, sizeof copy);
	}
	const int err = events_out_has_room(events, alloc->time_ns, alloc->interval) ? 0 : events_out_begin(events, out, alloc->time_ns, alloc->interval);
	*events_out_at(events, events->size) = (struct hi_stream_event){
		.what = alloc->address | (uint64_t)(alloc->function + 1u) << HI_STREAM_EVENT_ADDRESS_BITS,
		.after_ns = (uint32_t)(alloc->time_ns - events->record.head.time_ns),
		.thread = alloc->thread,
		.bytes = (uint32_t)alloc->bytes,
		.stack = alloc->stack,
		.slack = alloc->slack,
		.lived_ns = HI_STREAM_LIVES,
	};
	*events_out_place(events, alloc->address) = (uint16_t)events->size;
	events->size += (uint32_t)sizeof(struct hi_stream_event);
	events_out_note_time(events, alloc->time_ns);
	return err;
}

/* The allocation in the record at hand that this frees, if it is there and can say so. */
static inline bool events_out_end_life(struct events_out *events, uint64_t address, uint64_t time_ns)
{
	const uint16_t offset = *events_out_place(events, address);
	struct hi_stream_event *event = events_out_at(events, offset);
	if (offset >= events->size || !offset || (event->what & EVENTS_OUT_ADDRESS_MASK) != address || event->lived_ns != HI_STREAM_LIVES)
		return false;
	const uint64_t born_ns = events->record.head.time_ns + event->after_ns, lived_ns = time_ns > born_ns ? time_ns - born_ns : 0;
	if (lived_ns >= HI_STREAM_LIVES)
		return false;
	event->lived_ns = (uint32_t)lived_ns;
	events_out_note_time(events, time_ns);
	return true;
}

/* As a FREE record would have it. */
must_check static inline int events_out_free(struct events_out *events, struct stream_out *out, const struct hi_stream_free *from)
{
	if (events_out_end_life(events, from->address, from->time_ns))
		return 0;
	if (from->address > EVENTS_OUT_ADDRESS_MASK) {
		struct hi_stream_free copy = *from;
		return events_out_alone(events, out, HI_STREAM_FREE, &copy, sizeof copy);
	}
	const int err = events_out_has_room(events, from->time_ns, 0) ? 0 : events_out_begin(events, out, from->time_ns, 0);
	struct hi_stream_event *event = events_out_at(events, events->size);
	event->what = from->address;
	event->after_ns = (uint32_t)(from->time_ns - events->record.head.time_ns);
	event->thread = from->thread;
	events->size += HI_STREAM_EVENT_FREE_BYTES;
	events_out_note_time(events, from->time_ns);
	return err;
}

#endif
