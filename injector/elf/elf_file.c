/* SPDX-License-Identifier: MIT */
/* elf_file.c - see elf_file.h. */
#include "elf_file.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "arch.h"
#include "elf_segment.h"

#define NOTES_BYTES_MAX (1u << 20) /* of all segments or sections together */

/*
 * libelf allocates room for all sections and all program headers at once, however many the file
 * claims to have. A number that does not fit into the ELF header is stored elsewhere, and no object
 * that can run has so many.
 */
static bool is_countable(int fd)
{
	Elf64_Ehdr header;
	Elf64_Shdr first;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || header.e_phnum == PN_XNUM)
		return false;
	if (header.e_shnum || !header.e_shoff || header.e_shoff > INT64_MAX)
		return true;
	return pread(fd, &first, sizeof(first), (off_t)header.e_shoff) != sizeof(first) ||
	       first.sh_size < SHN_LORESERVE;
}

bool elf_file_is_usable(Elf *elf)
{
	GElf_Ehdr header;

	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
	       header.e_machine == ARCH_ELF_MACHINE &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

Elf *elf_file_open(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	/* ELF_C_READ, not mmap: a mapped file that shrinks would raise SIGBUS. */
	elf = is_countable(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf_file_is_usable(elf))
		return elf;
	elf_end(elf);
	return NULL;
}

/* ---- build-id -------------------------------------------------------------------------------- */

/* Takes it from the notes of one segment or section. */
static bool take_build_id(Elf *elf, uint64_t offset, uint64_t size, uint64_t alignment,
			  struct build_id *id)
{
	Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)offset, size,
					       alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, description;
	GElf_Nhdr note;

	while (notes && (at = gelf_getnote(notes, at, &note, &name, &description))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    note.n_descsz > BUILD_ID_MAX ||
		    memcmp((const char *)notes->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) !=
			    0)
			continue;
		memcpy(id->bytes, (const char *)notes->d_buf + description, note.n_descsz);
		id->size = note.n_descsz;
		return true;
	}
	return false;
}

struct build_id elf_file_build_id(Elf *elf)
{
	uint64_t room = NOTES_BYTES_MAX;
	struct build_id id = {.size = 0};
	Elf_Scn *scn = NULL;
	GElf_Phdr segment;
	GElf_Shdr section;

	for (size_t nth = 0; elf_segment_next(elf, PT_NOTE, &nth, &segment);) {
		if (segment.p_filesz > room)
			continue;
		room -= segment.p_filesz;
		if (take_build_id(elf, segment.p_offset, segment.p_filesz, segment.p_align, &id))
			return id;
	}
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &section) || section.sh_type != SHT_NOTE ||
		    section.sh_size > room)
			continue;
		room -= section.sh_size;
		if (take_build_id(elf, section.sh_offset, section.sh_size, section.sh_addralign,
				  &id))
			return id;
	}
	return id;
}
