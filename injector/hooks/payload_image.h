/* SPDX-License-Identifier: MIT */
/*
 * payload_image.h - the payload .so that is embedded in this program, and what the injector needs
 * to know about it.
 */
#ifndef HI_PAYLOAD_IMAGE_H
#define HI_PAYLOAD_IMAGE_H

#include "hi_wire.h"
#include "memory.h"

enum gate_class {
	GATE_ALLOC,
	GATE_SIZE2,
	GATE_SIZEARG2,
	GATE_SIZEARG3,
	GATE_FREE,
	GATE_REALLOC,
	GATE_REALLOC_NULL,
	GATE_ALWAYS,
	GATE_INERT,
	GATE_RESTORE,
	GATE_CLASS_COUNT
};

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
/* The gate template that serves a function. */
enum gate_class gate_class_of(enum hi_function function);

#endif
