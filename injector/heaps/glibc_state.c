/* SPDX-License-Identifier: MIT */
/* glibc_state.c - see glibc_state.h. */
#include "glibc_state.h"

#include <errno.h>

#include "heap_bytes.h"

#define EMPTY_MIN \
	2u /* of all lists: a busy arena may have few, and all the others lead somewhere */

bool glibc_state_is(const uint8_t state[GLIBC_STATE_BYTES], remote_addr at)
{
	unsigned empty = 0;

	if (!glibc_is_aligned(glibc_word(state + GLIBC_STATE_TOP)) ||
	    !glibc_is_aligned(glibc_word(state + GLIBC_STATE_NEXT)))
		return false;
	for (unsigned i = 0; i < GLIBC_BIN_COUNT; i++) {
		const unsigned offset = GLIBC_STATE_BINS + i * GLIBC_BIN_BYTES;
		const uint64_t forward = glibc_word(state + offset);
		const uint64_t back = glibc_word(state + offset + GLIBC_WORD);
		const uint64_t self = at + offset - GLIBC_BIN_TO_CHUNK;

		if (!glibc_is_aligned(forward) || !glibc_is_aligned(back))
			return false;
		empty += forward == self && back == self;
	}
	return empty >= EMPTY_MIN;
}

int glibc_state_read(const struct heap_source *source, remote_addr arena,
		     uint8_t out_state[GLIBC_STATE_BYTES])
{
	struct heap_bytes bytes = {.byte = out_state, .room = GLIBC_STATE_BYTES};
	const int err = heap_bytes_read(&bytes, source, arena, GLIBC_STATE_BYTES);

	if (err)
		return err;
	return glibc_state_is(out_state, arena) ? 0 : -EPROTO;
}
