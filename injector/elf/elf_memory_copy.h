/* SPDX-License-Identifier: MIT */
/*
 * elf_memory_copy.h - an ELF file reassembled from its loaded segments, for objects without a file
 * (the vdso) or with one that cannot be opened.
 */
#ifndef HI_ELF_MEMORY_COPY_H
#define HI_ELF_MEMORY_COPY_H

#include "memory.h"

/*
 * header: address of the ELF header in the target. The copy has the segments at their file offsets
 * and no section headers; data segments are as the program left them, relocated. The caller frees
 * the copy. -ENOEXEC: not an ELF file of this word size, or one larger than `most` bytes.
 */
must_check int elf_memory_copy(const struct memory *memory, remote_addr header, size_t most,
			       void **out_copy, size_t *out_size);

#endif
