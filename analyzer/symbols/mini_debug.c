/* SPDX-License-Identifier: MIT */
/* mini_debug.c - see mini_debug.h. Enter at mini_debug_open(). */
#include "mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>

#include "objfile.h"

/*
 * The largest ones in a distribution are some hundred kB, and their decoders need 9 MB at most. A
 * file that claims more is rejected.
 */
#define DECODER_MAX (64u << 20)
#define SIZE_FIRST (256u << 10)
#define SIZE_MAX_UNPACKED (64u << 20)

/* Unpacks into a buffer that is doubled until it is large enough. */
static int unpack(const Elf_Data *packed, uint8_t **out_bytes, size_t *out_size)
{
	for (size_t size = SIZE_FIRST; size <= SIZE_MAX_UNPACKED; size *= 2) {
		uint64_t memory_max = DECODER_MAX;
		size_t in_at = 0, out_at = 0;
		uint8_t *bytes = malloc(size);

		if (!bytes)
			return -ENOMEM;
		const lzma_ret result =
			lzma_stream_buffer_decode(&memory_max, 0, NULL, packed->d_buf, &in_at,
						  packed->d_size, bytes, &out_at, size);
		if (result == LZMA_OK) {
			*out_bytes = bytes;
			*out_size = out_at;
			return 0;
		}
		free(bytes);
		if (result != LZMA_BUF_ERROR)
			return result == LZMA_MEM_ERROR ? -ENOMEM : -ENOENT;
	}
	return -ENOENT;
}

int mini_debug_open(Elf *elf, struct mini_debug *out_mini)
{
	Elf_Scn *section = objfile_section(elf, SHT_NULL, ".gnu_debugdata");
	const Elf_Data *packed = section ? elf_rawdata(section, NULL) : NULL;
	uint8_t *bytes;
	size_t size;

	if (!packed || !packed->d_buf || !packed->d_size)
		return -ENOENT;
	const int err = unpack(packed, &bytes, &size);
	if (err)
		return err;
	struct mini_debug mini = {.elf = elf_memory((char *)bytes, size), .bytes = bytes};
	if (!mini.elf || elf_kind(mini.elf) != ELF_K_ELF) {
		mini_debug_close(&mini);
		return -ENOENT;
	}
	*out_mini = mini;
	return 0;
}

void mini_debug_close(struct mini_debug *mini)
{
	if (mini->elf)
		elf_end(mini->elf);
	free(mini->bytes);
	*mini = (struct mini_debug){0};
}
