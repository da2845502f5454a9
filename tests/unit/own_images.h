/* SPDX-License-Identifier: MIT */
/*
 * own_images.h - the test's own process as a target, for tests of elf_images, slots and
 * unwind_table.
 */
#ifndef HI_OWN_IMAGES_H
#define HI_OWN_IMAGES_H

#include <unistd.h>

#include "elf_images.h"
#include "unit.h"

struct own {
	struct memory memory;
	struct maps maps;
	struct elf_images images;
};

static inline struct own own_open(void)
{
	struct own own;

	CHECK_EQ(memory_open(&own.memory, getpid(), getpid()), 0);
	CHECK_EQ(maps_read(getpid(), getpid(), &own.maps), 0);
	CHECK_EQ(elf_images_read(getpid(), &own.maps, &own.memory, &own.images), 0);
	return own;
}

static inline void own_close(struct own *own)
{
	elf_images_close(&own->images);
	maps_close(&own->maps);
	memory_close(&own->memory);
}

static inline remote_addr address_of(const void *pointer)
{
	return (remote_addr)(uintptr_t)pointer;
}

/* The image whose path contains `part`; the case fails if there is none. */
static inline const struct elf_image *own_image(const struct own *own, const char *part)
{
	for (size_t i = 0; i < own->images.count; i++)
		if (strstr(own->images.image[i].path, part))
			return &own->images.image[i];
	UNIT_FAIL("no image %s", part);
}

#endif
