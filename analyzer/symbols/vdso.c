/* SPDX-License-Identifier: MIT */
/* vdso.c - see vdso.h. The kernel's data is trusted. */
#include "vdso.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/*
 * The size of the mapping: whole pages. The section headers come after the last segment, in a page
 * of their own if that ends with one (Linux 6.12 for arm64).
 */
static size_t mapped_size(const ElfW(Ehdr) * header)
{
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
	const size_t page = getauxval(AT_PAGESZ);
	size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;

	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD &&
		    segment[i].p_offset + segment[i].p_filesz > size)
			size = segment[i].p_offset + segment[i].p_filesz;
	}
	return page ? (size + page - 1) / page * page : size;
}

Elf *vdso_open(void)
{
	const uintptr_t address = getauxval(AT_SYSINFO_EHDR);

	if (!address || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	/* libelf only reads the image, as it is not asked to update it. */
	return elf_memory((char *)address, mapped_size((const ElfW(Ehdr) *)address));
}
