/* SPDX-License-Identifier: MIT */
/* entry_code.c - see entry_code.h. */
#include "entry_code.h"

#include <string.h>

#include "elf_segment.h"
#include "hi_wire.h"

bool entry_code_is_as_in_file(const struct entry_code *code, const struct elf_image *image,
			      remote_addr at, const uint8_t *file, size_t size)
{
	const struct mapping *mapping = maps_find(code->maps, at);
	uint8_t now[ENTRY_CODE_MAX];

	return size <= sizeof(now) && mapping && at + size <= mapping->hi && mapping->executable &&
	       !mapping->shared && mapping->inode == image->inode &&
	       mapping->device == image->device &&
	       (!code->memory ||
		(memory_read(code->memory, at, now, size) == 0 && memcmp(now, file, size) == 0));
}

bool entry_code_is_page_as_in_file(const struct entry_code *code, const struct elf_image *image,
				   remote_addr at)
{
	const remote_addr page = at / HI_PAGE_BYTES * HI_PAGE_BYTES;
	uint8_t now[HI_PAGE_BYTES];
	const void *file;
	const size_t known = elf_segment_page(image->elf, page - image->bias, &file);

	return known && (!code->memory || (memory_read(code->memory, page, now, known) == 0 &&
					   memcmp(now, file, known) == 0));
}
