/* SPDX-License-Identifier: MIT */
/*
 * stream_out.h - writing the record stream (hi_stream.h) to a pipe or file without ever blocking
 * the pump.
 *
 * A reader that stalls must not stall the injector: records queue in memory up to a bound. Beyond
 * it stream_out_is_full tells the pump to leave the ring alone; then the payload drops records and
 * counts them.
 */
#ifndef HI_STREAM_OUT_H
#define HI_STREAM_OUT_H

#include <stdbool.h>

#include "hi_stream.h"
#include "memory.h"

struct stream_out {
	int fd; /* non-blocking; not owned */
	uint8_t *buffer;
	size_t begin, end, room;
	int err; /* first write error (-EPIPE: the reader is gone); sticky */
};

struct stream_part {
	const void *bytes;
	size_t size;
};

must_check int stream_out_open(struct stream_out *out, int fd);
void stream_out_close(struct stream_out *out);

/*
 * Queues one record: its fixed part (which starts with struct hi_stream_record; size and type are
 * set here), then the variable parts, padded. Returns -ENOMEM or the sticky error.
 */
must_check int stream_out_record(struct stream_out *out, uint16_t type, void *fixed,
				 size_t fixed_size, const struct stream_part *parts,
				 size_t part_count);
/* Writes as much as the descriptor accepts now. */
must_check int stream_out_flush(struct stream_out *out);
/* Writes everything, waiting at most deadline_ms for the reader. -ETIMEDOUT. */
must_check int stream_out_drain(struct stream_out *out, int deadline_ms);
bool stream_out_is_full(const struct stream_out *out);

#endif
