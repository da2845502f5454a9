/* SPDX-License-Identifier: MIT */
/* function_forwarding.h - what forwarding.h says of a function of the test itself. */
#ifndef FUNCTION_FORWARDING_H
#define FUNCTION_FORWARDING_H

#include "forwarding.h"

#include "own_images.h"
#include "unwind_table.h"

static inline enum forwarding of_kept(void (*function)(void), unsigned kept)
{
	struct own own = own_open();
	const struct elf_image *image = elf_images_find(&own.images, (uintptr_t)function);
	struct eh_section section;
	struct eh_frame frame;
	enum forwarding result;

	CHECK(image);
	CHECK_EQ(unwind_table_section(image, &section), 0);
	CHECK_EQ(eh_frame_parse(&section, 0, UINT64_MAX, &frame), 0);
	result = forwarding_of(image, &frame, (uintptr_t)function, kept);
	eh_frame_close(&frame);
	own_close(&own);
	return result;
}

#endif
