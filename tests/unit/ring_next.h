/* SPDX-License-Identifier: MIT */
/*
 * ring_next.h - records out of the rings one by one, for tests that look at what happens between
 * two of them.
 */
#ifndef HI_RING_NEXT_H
#define HI_RING_NEXT_H

#include <string.h>

#include "../../injector/stream/ring_reader.h" /* from the tests of the payload, too */

/* As ring_reader_read, for one record. */
static inline int ring_reader_next(struct ring_reader *reader, uint64_t now_ns,
				   uint64_t patience_ns, union ring_record *out_record)
{
	struct ring_batch batch = {.enough = 1};
	const int more = ring_reader_read(reader, now_ns, patience_ns, &batch);

	if (more == 1)
		memcpy(out_record, batch.word, batch.size);
	return more;
}

#endif
