/* SPDX-License-Identifier: MIT */
/* elf_section.c - see elf_section.h. */
#include "elf_section.h"

#include <string.h>

bool elf_section_find(Elf *elf, const char *name, GElf_Shdr *out_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, out_header)
					    ? elf_strptr(elf, names, out_header->sh_name)
					    : NULL;

		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}
