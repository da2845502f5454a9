/* SPDX-License-Identifier: MIT */
/*
 * mini_debug.h - the small symbol table that some distributions leave in stripped files:
 * .gnu_debugdata, an ELF file packed by xz. It has the functions that .dynsym lacks, but no lines.
 * Everything in it is hostile input.
 */
#ifndef HI_MINI_DEBUG_H
#define HI_MINI_DEBUG_H

#include <libelf.h>

struct mini_debug {
	Elf *elf; /* NULL = not open */
	void *bytes;
};

/* The file need not stay open. 0, -ENOENT: it has none, or none that can be unpacked; -ENOMEM. */
int mini_debug_open(Elf *elf, struct mini_debug *out_mini);
void mini_debug_close(struct mini_debug *mini);

#endif
