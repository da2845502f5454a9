/* SPDX-License-Identifier: MIT */
/*
 * entry_code.h - whether code of a process is as in the file of its image, so that it can be
 * changed and changed back.
 */
#ifndef HI_ENTRY_CODE_H
#define HI_ENTRY_CODE_H

#include "elf_images.h"
#include "procfs.h"
#include "memory.h"

#define ENTRY_CODE_MAX 64u /* bytes that can be compared at once */

struct entry_code {
	const struct maps *maps;
	/* NULL: it is assumed to be as it will be once all changes of the injector are removed */
	const struct memory *memory;
};

/* file: what the file has at this address, ENTRY_CODE_MAX bytes at most. */
bool entry_code_is_as_in_file(const struct entry_code *code, const struct elf_image *image,
			      remote_addr at, const uint8_t *file, size_t size);
/* The same of the whole page: one that was written to is no longer the file's (code_swap.h). */
bool entry_code_is_page_as_in_file(const struct entry_code *code, const struct elf_image *image,
				   remote_addr at);

#endif
