/* SPDX-License-Identifier: MIT */
/* elf_segment.c - see elf_segment.h. */
#include "elf_segment.h"

#include <errno.h>

#include "hi_page.h"

bool elf_segment_next(Elf *elf, uint32_t type, size_t *at, GElf_Phdr *out_segment)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (; *at < count && *at < ELF_SEGMENTS_MAX; ++*at) {
		if (!gelf_getphdr(elf, (int)*at, &segment))
			return false;
		if (segment.p_type != type)
			continue;
		*out_segment = segment;
		++*at;
		return true;
	}
	return false;
}

bool elf_segment_find(Elf *elf, uint32_t type, GElf_Phdr *out_segment)
{
	size_t at = 0;

	return elf_segment_next(elf, type, &at, out_segment);
}

/* The PT_LOAD whose file contents hold the address. */
static bool find_load(Elf *elf, uint64_t address, GElf_Phdr *out_load)
{
	for (size_t at = 0; elf_segment_next(elf, PT_LOAD, &at, out_load);)
		if (address >= out_load->p_vaddr &&
		    address - out_load->p_vaddr < out_load->p_filesz)
			return true;
	return false;
}

uint64_t elf_segment_room(Elf *elf, uint64_t address)
{
	uint64_t room;
	GElf_Phdr load;

	if (!find_load(elf, address, &load))
		return 0;
	room = load.p_filesz - (address - load.p_vaddr);
	return room < ELF_SEGMENT_BYTES_MAX ? room : ELF_SEGMENT_BYTES_MAX;
}

static uint64_t page_down(uint64_t address)
{
	return address / hi_page_bytes() * hi_page_bytes();
}

/*
 * The PT_LOAD whose contents lie in the page that has this address: the last one, which is mapped
 * over the others.
 */
static bool find_load_of_page(Elf *elf, uint64_t address, GElf_Phdr *out_load)
{
	const uint64_t page = page_down(address);
	GElf_Phdr load;
	bool is_found = false;

	for (size_t at = 0; elf_segment_next(elf, PT_LOAD, &at, &load);) {
		if (page_down(load.p_vaddr) > page ||
		    (page >= load.p_vaddr && page - load.p_vaddr >= load.p_filesz))
			continue;
		*out_load = load;
		is_found = true;
	}
	return is_found;
}

size_t elf_segment_piece(Elf *elf, uint64_t piece, const void **out_bytes)
{
	const Elf_Data *data;
	GElf_Phdr load;

	if (!find_load_of_page(elf, piece, &load))
		return 0;
	const uint64_t offset = load.p_offset + (piece - load.p_vaddr),
		       end = load.p_vaddr + load.p_filesz, room = piece < end ? end - piece : 0;
	size_t size = HI_PAGE_BYTES;

	if (offset > INT64_MAX - HI_PAGE_BYTES)
		return 0;
	data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data && room && room < size) { /* the file ends there */
		size = (size_t)room;
		data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	}
	if (!data || data->d_size != size)
		return 0;
	*out_bytes = data->d_buf;
	return size;
}

int elf_segment_bytes(Elf *elf, uint64_t address, uint64_t size, const void **out_bytes)
{
	uint64_t offset;
	const Elf_Data *data;
	GElf_Phdr load;

	if (size == 0 || size > ELF_SEGMENT_BYTES_MAX || !find_load(elf, address, &load) ||
	    size > load.p_filesz - (address - load.p_vaddr))
		return -EFAULT;
	offset = load.p_offset + (address - load.p_vaddr);
	if (offset > INT64_MAX - size)
		return -EFAULT;
	data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || data->d_size != size)
		return -EFAULT;
	*out_bytes = data->d_buf;
	return 0;
}
