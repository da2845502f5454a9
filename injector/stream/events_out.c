/* SPDX-License-Identifier: MIT */
/* events_out.c - see events_out.h: the operations that run only once for thousands of events. */
#include "events_out.h"

#include <string.h>

_Static_assert(EVENTS_OUT_BYTES <= UINT16_MAX, "a place is 16 bits");
_Static_assert(HI_FUNCTION_COUNT < UINT64_MAX >> HI_STREAM_EVENT_ADDRESS_BITS,
	       "a function fits above the address");

int events_out_close(struct events_out *events, struct stream_out *out)
{
	const uint32_t size = events->size;
	events->size = 0;
	return size ? stream_out_record(out, HI_STREAM_EVENTS, &events->record, size, NULL, 0) : 0;
}

int events_out_alone(struct events_out *events, struct stream_out *out, uint16_t type, void *fixed,
		     size_t fixed_size)
{
	const int err = events_out_close(events, out);
	return err ? err : stream_out_record(out, type, fixed, fixed_size, NULL, 0);
}

int events_out_begin(struct events_out *events, struct stream_out *out, uint64_t time_ns,
		     uint64_t interval)
{
	const uint64_t before = events->record.head.interval;
	const int err = events_out_close(events, out);
	events->record.head = (struct hi_stream_events){.time_ns = time_ns,
							.last_ns = time_ns,
							.interval = interval ? interval
								    : before ? before
									     : 1};
	events->size = sizeof(events->record.head);
	memset(events->place, 0, sizeof(events->place));
	return err;
}
