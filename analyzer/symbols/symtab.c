/* SPDX-License-Identifier: MIT */
/*
 * symtab.c - see symtab.h.
 *
 * The table is read and sorted once and then binary-searched; a name is fetched only for a hit.
 * Symbols may be nested and may have no size (assembly): the innermost sized symbol that covers the
 * address wins; a sizeless one counts to the end of its section, but only where no other symbol
 * lies between it and the address, or everything in .plt would be called _init.
 */
#include "symtab.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "objfile.h"

/*
 * How many symbols to look back for one that encloses the address. Real code nests one or two deep.
 */
#define LOOK_BACK 16

struct symtab_entry {
	uint64_t address, end; /* end: of the section where the symbol has no size */
	uint32_t name;         /* offset of the string */
	uint8_t rank;          /* of aliases the highest is kept */
	bool is_sized;
};

/* The end of an executable section, 0 if it is not one. Separate debug files keep these headers. */
static uint64_t code_end(Elf *elf, size_t index)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(elf, index);

	if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	return header.sh_addr + header.sh_size;
}

/* Users know the global names; `malloc` is better than `__libc_malloc`. */
static uint8_t alias_rank(const GElf_Sym *symbol, const char *name)
{
	const int binding = GELF_ST_BIND(symbol->st_info);
	uint8_t rank = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 0 : 32;

	rank += symbol->st_size ? 16 : 0;
	rank += binding == STB_GLOBAL || binding == STB_GNU_UNIQUE ? 8
		: binding == STB_WEAK                              ? 4
								   : 0;
	return rank + (name[0] != '_' ? 3 : name[1] != '_' ? 2 : 0);
}

static bool is_function(const GElf_Sym *symbol, const char *name)
{
	const int type = GELF_ST_TYPE(symbol->st_info);

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/*
	 * Untyped: assembly's functions, but also local labels and the mapping symbols ($x) of ARM.
	 */
	return type == STT_NOTYPE && name[0] != '$' && name[0] != '.';
}

static int compare_entries(const void *left, const void *right)
{
	const struct symtab_entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void keep_one_per_address(struct symtab *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (kept == 0 || table->entry[i].address != table->entry[kept - 1].address)
			table->entry[kept++] = table->entry[i];
	}
	table->count = kept;
}

static int load(Elf *elf, uint32_t type, struct symtab *out_table)
{
	struct symtab table = {.elf = elf};
	GElf_Shdr header;
	GElf_Sym symbol;

	const size_t symbol_size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Scn *section = objfile_section(elf, type, NULL);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	if (!data || !gelf_getshdr(section, &header) || symbol_size == 0)
		return -ENOENT;
	/*
	 * d_size is what was really read, so a count that lies cannot make us reserve more than the
	 * file holds.
	 */
	const size_t count = data->d_size / symbol_size;
	table.strings = header.sh_link;
	table.entry = malloc((count + 1) * sizeof(*table.entry));
	if (!table.entry)
		return -ENOMEM;
	for (size_t i = 0; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE
					   ? NULL
					   : elf_strptr(elf, table.strings, symbol.st_name);
		const uint64_t end = name && *name && is_function(&symbol, name)
					     ? code_end(elf, symbol.st_shndx)
					     : 0;
		if (symbol.st_value >= end || symbol.st_size > end - symbol.st_value)
			continue;
		table.entry[table.count++] = (struct symtab_entry){
			.address = symbol.st_value,
			.end = symbol.st_size ? symbol.st_value + symbol.st_size : end,
			.name = symbol.st_name,
			.rank = alias_rank(&symbol, name),
			.is_sized = symbol.st_size != 0};
	}
	if (table.count == 0) {
		free(table.entry);
		return -ENOENT;
	}
	qsort(table.entry, table.count, sizeof(*table.entry), compare_entries);
	keep_one_per_address(&table);
	*out_table = table;
	return 0;
}

int symtab_open_full(Elf *elf, struct symtab *out_table)
{
	return load(elf, SHT_SYMTAB, out_table);
}

int symtab_open(Elf *elf, struct symtab *out_table)
{
	const int err = symtab_open_full(elf, out_table);

	return err == -ENOENT ? load(elf, SHT_DYNSYM, out_table) : err;
}

void symtab_close(struct symtab *table)
{
	free(table->entry);
	*table = (struct symtab){0};
}

/* The number of entries that start at or before address. */
static size_t entries_up_to(const struct symtab *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (table->entry[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct symtab_entry *entry_at(const struct symtab *table, uint64_t address)
{
	const size_t above = entries_up_to(table, address);
	const struct symtab_entry *found = NULL;

	for (size_t back = 1; back <= above && back <= LOOK_BACK && !(found && found->is_sized);
	     back++) {
		const struct symtab_entry *entry = &table->entry[above - back];
		if (address < entry->end && (entry->is_sized || back == 1))
			found = entry;
	}
	return found;
}

const char *symtab_find(const struct symtab *table, uint64_t address)
{
	const struct symtab_entry *found = entry_at(table, address);

	return found ? elf_strptr(table->elf, table->strings, found->name) : NULL;
}

const char *symtab_find_extent(const struct symtab *table, uint64_t address, uint64_t *out_begin,
			       uint64_t *out_end)
{
	const struct symtab_entry *found = entry_at(table, address);
	const size_t next = entries_up_to(table, address);

	if (!found)
		return NULL;
	*out_begin = found->address;
	*out_end =
		found->is_sized || next == table->count || table->entry[next].address > found->end
			? found->end
			: table->entry[next].address;
	return elf_strptr(table->elf, table->strings, found->name);
}
