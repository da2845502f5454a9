/* SPDX-License-Identifier: MIT */
/* image_data.c - see image_data.h. */
#include "image_data.h"

#include "elf_segment.h"

#define BYTES_MAX (64u << 20)
#define WORD_BYTES 8u

int image_data_read(struct image_data *data, const struct heap_source *source,
		    const struct elf_image *image)
{
	uint64_t room = BYTES_MAX;
	GElf_Phdr segment;
	size_t at = 0;
	int err = 0;

	while (!err && data->count < IMAGE_DATA_SEGMENTS &&
	       elf_segment_next(image->elf, PT_LOAD, &at, &segment)) {
		const remote_addr lo = (image->bias + segment.p_vaddr) / WORD_BYTES * WORD_BYTES;

		if (!(segment.p_flags & PF_W) || segment.p_memsz > room)
			continue;
		room -= segment.p_memsz;
		err = heap_bytes_read(&data->segment[data->count++], source, lo, segment.p_memsz);
	}
	return err;
}

void image_data_close(struct image_data *data)
{
	for (size_t i = 0; i < data->count; i++)
		heap_bytes_close(&data->segment[i]);
	data->count = 0;
}

const struct heap_bytes *image_data_find(const struct image_data *data, remote_addr at, size_t size)
{
	for (size_t i = 0; i < data->count; i++)
		if (heap_bytes_has(&data->segment[i], at, size))
			return &data->segment[i];
	return NULL;
}
