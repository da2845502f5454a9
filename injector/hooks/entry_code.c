/* SPDX-License-Identifier: MIT */
/* entry_code.c - see entry_code.h. */
#include "entry_code.h"

#include <string.h>

#include "elf_segment.h"
#include "hi_page.h"

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

static bool is_piece_as_in_file(const struct entry_code *code, const struct elf_image *image,
				remote_addr piece)
{
	uint8_t now[HI_PAGE_BYTES];
	const void *file;
	const size_t known = elf_segment_piece(image->elf, piece - image->bias, &file);

	return known && (!code->memory || (memory_read(code->memory, piece, now, known) == 0 &&
					   memcmp(now, file, known) == 0));
}

bool entry_code_is_page_as_in_file(const struct entry_code *code, const struct elf_image *image,
				   remote_addr at)
{
	remote_addr piece = at / hi_page_bytes() * hi_page_bytes();
	const remote_addr end = piece + hi_page_bytes();

	while (piece < end && is_piece_as_in_file(code, image, piece))
		piece += HI_PAGE_BYTES;
	return piece == end;
}
