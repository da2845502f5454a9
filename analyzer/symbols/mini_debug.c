/* SPDX-License-Identifier: MIT */
/* mini_debug.c - see mini_debug.h. Enter at mini_debug_open(). */
#include "mini_debug.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "hi_debug_files.h"
#include "objfile.h"

#define SIZE_FIRST (256u << 10)

/* Unpacks into a buffer that is doubled until it is large enough. */
static int unpack(const Elf_Data *packed, uint8_t **out_bytes, size_t *out_size)
{
	for (size_t room = SIZE_FIRST; room <= HI_MINI_DEBUG_SIZE_MAX; room *= 2) {
		uint8_t *bytes = malloc(room);
		size_t size = room;

		if (!bytes)
			return -ENOMEM;
		const int err =
			hi_mini_debug_unpack(packed->d_buf, packed->d_size, NULL, bytes, &size);
		if (!err) {
			*out_bytes = bytes;
			*out_size = size;
			return 0;
		}
		free(bytes);
		if (err != -ENOBUFS)
			return err;
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
