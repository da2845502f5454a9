/* SPDX-License-Identifier: MIT */
/*
 * unwind_bounds.h - where the functions of a stripped file begin and end, by its unwind
 * information, which each function has that can be unwound through.
 *
 * Reads .eh_frame_hdr in the one form that linkers write (a sorted table of 32-bit offsets), and of
 * each function that is asked for its entry in .eh_frame, whose beginning must agree with the
 * table. libdw's dwarf_getcfi_elf() would also read other forms, but parses all of .eh_frame, of a
 * file that may be hostile. Everything is read with pread; loops are limited by the file's size.
 */
#ifndef HI_UNWIND_BOUNDS_H
#define HI_UNWIND_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "objfile.h"

struct unwind_bounds {
	uint64_t base; /* address of .eh_frame_hdr */
	struct unwind_entry *entry;
	size_t count;
};

/* 0; -ENOENT: the file has no table, or one in another form; -ENOMEM. */
int unwind_bounds_open(const struct objfile *file, struct unwind_bounds *out_bounds);
void unwind_bounds_close(struct unwind_bounds *bounds);
/*
 * Where the function begins that contains an address of the file, which is the one that the bounds
 * were opened with. 0, or -ENOENT if none does for certain.
 */
int unwind_bounds_find(const struct unwind_bounds *bounds, const struct objfile *file,
		       uint64_t address, uint64_t *out_begin);

#endif
