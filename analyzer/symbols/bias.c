/* SPDX-License-Identifier: MIT */
/*
 * bias.c - finds the program header that the mapping was made from. Start at bias_complete().
 */
#include "bias.h"

#include <errno.h>
#include <gelf.h>

#include "objfile.h"

#define PAGE_MASK 4095u

/* The kernel maps whole pages: the first one may begin before the segment does. */
static bool holds(const GElf_Phdr *header, uint64_t file_offset)
{
	return header->p_type == PT_LOAD && (header->p_flags & PF_X) &&
	       file_offset >= (header->p_offset & ~(uint64_t)PAGE_MASK) &&
	       file_offset - (header->p_offset & ~(uint64_t)PAGE_MASK) < header->p_filesz;
}

static uint64_t bias_in(Elf *elf, const struct profile_module *module)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
		if (holds(&header, module->file_offset))
			return module->lo -
			       (header.p_vaddr - header.p_offset + module->file_offset);
	}
	/* Right for most position-independent files, whose addresses are their offsets. */
	return module->lo - module->file_offset;
}

int bias_complete(struct profile *profile, const char *binary)
{
	const struct file_source source = {.pid = profile->meta.pid, .exe = profile->meta.exe};

	for (size_t i = 0; i < profile->module_count; i++) {
		struct profile_module *module = &profile->module[i];
		struct objfile file = OBJFILE_CLOSED;

		if (module->bias != PROFILE_BIAS_UNKNOWN)
			continue;
		/* The first mapping is the main program's. */
		if (objfile_open(&source, module, i == 0 ? binary : NULL, &file) == -ENOMEM)
			return -ENOMEM;
		module->bias = bias_in(file.elf, module);
		objfile_close(&file);
	}
	return 0;
}
