/* SPDX-License-Identifier: MIT */
/*
 * payload_image.h - the payload .so that is embedded in this program, and what the injector needs
 * to know about it.
 */
#ifndef HI_PAYLOAD_IMAGE_H
#define HI_PAYLOAD_IMAGE_H

#include "hi_wire.h"
#include "hook_table.h"
#include "memory.h"

struct payload_image {
	const uint8_t *file; /* the .so, in this program's read-only data */
	size_t file_size;
	/*
	 * its single r-x segment in the file, which holds all that is needed at run time (file
	 * offset == address)
	 */
	uint64_t text_offset, text_size;
	uint64_t hook[HI_FUNCTION_COUNT]; /* offsets from the load address; 0 = none */
	struct {
		const uint8_t *code;
		size_t size;
		/*
		 * offset of the HI_GATE_EXIT_BYTES through which it continues in the function; 0:
		 * it has none
		 */
		size_t exit;
	} gate[GATE_CLASS_COUNT];
	uint64_t store; /* offset of hi_store_words, like the hooks */
	size_t store_size;
};
#define PAYLOAD_STORE_MAX 256u /* store_size at most */

/* Parses the embedded image. -EINVAL: the build is broken. */
must_check int payload_image_open(struct payload_image *out_image);

#endif
