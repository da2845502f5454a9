/* SPDX-License-Identifier: MIT */
/*
 * hi_debug_files.h - what a stripped ELF file says of the file that has its symbols, and the small
 * symbol table that it may have itself.
 *
 * Header-only, so that injector and analyzer can share it without sharing objects. All of it is
 * hostile input.
 */
#ifndef HI_DEBUG_FILES_H
#define HI_DEBUG_FILES_H

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/*
 * .gnu_debuglink: a file name, padded to 4, then the CRC of that file. NULL: the section is none.
 * The name lives as long as the section.
 */
static inline const char *hi_debug_link(const void *section, size_t size, uint32_t *out_crc)
{
	const char *name = section;

	if (!name || size < 8)
		return NULL;
	const size_t crc_at = (strnlen(name, size) + 4) & ~(size_t)3;
	if (crc_at + sizeof(*out_crc) > size)
		return NULL;
	memcpy(out_crc, name + crc_at, sizeof(*out_crc));
	return name;
}

/* Whether all of the file, which has `most` bytes at most, has that CRC. Reads by pread. */
static inline bool hi_debug_crc_matches(int fd, uint32_t wanted, uint64_t most)
{
	static _Thread_local unsigned char chunk[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t size;

	while ((size = pread(fd, chunk, sizeof(chunk), (off_t)at)) > 0 && at <= most) {
		crc = crc32(crc, chunk, (uInt)size);
		at += (uint64_t)size;
	}
	return size == 0 && at <= most && crc == wanted;
}

/*
 * .gnu_debugdata: an ELF file with the functions that .dynsym lacks, packed by xz. The largest ones
 * in a distribution are some hundred kB, and their decoders need 9 MB at most. A file that claims
 * more is rejected.
 */
#define HI_MINI_DEBUG_DECODER_MAX (64u << 20)
#define HI_MINI_DEBUG_SIZE_MAX (64u << 20)

/*
 * Unpacks it. *io_size: bytes of room, then bytes unpacked. allocator: NULL = malloc. -ENOBUFS: too
 * little room; -ENOMEM; -ENOENT: it cannot be unpacked.
 */
static inline int hi_mini_debug_unpack(const void *packed, size_t packed_size,
				       const lzma_allocator *allocator, void *into, size_t *io_size)
{
	uint64_t memory_max = HI_MINI_DEBUG_DECODER_MAX;
	size_t in_at = 0, out_at = 0;

	switch (lzma_stream_buffer_decode(&memory_max, 0, allocator, (const uint8_t *)packed,
					  &in_at, packed_size, (uint8_t *)into, &out_at,
					  *io_size)) {
	case LZMA_OK:
		*io_size = out_at;
		return 0;
	case LZMA_BUF_ERROR:
		return -ENOBUFS;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	default:
		return -ENOENT;
	}
}

#endif
