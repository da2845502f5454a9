/* SPDX-License-Identifier: MIT */
/* glibc_version.c - see glibc_version.h. */
#include "glibc_version.h"

#include <limits.h>
#include <stdio.h>

#include "steps.h"

#define DEFINITIONS_MAX 4096u /* glibc 2.36 has 40; a chain may be circular */

static Elf_Data *find_definitions(Elf *elf, GElf_Shdr *out_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, out_header) && out_header->sh_type == SHT_GNU_verdef)
			return elf_getdata(section, NULL);
	return NULL;
}

static int minor_of(Elf *elf, Elf_Data *data, const GElf_Shdr *header, size_t at)
{
	GElf_Verdaux name;
	const char *text = at <= INT_MAX && gelf_getverdaux(data, (int)at, &name)
				   ? elf_strptr(elf, header->sh_link, name.vda_name)
				   : NULL;
	int minor;

	return text && sscanf(text, "GLIBC_2.%4d", &minor) == 1 ? minor : 0;
}

int glibc_version(Elf *elf)
{
	struct steps steps = {DEFINITIONS_MAX};
	GElf_Shdr header;
	Elf_Data *data = find_definitions(elf, &header);
	GElf_Verdef definition;
	int newest = 0;

	for (size_t at = 0; data && at <= INT_MAX && steps_take(&steps) &&
			    gelf_getverdef(data, (int)at, &definition);
	     at += definition.vd_next) {
		const int minor = minor_of(elf, data, &header, at + definition.vd_aux);

		if (minor > newest)
			newest = minor;
		if (definition.vd_next == 0)
			break;
	}
	return newest;
}
