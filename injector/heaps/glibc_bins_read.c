/* SPDX-License-Identifier: MIT */
/* glibc_bins_read.c - see glibc_bins_read.h. */
#include "glibc_bins_read.h"

#include "heap_bytes.h"
#include "steps.h"

/* struct malloc_state and malloc_chunk of glibc 2.31 to 2.41 */
#define BINS 0x70u
#define BIN_COUNT 127u
#define BIN_BYTES 16u
#define BIN_TO_CHUNK 16u
#define FORWARD 16u /* in a free chunk, the next one of its list */

#define STEPS_MAX (1u << 20)

int glibc_bins_next(const struct heap_source *source, remote_addr arena, remote_addr at,
		    remote_addr *out_chunk)
{
	struct steps steps = {STEPS_MAX};
	remote_addr nearest = 0;

	for (unsigned i = 0; i < BIN_COUNT; i++) {
		const remote_addr list = arena + BINS + i * BIN_BYTES - BIN_TO_CHUNK;
		remote_addr chunk = list;

		while (steps_take(&steps) && !heap_word(source, chunk + FORWARD, &chunk) &&
		       chunk != list) {
			if (chunk > at && (!nearest || chunk < nearest))
				nearest = chunk;
		}
	}
	if (nearest)
		*out_chunk = nearest;
	return 0;
}
