/* SPDX-License-Identifier: MIT */
/* dwarf_source.h - what libdw reads of one file: an image of its debug sections, or the file. */
#ifndef HI_DWARF_SOURCE_H
#define HI_DWARF_SOURCE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "debug_image.h"
#include "objfile.h"

/* Zero-initialized = closed. */
struct dwarf_source {
	struct debug_image image; /* not open: libdw reads the file itself */
	Dwarf *dwarf;
};

/*
 * Without debug information source->dwarf stays NULL. whole: libdw reads the file itself. It finds
 * split files beside the file by the file's descriptor, which an image does not have.
 */
void dwarf_source_open(const struct objfile *file, bool whole, struct dwarf_source *source);
void dwarf_source_close(struct dwarf_source *source);
/* True if one of the first units is in a file of its own. Then the others most likely are, too. */
bool dwarf_source_is_split(Dwarf *dwarf);
/*
 * libdw assumes that the last string of a section is terminated. Call this after libdw has unpacked
 * compressed sections.
 */
bool dwarf_source_is_terminated(Elf *elf, const char *name);

#endif
