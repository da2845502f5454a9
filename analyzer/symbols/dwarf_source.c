/* SPDX-License-Identifier: MIT */
/* dwarf_source.c - see dwarf_source.h. */
#include "dwarf_source.h"

#include <dwarf.h>
#include <errno.h>

/* units to check; the first ones are those of the C library's start files */
#define UNITS_ASKED 16

bool dwarf_source_is_terminated(Elf *elf, const char *name)
{
	Elf_Scn *section = objfile_section(elf, SHT_NULL, name);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return !data || !data->d_size ||
	       (data->d_buf && ((const char *)data->d_buf)[data->d_size - 1] == 0);
}

void dwarf_source_close(struct dwarf_source *source)
{
	dwarf_end(source->dwarf);
	debug_image_close(&source->image);
	source->dwarf = NULL;
}

void dwarf_source_open(const struct objfile *file, bool whole, struct dwarf_source *source)
{
	const int err = whole ? -ENOTSUP : debug_image_open(file, &source->image);
	Elf *elf = err ? file->elf : source->image.elf;

	source->dwarf = err == -ENOENT ? NULL : dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!source->dwarf || !dwarf_source_is_terminated(elf, ".debug_str") ||
	    !dwarf_source_is_terminated(elf, ".debug_line_str"))
		dwarf_source_close(source);
}

bool dwarf_source_is_split(Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	uint8_t type = 0;

	for (int i = 0; dwarf && i < UNITS_ASKED && type != DW_UT_skeleton; i++) {
		if (dwarf_get_units(dwarf, cu, &cu, NULL, &type, NULL, NULL))
			return false;
	}
	return type == DW_UT_skeleton;
}
