/* SPDX-License-Identifier: MIT */
/*
 * elf_memory_copy.h - an ELF file reassembled from its loaded segments, for objects without a file
 * (the vdso) or with one that cannot be opened.
 */
#ifndef HI_ELF_MEMORY_COPY_H
#define HI_ELF_MEMORY_COPY_H

#include "pages.h"

/*
 * header: address of the ELF header in the target. The copy has the segments at their file offsets
 * and no section headers; data segments are as the program left them, relocated. The caller frees
 * the copy. pages: what is not resident is not touched, and is 0; NULL: all is read. -ENOEXEC: not
 * an ELF file of this word size, or one larger than `most` bytes.
 */
must_check int elf_memory_copy(const struct memory *memory, struct pages *pages, remote_addr header,
			       size_t most, void **out_copy, size_t *out_size);

#endif
