/* SPDX-License-Identifier: MIT */
/*
 * elf_segment.h - bytes of an ELF file by the address that they will have in memory, found through
 * program headers only.
 *
 * Section headers may be stripped or wrong; the program headers, which the kernel and the dynamic
 * linker use, are in every file that runs. The file may be hostile: a chunk is returned only if it
 * lies in the file contents of one PT_LOAD, and libelf has checked it against the end of the file.
 */
#ifndef HI_ELF_SEGMENT_H
#define HI_ELF_SEGMENT_H

#include <gelf.h>
#include <stdbool.h>

#include "memory.h"

/* No table or section of a real object is larger; a sparse file may be. */
#define ELF_SEGMENT_BYTES_MAX (256u << 20)

/*
 * The kernel does not run a file with more program headers. Those beyond this number are not read.
 */
#define ELF_SEGMENTS_MAX 1170u

/* The first program header of a type. False: there is none. */
bool elf_segment_find(Elf *elf, uint32_t type, GElf_Phdr *out_segment);
/* Iterates over the program headers of a type: *at starts at 0. False: there are no more. */
bool elf_segment_next(Elf *elf, uint32_t type, size_t *at, GElf_Phdr *out_segment);
/*
 * Number of bytes of file contents from this address (in the file) to the end of its segment; 0 =
 * none. At most ELF_SEGMENT_BYTES_MAX.
 */
uint64_t elf_segment_room(Elf *elf, uint64_t address);
/*
 * The bytes [address, address + size), valid until elf_end, not necessarily aligned. -EFAULT: not
 * all of them exist, or size is too large.
 */
must_check int elf_segment_bytes(Elf *elf, uint64_t address, uint64_t size, const void **out_bytes);
/*
 * What the file has at a page, or a piece of one, of HI_PAGE_BYTES, that begins at this address. A
 * page is mapped as a whole: it also holds what the file has before and after the segment. Returns
 * how many bytes are known, at least those of the segment; 0: none.
 */
size_t elf_segment_piece(Elf *elf, uint64_t piece, const void **out_bytes);

#endif
