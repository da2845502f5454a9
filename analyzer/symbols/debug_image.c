/* SPDX-License-Identifier: MIT */
/*
 * debug_image.c - see debug_image.h.
 *
 * The image is a file header, the section headers, their names, and the sections. First all sizes
 * are added up. Then each section is read to its place; packed sections are read into one buffer,
 * and unpacked to their place. A size that the file only claims costs address space but no memory.
 * Start at debug_image_open().
 */
#include "debug_image.h"

#include <errno.h>
#include <gelf.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD /* glibc has it from 2.37 on */
#define ELFCOMPRESS_ZSTD 2
#endif

#define ALIGNMENT 16u

/*
 * The sections that the walk over units and line tables may touch. Of the others, those with the
 * places of variables are by far the largest.
 */
static const char names[] = "\0.debug_info\0.debug_types\0.debug_abbrev\0.debug_addr\0.debug_"
			    "line\0.debug_line_str\0.debug_str\0.debug_str_offsets\0.debug_ranges\0"
			    ".debug_rnglists\0.debug_aranges\0.shstrtab";
#define SECTIONS_MAX 16u

struct section {
	Elf64_Word name;               /* offset in names */
	uint64_t at, size;             /* in the file */
	uint64_t to, whole_size;       /* in the image, unpacked */
	const struct packing *packing; /* NULL = not packed */
};

/* libelf 0.188 unpacks zstd only where it was built with it, which that of Debian 12 was not. */
struct packing {
	Elf64_Word type;
	unsigned expansion_max; /* no section gets larger by more than that */
	bool (*unpack)(const void *packed, size_t size, void *into, size_t whole_size);
};

struct layout {
	struct section section[SECTIONS_MAX];
	size_t count;
	uint64_t size, packed_max;
};

struct head {
	Elf64_Ehdr header;
	Elf64_Shdr section[SECTIONS_MAX + 2]; /* after the empty one, and before the names */
	char names[sizeof(names)];
};

/* The offset in names[]; 0 = not a wanted section. */
static Elf64_Word wanted_name(const char *name)
{
	for (size_t at = 1; at < sizeof(names); at += strlen(names + at) + 1) {
		if (strcmp(names + at, name) == 0 && strcmp(name, ".shstrtab") != 0)
			return (Elf64_Word)at;
	}
	return 0;
}

static bool has_section(const struct layout *layout, Elf64_Word name)
{
	for (size_t i = 0; i < layout->count; i++) {
		if (layout->section[i].name == name)
			return true;
	}
	return false;
}

static bool read_all(int fd, void *into, uint64_t size, uint64_t at)
{
	for (uint64_t done = 0; done < size;) {
		const ssize_t got = pread(fd, (char *)into + done, size - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (uint64_t)got;
	}
	return true;
}

/* ---- what is where --------------------------------------------------------------------------- */

static bool unpack_zlib(const void *packed, size_t size, void *into, size_t whole_size)
{
	struct libdeflate_decompressor *unpacker = libdeflate_alloc_decompressor();
	const bool done =
		unpacker && libdeflate_zlib_decompress(unpacker, packed, size, into, whole_size,
						       NULL) == LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(unpacker);
	return done;
}

static bool unpack_zstd(const void *packed, size_t size, void *into, size_t whole_size)
{
	return ZSTD_decompress(into, whole_size, packed, size) == whole_size;
}

static const struct packing packings[] = {
	{ELFCOMPRESS_ZLIB, 1032, unpack_zlib},     /* a longest match takes two bits */
	{ELFCOMPRESS_ZSTD, 1u << 15, unpack_zstd}, /* four bytes repeat one 128 K times */
};

static const struct packing *packing_of(Elf64_Word type)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		if (packings[i].type == type)
			return &packings[i];
	}
	return NULL;
}

/* Skips the head of a packed section, and takes its unpacked size from it. */
static bool open_packed(int fd, struct section *section)
{
	Elf64_Chdr head;

	if (section->size < sizeof(head) || !read_all(fd, &head, sizeof(head), section->at))
		return false;
	section->packing = packing_of(head.ch_type);
	if (!section->packing)
		return false;
	section->at += sizeof(head);
	section->size -= sizeof(head);
	section->whole_size = head.ch_size;
	return head.ch_size / section->packing->expansion_max <= section->size;
}

/* Is all of the section in the file? */
static bool is_within(int fd, const GElf_Shdr *header)
{
	struct stat file;

	return fstat(fd, &file) == 0 && header->sh_offset <= (uint64_t)file.st_size &&
	       header->sh_size <= (uint64_t)file.st_size - header->sh_offset;
}

