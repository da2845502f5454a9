/* SPDX-License-Identifier: MIT */
/*
 * data_places.h - what is at an address in the writable data of a process's objects: a global
 * variable, where the object or its debug file has symbols, or a place in .data or .bss.
 */
#ifndef HI_DATA_PLACES_H
#define HI_DATA_PLACES_H

#include "elf_images.h"

#define DATA_VARIABLES_MAX (4u << 20)

struct data_variable {
	remote_addr lo, hi;
	size_t name; /* in names[]; as the file has it, not readable */
};

/* A writable segment of an object. */
struct data_segment {
	remote_addr lo, hi;
	remote_addr bss; /* from here on the file has nothing */
	const struct elf_image *image;
};

/* Zero-initialized = empty. */
struct data_places {
	struct data_segment *segment; /* by address */
	size_t segment_count, segment_room;
	struct data_variable *variable; /* by address; they do not overlap */
	size_t variable_count, variable_room;
	char *names;
	size_t names_size, names_room;
	bool is_cut; /* there were more, or the symbols are larger than is read */
};

/* images: after elf_debug_find(). 0 or -ENOMEM. Close it in either case. */
must_check int data_places_find(const struct elf_images *images, struct data_places *out_places);
void data_places_close(struct data_places *places);
/* NULL: there is none. */
const struct data_segment *data_places_segment(const struct data_places *places, remote_addr at);
const struct data_variable *data_places_variable(const struct data_places *places, remote_addr at);

#endif
