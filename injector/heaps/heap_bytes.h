/* SPDX-License-Identifier: MIT */
/*
 * heap_bytes.h - memory of the process for a reader, which never touches a page that is not
 * resident.
 */
#ifndef HI_HEAP_BYTES_H
#define HI_HEAP_BYTES_H

#include "heap.h"

/* A range of memory as it was at about one time. Zero-initialized = empty. */
struct heap_bytes {
	remote_addr lo;
	size_t size;
	uint8_t *byte; /* owned */
	size_t room;
	/* where a page begins of which nothing is known, as it is swapped out; else the end */
	remote_addr known_hi;
};

/*
 * Reads [lo, lo + size); what was never written to is zero. What lies from a page on that is
 * swapped out, or that is mapped no more, is not known: known_hi. 0, -ENOMEM, or an error of
 * the memory.
 */
must_check int heap_bytes_read(struct heap_bytes *bytes, const struct heap_source *source,
			       remote_addr lo, size_t size);
void heap_bytes_close(struct heap_bytes *bytes);

static inline bool heap_bytes_has(const struct heap_bytes *bytes, remote_addr at, size_t size)
{
	return at >= bytes->lo && at <= bytes->known_hi && bytes->known_hi - at >= size;
}

/* The word at `at`, which must be there. */
static inline uint64_t heap_bytes_word(const struct heap_bytes *bytes, remote_addr at)
{
	uint64_t word;

	__builtin_memcpy(&word, bytes->byte + (at - bytes->lo), sizeof(word));
	return word;
}

/* One word, without a range. -ENODATA: it is swapped out, or not mapped. What was never written to
 * is 0. */
must_check int heap_word(const struct heap_source *source, remote_addr at, uint64_t *out_word);

#endif
