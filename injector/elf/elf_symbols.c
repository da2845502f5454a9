/* SPDX-License-Identifier: MIT */
/* elf_symbols.c - see elf_symbols.h. Enter at elf_symbols_visit. */
#include "elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
	const struct elf_image *image;
	size_t *room;
	elf_function_visit *visit;
	elf_variable_visit *visit_variable; /* in its place */
	void *context;
	unsigned file; /* source files named so far */
};

static void look_at(const struct search *search, const char *name, const Elf64_Sym *symbol,
		    bool is_exported)
{
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (search->visit_variable) {
		if (symbol->st_shndx != SHN_UNDEF && type == STT_OBJECT)
			search->visit_variable(search->context, name,
					       search->image->bias + symbol->st_value,
					       symbol->st_size);
		return;
	}
	const bool is_local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;

	if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
		return;
	search->visit(search->context, &(struct elf_function){
					       .name = name,
					       .address = search->image->bias + symbol->st_value,
					       .size = symbol->st_size,
					       .is_exported = is_exported,
					       .is_local = is_local,
					       .file = is_local ? search->file : 0,
					       .is_indirect = type == STT_GNU_IFUNC,
				       });
}

static void search_exported(const struct search *search)
{
	const struct elf_dynamic *dynamic = search->image->dynamic;
	const uint32_t count = dynamic ? elf_dynamic_symbol_count(dynamic) : 0;
	Elf64_Sym symbol;

	if (count * sizeof(symbol) > *search->room)
		return;
	*search->room -= count * sizeof(symbol);
	for (uint32_t i = 1; i < count; i++) {
		const char *name = elf_dynamic_symbol(dynamic, i, &symbol);

		if (name)
			look_at(search, name, &symbol, true);
	}
}

/*
 * Returns the section with one terminating byte added; the caller frees it. NULL: too large, or
 * incomplete.
 */
static char *read_section(const struct search *search, int fd, const GElf_Shdr *section)
{
	const size_t size = section->sh_size;
	char *bytes = section->sh_size <= *search->room ? malloc(size + 1) : NULL;
	size_t done = 0;

	while (bytes && done < size) {
		const ssize_t got =
			pread(fd, bytes + done, size - done, (off_t)(section->sh_offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(bytes);
			return NULL;
		}
		done += (size_t)got;
	}
	if (bytes) {
		bytes[size] = 0;
		*search->room -= size;
	}
	return bytes;
}

/* What another file says of a function counts only if there is code. */
static bool is_in_code(const struct elf_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->text_count; i++)
		if (image->bias + address >= image->text[i].lo &&
		    image->bias + address < image->text[i].hi)
			return true;
	return false;
}

static void search_table(struct search *search, int fd, const GElf_Shdr *table,
			 const GElf_Shdr *strings)
{
	char *symbols = read_section(search, fd, table),
	     *names = symbols ? read_section(search, fd, strings) : NULL;
	const bool is_own = fd == search->image->fd;

	for (size_t at = 0; names && at + sizeof(Elf64_Sym) <= table->sh_size;
	     at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols + at, sizeof(symbol));
		search->file += ELF64_ST_TYPE(symbol.st_info) == STT_FILE;
		if (symbol.st_name < strings->sh_size &&
		    (is_own || search->visit_variable ||
		     is_in_code(search->image, symbol.st_value)))
			look_at(search, names + symbol.st_name, &symbol, false);
	}
	free(symbols);
	free(names);
}

static void search_all(struct search *search, Elf *elf, int fd)
{
	Elf_Scn *section = NULL;
	GElf_Shdr table, strings;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &table) || table.sh_type != SHT_SYMTAB)
			continue;
		Elf_Scn *linked = elf_getscn(elf, table.sh_link);

		if (linked && gelf_getshdr(linked, &strings) && strings.sh_type == SHT_STRTAB)
			search_table(search, fd, &table, &strings);
		return;
	}
}

static void visit_all(struct search *search)
{
	const struct elf_image *image = search->image;

	search_exported(search);
	if (image->debug.elf)
		search_all(search, image->debug.elf, image->debug.fd);
	else if (image->fd >= 0)
		search_all(search, image->elf, image->fd);
}

void elf_symbols_visit(const struct elf_image *image, size_t *room, elf_function_visit *visit,
		       void *context)
{
	visit_all(
		&(struct search){.image = image, .room = room, .visit = visit, .context = context});
}

void elf_symbols_visit_variables(const struct elf_image *image, size_t *room,
				 elf_variable_visit *visit, void *context)
{
	visit_all(&(struct search){
		.image = image, .room = room, .visit_variable = visit, .context = context});
}
