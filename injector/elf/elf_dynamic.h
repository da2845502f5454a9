/* SPDX-License-Identifier: MIT */
/*
 * elf_dynamic.h - the dynamic segment of one ELF file: symbols by name, and relocations, as the
 * dynamic linker sees them.
 *
 * Works without section headers. All indices and offsets from the file are checked.
 */
#ifndef HI_ELF_DYNAMIC_H
#define HI_ELF_DYNAMIC_H

#include <gelf.h>

#include "memory.h"

struct elf_dynamic;

/*
 * bias: 0 for a file; for a copy from memory its load bias, because the dynamic linker may have
 * relocated the pointers of the dynamic section there. -ENOENT: no dynamic segment, or none with
 * symbols. elf must stay open as long as the result is used.
 */
must_check int elf_dynamic_open(Elf *elf, uint64_t bias, struct elf_dynamic **out_dynamic);
void elf_dynamic_close(struct elf_dynamic *dynamic);

/*
 * The next entry with this tag, whose value is a name: DT_NEEDED, DT_SONAME. *at starts at 0. NULL
 * = no more entries, or a damaged one.
 */
const char *elf_dynamic_name(const struct elf_dynamic *dynamic, Elf64_Sxword tag, size_t *at);

/* Finds a defined global or weak symbol in its default version (or without versions). -ENOENT. */
must_check int elf_dynamic_find(const struct elf_dynamic *dynamic, const char *name,
				Elf64_Sym *out_symbol);
/* Number of symbols, as far as the hash and relocation tables show it. */
uint32_t elf_dynamic_symbol_count(const struct elf_dynamic *dynamic);
/*
 * The same in any version. out_version: as from elf_dynamic_version, or ELF_VERSION_SEVERAL if it
 * is defined more than once.
 */
must_check int elf_dynamic_find_any(const struct elf_dynamic *dynamic, const char *name,
				    uint16_t *out_version);
/* The symbol with this number: returns its name, or NULL if there is no such symbol. */
const char *elf_dynamic_symbol(const struct elf_dynamic *dynamic, uint32_t number,
			       Elf64_Sym *out_symbol);
/*
 * The object's number for the version of its symbol, whether the symbol is defined or only
 * referenced. At most ELF_VERSION_NONE: it has no version.
 */
uint16_t elf_dynamic_version(const struct elf_dynamic *dynamic, uint32_t number);
#define ELF_VERSION_NONE 1u
#define ELF_VERSION_SEVERAL 0xffffu

/*
 * The relocations of DT_RELA, followed by those of DT_JMPREL. Some linkers count the latter among
 * the former too; these appear twice. The first DT_RELACOUNT ones, most of a large library's, name
 * no symbol and are left out.
 */
size_t elf_dynamic_relocation_count(const struct elf_dynamic *dynamic);
void elf_dynamic_relocation(const struct elf_dynamic *dynamic, size_t number,
			    Elf64_Rela *out_relocation);

#endif
