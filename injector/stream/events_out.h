/* SPDX-License-Identifier: MIT */
/*
 * events_out.h - allocations and frees on their way into the record stream, collected in EVENTS
 * records of hi_stream.h.
 *
 * Nearly all blocks of a busy program are freed soon; such a free costs only the search for its
 * allocation in the same record. The current record is kept here until it is full or closed. A
 * record that must follow these events in the stream may be written only after that.
 * Zero-initialized = empty.
 */
#ifndef HI_EVENTS_OUT_H
#define HI_EVENTS_OUT_H

#include "hi_wire.h"
#include "stream_out.h"

/* of a record: together with all that is done to it, it fits the caches */
#define EVENTS_OUT_BYTES (32u << 10)
#define EVENTS_OUT_PLACES 2048u /* a power of two */

struct events_out {
	uint32_t size; /* of the current record; 0 = none */
	/*
	 * by hash of the address: offset in the record of what may be its last allocation; 0 = none
	 */
	uint16_t place[EVENTS_OUT_PLACES];
	union {
		struct hi_stream_events head;
		uint8_t bytes[EVENTS_OUT_BYTES];
	} record;
};

/*
 * Writes the current record to `out`, if there is one. -ENOMEM, or an error of stream_out; the same
 * holds for the functions below.
 */
must_check int events_out_close(struct events_out *events, struct stream_out *out);
/* Closes the current record and writes this one as a record of its own after it. */
must_check int events_out_alone(struct events_out *events, struct stream_out *out, uint16_t type,
				void *fixed, size_t fixed_size);
/*
 * Starts a new current record, for events of that time and later. interval 0: the same as in the
 * record before.
 */
must_check int events_out_begin(struct events_out *events, struct stream_out *out, uint64_t time_ns,
				uint64_t interval);

#define EVENTS_OUT_ADDRESS_MASK ((1ull << HI_STREAM_EVENT_ADDRESS_BITS) - 1)

static inline struct hi_stream_event *events_out_at(struct events_out *events, uint32_t offset)
{
	return (struct hi_stream_event *)(void *)(events->record.bytes + offset);
}

static inline uint16_t *events_out_place(struct events_out *events, uint64_t address)
{
	return &events->place[address * 0x9e3779b97f4a7c15ull >>
			      (64 - __builtin_ctz(EVENTS_OUT_PLACES))];
}

static inline bool events_out_has_room(const struct events_out *events, uint64_t time_ns,
				       uint64_t interval)
{
	return events->size - 1 < EVENTS_OUT_BYTES - sizeof(struct hi_stream_event) &&
	       time_ns - events->record.head.time_ns < UINT32_MAX &&
	       (interval == events->record.head.interval || !interval);
}

static inline void events_out_note_time(struct events_out *events, uint64_t time_ns)
{
	if (time_ns > events->record.head.last_ns)
		events->record.head.last_ns = time_ns;
}

/*
 * Adds an allocation, given as an ALLOC record without frames. alloc->record.size and .type are not
 * read.
 */
must_check static inline int events_out_alloc(struct events_out *events, struct stream_out *out,
					      const struct hi_stream_alloc *alloc)
{
	if (!alloc->stack || alloc->bytes > UINT32_MAX ||
	    alloc->address > EVENTS_OUT_ADDRESS_MASK || alloc->function >= HI_FUNCTION_COUNT) {
		struct hi_stream_alloc copy = *alloc;
		return events_out_alone(events, out, HI_STREAM_ALLOC, &copy, sizeof(copy));
	}
	const int err = events_out_has_room(events, alloc->time_ns, alloc->interval)
				? 0
				: events_out_begin(events, out, alloc->time_ns, alloc->interval);
	*events_out_at(events, events->size) = (struct hi_stream_event){
		.what = alloc->address | (uint64_t)(alloc->function + 1u)
						 << HI_STREAM_EVENT_ADDRESS_BITS,
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

/*
 * Records the free in its allocation's event, if that is in the current record and can express it.
 * Returns false otherwise.
 */
static inline bool events_out_end_life(struct events_out *events, uint64_t address,
				       uint64_t time_ns)
{
	const uint16_t offset = *events_out_place(events, address);
	struct hi_stream_event *event = events_out_at(events, offset);
	if (offset >= events->size || !offset ||
	    (event->what & EVENTS_OUT_ADDRESS_MASK) != address ||
	    event->lived_ns != HI_STREAM_LIVES)
		return false;
	const uint64_t born_ns = events->record.head.time_ns + event->after_ns,
		       lived_ns = time_ns > born_ns ? time_ns - born_ns : 0;
	if (lived_ns >= HI_STREAM_LIVES)
		return false;
	event->lived_ns = (uint32_t)lived_ns;
	events_out_note_time(events, time_ns);
	return true;
}

/* Adds a free, given as a FREE record. */
must_check static inline int events_out_free(struct events_out *events, struct stream_out *out,
					     const struct hi_stream_free *from)
{
	if (events_out_end_life(events, from->address, from->time_ns))
		return 0;
	if (from->address > EVENTS_OUT_ADDRESS_MASK) {
		struct hi_stream_free copy = *from;
		return events_out_alone(events, out, HI_STREAM_FREE, &copy, sizeof(copy));
	}
	const int err = events_out_has_room(events, from->time_ns, 0)
				? 0
				: events_out_begin(events, out, from->time_ns, 0);
	struct hi_stream_event *event = events_out_at(events, events->size);
	event->what = from->address;
	event->after_ns = (uint32_t)(from->time_ns - events->record.head.time_ns);
	event->thread = from->thread;
	events->size += HI_STREAM_EVENT_FREE_BYTES;
	events_out_note_time(events, from->time_ns);
	return err;
}

#endif
