/* SPDX-License-Identifier: MIT */
/*
 * glibc_state.h - one arena of glibc's malloc: struct malloc_state of malloc/malloc.c, glibc 2.27
 * to 2.41, 64-bit.
 */
#ifndef HI_GLIBC_STATE_H
#define HI_GLIBC_STATE_H

#include <string.h>

#include "heap.h"

#define GLIBC_WORD 8u
#define GLIBC_HEAD_BYTES 8u      /* before a block, the size and flags of its chunk */
#define GLIBC_CHUNK_TO_BLOCK 16u /* from a chunk to its block */
#define GLIBC_CHUNK_BYTES_MIN 32u
#define GLIBC_ALIGNMENT 16u
#define GLIBC_FENCE_BYTES 16u /* a chunk without a block, where memory ends */

/* Flags in the size of a chunk. */
#define GLIBC_PREVIOUS_IN_USE 1u
#define GLIBC_IS_MAPPED 2u
#define GLIBC_NOT_MAIN_ARENA 4u
#define GLIBC_FLAGS 7u

/* The members of an arena. */
#define GLIBC_STATE_FAST 0x10u /* lists of small freed chunks */
#define GLIBC_FAST_COUNT 10u
#define GLIBC_STATE_TOP 0x60u
#define GLIBC_STATE_BINS 0x70u /* the other lists of freed chunks, two words each */
#define GLIBC_BIN_COUNT 127u
#define GLIBC_BIN_BYTES 16u
#define GLIBC_BIN_TO_CHUNK 16u /* an empty list refers to itself as if it was a chunk */
#define GLIBC_STATE_NEXT 0x870u
#define GLIBC_STATE_BYTES 0x898u

static inline uint64_t glibc_word(const uint8_t *byte)
{
	uint64_t word;

	memcpy(&word, byte, sizeof(word));
	return word;
}

static inline bool glibc_is_aligned(uint64_t address)
{
	return address && address % GLIBC_ALIGNMENT == 0;
}

/* Do these bytes look like an arena that is at `at`? */
bool glibc_state_is(const uint8_t state[GLIBC_STATE_BYTES], remote_addr at);
/* -EPROTO: no arena is there. Or -ENOMEM, or an error of the memory. */
must_check int glibc_state_read(const struct heap_source *source, remote_addr arena,
				uint8_t out_state[GLIBC_STATE_BYTES]);

#endif
