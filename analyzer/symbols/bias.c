/* SPDX-License-Identifier: MIT */
/*
 * bias.c - finds the program header that the mapping was made from. Start at bias_complete().
 */
#include "bias.h"

#include <errno.h>
#include <gelf.h>

#include "objfile.h"

/*
 * The kernel maps whole pages: the first one may begin before the segment does. What their size was
 * where the profile was taken is not known, but no page is larger than the file's alignment allows.
 */
static const uint64_t page_sizes[] = {4096, 16384, 65536};

static bool holds(const GElf_Phdr *header, uint64_t page_bytes, uint64_t file_offset)
{
	const uint64_t first = header->p_offset & ~(page_bytes - 1);

	return header->p_type == PT_LOAD && (header->p_flags & PF_X) && file_offset >= first &&
	       file_offset < header->p_offset + header->p_filesz;
}

static bool may_be_mapped_by(const GElf_Phdr *header, uint64_t page_bytes)
{
	return page_bytes == page_sizes[0] || header->p_align % page_bytes == 0;
}

static bool find_segment(Elf *elf, uint64_t page_bytes, uint64_t file_offset, GElf_Phdr *out_header)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, out_header); i++) {
		if (may_be_mapped_by(out_header, page_bytes) &&
		    holds(out_header, page_bytes, file_offset))
			return true;
	}
	return false;
}

static uint64_t bias_in(Elf *elf, const struct profile_module *module)
{
	GElf_Phdr header;

	for (size_t i = 0; i < sizeof(page_sizes) / sizeof(page_sizes[0]); i++) {
		if (find_segment(elf, page_sizes[i], module->file_offset, &header))
			return module->lo -
			       (header.p_vaddr - header.p_offset + module->file_offset);
	}
	/* Right for most position-independent files, whose addresses are their offsets. */
	return module->lo - module->file_offset;
}

int bias_complete(struct profile *profile, const struct file_wish *wish)
{
	const struct file_source source = file_source_here(profile, wish);

	for (size_t i = 0; i < profile->module_count; i++) {
		struct profile_module *module = &profile->module[i];
		struct objfile file = OBJFILE_CLOSED;

		if (module->bias != PROFILE_BIAS_UNKNOWN)
			continue;
		/* The first mapping is the main program's. */
		if (objfile_open(&source, module, i == 0 ? wish->binary : NULL, &file) == -ENOMEM)
			return -ENOMEM;
		module->bias = bias_in(file.elf, module);
		objfile_close(&file);
	}
	return 0;
}
