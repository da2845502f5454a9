/* SPDX-License-Identifier: MIT */
/*
 * symtab.h - function names by address, from the symbol tables of ELF files.
 */
#ifndef HI_SYMTAB_H
#define HI_SYMTAB_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct symtab {
	struct symtab_entry *entry; /* sorted by address, one per address */
	size_t count;
	Elf *elf;       /* holds the names */
	size_t strings; /* index of the section with the names */
};

/*
 * Reads .symtab or, if there is none, .dynsym. The file must stay open as long as the table. 0,
 * -ENOENT if it has no function, -ENOMEM.
 */
int symtab_open(Elf *elf, struct symtab *out_table);
/* Reads .symtab only, for separate debug files. */
int symtab_open_full(Elf *elf, struct symtab *out_table);
void symtab_close(struct symtab *table);
/*
 * The function that covers an address of the file, NULL if none does. Lives as long as the file is
 * open.
 */
const char *symtab_find(const struct symtab *table, uint64_t address);
/*
 * The same, and the addresses that the function takes up. A function without a size reaches to the
 * next one.
 */
const char *symtab_find_extent(const struct symtab *table, uint64_t address, uint64_t *out_begin,
			       uint64_t *out_end);

#endif
