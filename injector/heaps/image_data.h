/* SPDX-License-Identifier: MIT */
/*
 * image_data.h - the writable data of an object, as it is in memory: where an allocator that is
 * linked into it has its own variables, whether the object has symbols or not.
 */
#ifndef HI_IMAGE_DATA_H
#define HI_IMAGE_DATA_H

#include "heap_bytes.h"

#define IMAGE_DATA_SEGMENTS 4u

/* Zero-initialized = empty. */
struct image_data {
	struct heap_bytes segment[IMAGE_DATA_SEGMENTS]; /* page by page as in memory, zeros too */
	size_t count;
};

/* 0, -ENOMEM, or an error of the memory. What is beyond 64 MB is left out. Close it in any case. */
must_check int image_data_read(struct image_data *data, const struct heap_source *source,
			       const struct elf_image *image);
void image_data_close(struct image_data *data);
/* The segment that has these bytes, or NULL. */
const struct heap_bytes *image_data_find(const struct image_data *data, remote_addr at,
					 size_t size);

#endif
