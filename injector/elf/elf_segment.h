/* SPDX-License-Identifier: MIT */
/*
 * elf_segment.h - bytes of an ELF file by the address they will have, found through program headers only.
 *
 * Section headers may be stripped, or lie; what the kernel and the dynamic linker go by is there in every file that runs. The file is hostile: a chunk is
 * returned only if it lies in the file contents of one PT_LOAD, and libelf has checked it against the end of the file.
 */
#ifndef HI_ELF_SEGMENT_H
#define HI_ELF_SEGMENT_H

#include <gelf.h>
#include <stdbool.h>

#include "memory.h"

/* No table or section of a real object is larger; a sparse file may be. */
#define ELF_SEGMENT_BYTES_MAX (256u << 20)

/* More program headers than this the kernel does not run. Those beyond are not looked at. */
#define ELF_SEGMENTS_MAX 1170u

/* The first program header of a type. False: there is none. */
bool elf_segment_find(Elf *elf, uint32_t type, GElf_Phdr *out_segment);
/* One after the other: *at is 0 at first. False: there are no more. */
bool elf_segment_next(Elf *elf, uint32_t type, size_t *at, GElf_Phdr *out_segment);
/* How many bytes of file contents there are from this address (of the file) to the end of its segment; 0 = none. At most ELF_SEGMENT_BYTES_MAX. */
uint64_t elf_segment_room(Elf *elf, uint64_t address);
/* The bytes [address, address + size), valid until elf_end, not necessarily aligned. -EFAULT: not all there, or too many. */
must_check int elf_segment_bytes(Elf *elf, uint64_t address, uint64_t size, const void **out_bytes);

#endif
