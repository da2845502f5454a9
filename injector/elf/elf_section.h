/* SPDX-License-Identifier: MIT */
/*
 * elf_section.h - a section of an ELF file by its name. No object needs section headers to run: a
 * section may be missing, and what the headers say may be wrong.
 */
#ifndef HI_ELF_SECTION_H
#define HI_ELF_SECTION_H

#include <gelf.h>
#include <stdbool.h>

/* False: there is none of that name. */
bool elf_section_find(Elf *elf, const char *name, GElf_Shdr *out_header);

#endif
