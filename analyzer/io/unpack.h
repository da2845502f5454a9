/* SPDX-License-Identifier: MIT */
/*
 * unpack.h - the contents of a gzip or zstd file, from front to end.
 *
 * Small files can unpack to any size. So output out of all proportion to the packed size is refused
 * (UNPACK_RATIO_MAX), and so is more than UNPACK_MAX. The memory is that of the decompressor, at
 * most 128 MiB. Does not own the descriptor.
 */
#ifndef HI_UNPACK_H
#define HI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNPACK_MAX (16ull << 30) /* bytes */
/*
 * Unpacked bytes for each packed one, beyond the first UNPACK_FREE. A program that allocates and
 * frees in a loop makes a heaptrack recording that packs to a ten-thousandth; a bomb packs to a
 * thirty-thousandth.
 */
#define UNPACK_RATIO_MAX 20000u
#define UNPACK_FREE (64u << 20)

struct unpack;

/* True if these first bytes of a file (4 are enough) are those of a compressed one. */
bool unpack_recognize(const uint8_t *bytes, size_t size);
/* first: the bytes that have been read from fd already; they are copied. 0 or -ENOMEM. */
int unpack_open(int fd, const uint8_t *first, size_t size, struct unpack **out_unpack);
/*
 * Unpacks the next bytes, at most `size`, and returns their number; 0 at the end, or a negative
 * errno. -EBADMSG: the data is damaged, cut off or a bomb; unpack_complaint() says which.
 */
ssize_t unpack_read(struct unpack *unpack, uint8_t *to, size_t size);
/* NULL if all was well, else a constant string. */
const char *unpack_complaint(const struct unpack *unpack);
void unpack_close(struct unpack *unpack); /* NULL is allowed */

#endif
