/* SPDX-License-Identifier: MIT */
/* elf_memory_copy.c - see elf_memory_copy.h. */
#include "elf_memory_copy.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"

#define SEGMENTS_MAX 64u

struct from {
	const struct memory *memory;
	struct pages *pages;
};

static int read_some(const struct from *from, remote_addr at, void *into, size_t size)
{
	struct pages_range range = {.lo = at, .byte = into, .size = size, .is_all = true};

	return from->pages ? pages_read(from->pages, from->memory, &range)
			   : memory_read(from->memory, at, into, size);
}

static int read_headers(const struct from *from, remote_addr at, Elf64_Ehdr *out_header,
			Elf64_Phdr out_segment[SEGMENTS_MAX])
{
	int err = read_some(from, at, out_header, sizeof(*out_header));

	if (err)
		return err;
	if (memcmp(out_header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    out_header->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOEXEC;
	if (out_header->e_phentsize != sizeof(Elf64_Phdr) || out_header->e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	return read_some(from, at + out_header->e_phoff, out_segment,
			 out_header->e_phnum * sizeof(Elf64_Phdr));
}

/* Copies a segment page by page. Pages that the program has unmapped since stay zero. */
static void copy_segment(const struct from *from, const Elf64_Phdr *segment, uint64_t bias,
			 char *copy)
{
	for (uint64_t at = 0; at < segment->p_filesz;) {
		const remote_addr address = bias + segment->p_vaddr + at;
		uint64_t piece = HI_PAGE_BYTES - address % HI_PAGE_BYTES;

		if (piece > segment->p_filesz - at)
			piece = segment->p_filesz - at;
		if (read_some(from, address, copy + segment->p_offset + at, piece) < 0)
			memset(copy + segment->p_offset + at, 0, piece);
		at += piece;
	}
}

int elf_memory_copy(const struct memory *memory, struct pages *pages, remote_addr header,
		    size_t most, void **out_copy, size_t *out_size)
{
	const struct from from = {memory, pages};
	Elf64_Phdr segment[SEGMENTS_MAX];
	uint64_t size = sizeof(Elf64_Ehdr), bias = 0, total = 0;
	Elf64_Ehdr ehdr;
	char *copy;
	int err = read_headers(&from, header, &ehdr, segment);

	if (err)
		return err;
	for (unsigned i = 0; i < ehdr.e_phnum; i++) {
		if (segment[i].p_type != PT_LOAD)
			continue;
		/*
		 * The sum is limited, too: overlapping segments must not make the injector read
		 * more than fits.
		 */
		if (segment[i].p_filesz > most - total ||
		    segment[i].p_offset > most - segment[i].p_filesz)
			return -ENOEXEC;
		total += segment[i].p_filesz;
		if (segment[i].p_offset + segment[i].p_filesz > size)
			size = segment[i].p_offset + segment[i].p_filesz;
		if (segment[i].p_offset == 0)
			bias = header - segment[i].p_vaddr;
	}
	if (size > most)
		return -ENOEXEC;
	copy = calloc(1, size);
	if (!copy)
		return -ENOMEM;
	for (unsigned i = 0; i < ehdr.e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			copy_segment(&from, &segment[i], bias, copy);
	/* Section headers are not loaded; the bytes at their offset are something else. */
	ehdr.e_shoff = ehdr.e_shnum = ehdr.e_shstrndx = 0;
	memcpy(copy, &ehdr, sizeof(ehdr));
	*out_copy = copy;
	*out_size = size;
	return 0;
}