static bool add_section(int fd, const GElf_Shdr *header, Elf64_Word name, struct layout *layout)
{
	struct section section = {.name = name,
				  .at = header->sh_offset,
				  .size = header->sh_size,
				  .whole_size = header->sh_size,
				  .to = layout->size};

	if (!is_within(fd, header))
		return false;
	if ((header->sh_flags & SHF_COMPRESSED) && !open_packed(fd, &section))
		return false;
	if (__builtin_add_overflow(layout->size, section.whole_size, &layout->size) ||
	    layout->size > INT64_MAX)
		return false;
	layout->size = (layout->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (section.packing && section.size > layout->packed_max)
		layout->packed_max = section.size;
	layout->section[layout->count++] = section;
	return true;
}

static int plan(const struct objfile *file, struct layout *layout)
{
	Elf_Scn *section = NULL;
	size_t strings;
	GElf_Ehdr elf;
	GElf_Shdr header;

	if (file->fd < 0 || !gelf_getehdr(file->elf, &elf) || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (elf.e_type == ET_REL || elf_getshdrstrndx(file->elf, &strings))
		return -ENOTSUP;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(file->elf, strings, header.sh_name)
					   : NULL;
		const Elf64_Word wanted = name ? wanted_name(name) : 0;
		if (name && strncmp(name, ".zdebug", 7) == 0)
			return -ENOTSUP;
		if (!wanted || header.sh_type == SHT_NOBITS || has_section(layout, wanted))
			continue;
		if (!add_section(file->fd, &header, wanted, layout))
			return -ENOTSUP;
	}
	return has_section(layout, wanted_name(".debug_info")) ? 0 : -ENOENT;
}

/* ---- filling it ------------------------------------------------------------------------------ */

static void write_head(const struct objfile *file, const struct layout *layout, struct head *head)
{
	const size_t last = layout->count + 1;
	GElf_Ehdr elf;

	(void)!gelf_getehdr(file->elf, &elf);
	head->header = (Elf64_Ehdr){.e_type = elf.e_type,
				    .e_machine = elf.e_machine,
				    .e_version = EV_CURRENT,
				    .e_shoff = offsetof(struct head, section),
				    .e_ehsize = sizeof(Elf64_Ehdr),
				    .e_shentsize = sizeof(Elf64_Shdr),
				    .e_shnum = (Elf64_Half)(last + 1),
				    .e_shstrndx = (Elf64_Half)last};
	memcpy(head->header.e_ident, elf.e_ident, EI_NIDENT);
	for (size_t i = 0; i < layout->count; i++) {
		const struct section *section = &layout->section[i];
		head->section[i + 1] = (Elf64_Shdr){.sh_name = section->name,
						    .sh_type = SHT_PROGBITS,
						    .sh_offset = section->to,
						    .sh_size = section->whole_size,
						    .sh_addralign = 1};
	}
	head->section[last] = (Elf64_Shdr){.sh_name = sizeof(names) - sizeof(".shstrtab"),
					   .sh_type = SHT_STRTAB,
					   .sh_offset = offsetof(struct head, names),
					   .sh_size = sizeof(names),
					   .sh_addralign = 1};
	memcpy(head->names, names, sizeof(names));
}

static bool unpack(int fd, const struct section *section, void *packed, void *into)
{
	return read_all(fd, packed, section->size, section->at) &&
	       section->packing->unpack(packed, section->size, into, section->whole_size);
}

static bool fill(const struct objfile *file, const struct layout *layout, uint8_t *bytes)
{
	void *packed = layout->packed_max ? malloc(layout->packed_max) : NULL;
	bool done = !layout->packed_max || packed;

	for (size_t i = 0; i < layout->count && done; i++) {
		const struct section *section = &layout->section[i];
		void *into = bytes + section->to;
		done = section->packing ? unpack(file->fd, section, packed, into)
					: read_all(file->fd, into, section->size, section->at);
	}
	free(packed);
	return done;
}

int debug_image_open(const struct objfile *file, struct debug_image *out_image)
{
	struct layout layout = {.size = (sizeof(struct head) + ALIGNMENT - 1) / ALIGNMENT *
					ALIGNMENT};
	const int err = plan(file, &layout);

	if (err)
		return err;
	struct debug_image image = {.size = layout.size};
	image.bytes =
		mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image.bytes == MAP_FAILED)
		return -ENOTSUP;
	write_head(file, &layout, image.bytes);
	if (fill(file, &layout, image.bytes))
		image.elf = elf_memory(image.bytes, image.size);
	if (!image.elf) {
		debug_image_close(&image);
		return -ENOTSUP;
	}
	*out_image = image;
	return 0;
}

void debug_image_close(struct debug_image *image)
{
	if (image->elf)
		elf_end(image->elf);
	if (image->bytes)
		munmap(image->bytes, image->size);
	*image = (struct debug_image){0};
}
