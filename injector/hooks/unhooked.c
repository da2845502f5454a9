/* SPDX-License-Identifier: MIT */
/*
 * unhooked.c - see unhooked.h. Start at unhooked_find().
 *
 * The names of .symtab are read through the file's descriptor into memory of the injector's own,
 * and freed afterwards: through libelf they would stay as long as the image.
 */
#include "unhooked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain_text.h"

/*
 * For all objects together: this much is read in a fraction of a second. Beyond it, symbols are not
 * read; the allocations then show only as growth of the process.
 */
#define TABLE_BYTES_MAX (192u << 20)

struct search {
	const struct allocator *allocator;
	remote_addr entry; /* hooked */
	const struct elf_image *image;
	struct unhooked_list *list;
	size_t room; /* bytes of symbol tables that may still be read */
};

static bool is_function(const Elf64_Sym *symbol)
{
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* The library whose functions are hooked may define them under other names as well. */
static bool is_hooked_library(const struct search *search)
{
	return search->image == search->allocator->image && !search->image->is_main;
}

static bool exports_malloc(const struct elf_image *image)
{
	remote_addr address;

	return elf_image_symbol(image, "malloc", &address, NULL) == 0;
}

static void add_to(struct unhooked_list *list, const struct elf_image *image, enum hi_unhooked how,
		   const char *function, remote_addr address)
{
	struct unhooked found = {.how = how, .is_main = image->is_main, .address = address};

	plain_text_copy(found.function, sizeof(found.function), function);
	plain_text_copy(found.path, sizeof(found.path), image->path);
	for (size_t i = 0; i < list->count; i++)
		if (list->unhooked[i].how == how && strcmp(list->unhooked[i].path, found.path) == 0)
			return;
	if (list->count < UNHOOKED_MAX)
		list->unhooked[list->count++] = found;
}

static void add(const struct search *search, enum hi_unhooked how, const char *prefix,
		size_t prefix_length, remote_addr address)
{
	char name[HI_ALLOCATOR_NAME_MAX];

	snprintf(name, sizeof(name), "%.*smalloc", (int)prefix_length, prefix);
	add_to(search->list, search->image, how, name, address);
}

/*
 * is_exported: other objects can find the symbol in this object, so that the object's own calls may
 * go through a slot.
 */
static void look_at(const struct search *search, const char *name, const Elf64_Sym *symbol,
		    bool is_exported)
{
	const struct elf_image *image = search->image;
	size_t prefix;

	if (!is_function(symbol) || image->bias + symbol->st_value == search->entry)
		return;
	if (strcmp(name, "malloc") == 0) {
		if (image->is_main || !(is_exported || exports_malloc(image)))
			add(search, HI_UNHOOKED_DIRECT, "", 0, image->bias + symbol->st_value);
		return;
	}
	prefix = hi_allocator_prefix(name);
	/*
	 * A library that exports malloc too but comes after another allocator: a caller that uses
	 * these names also uses the standard names. So it is not recorded under its prefix.
	 */
	if (prefix && (image->is_main || !exports_malloc(image)))
		add(search, HI_UNHOOKED_PREFIXED, name, prefix, image->bias + symbol->st_value);
}

static void search_exported(struct search *search)
{
	const uint32_t count =
		search->image->dynamic ? elf_dynamic_symbol_count(search->image->dynamic) : 0;
	Elf64_Sym symbol;

	if (count * sizeof(symbol) > search->room)
		return;
	search->room -= count * sizeof(symbol);
	for (uint32_t i = 1; i < count; i++) {
		const char *name = elf_dynamic_symbol(search->image->dynamic, i, &symbol);

		if (name)
			look_at(search, name, &symbol, true);
	}
}

/*
 * Returns the section with one terminating byte added; the caller frees it. NULL: too large, or
 * incomplete.
 */
static char *read_section(struct search *search, const GElf_Shdr *section)
{
	const size_t size = section->sh_size;
	char *bytes = section->sh_size <= search->room ? malloc(size + 1) : NULL;
	size_t done = 0;

	while (bytes && done < size) {
		const ssize_t got = pread(search->image->fd, bytes + done, size - done,
					  (off_t)(section->sh_offset + done));

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
		search->room -= size;
	}
	return bytes;
}

static void search_table(struct search *search, const GElf_Shdr *table, const GElf_Shdr *strings)
{
	char *symbols = read_section(search, table),
	     *names = symbols ? read_section(search, strings) : NULL;

	for (size_t at = 0; names && at + sizeof(Elf64_Sym) <= table->sh_size;
	     at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols + at, sizeof(symbol));
		if (symbol.st_name < strings->sh_size)
			look_at(search, names + symbol.st_name, &symbol, false);
	}
	free(symbols);
	free(names);
}

/* Searches .symtab, which the dynamic linker does not need, if it was not stripped. */
static void search_all(struct search *search)
{
	Elf_Scn *section = NULL;
	GElf_Shdr table, strings;

	while (search->image->fd >= 0 && (section = elf_nextscn(search->image->elf, section))) {
		if (!gelf_getshdr(section, &table) || table.sh_type != SHT_SYMTAB)
			continue;
		Elf_Scn *linked = elf_getscn(search->image->elf, table.sh_link);
		if (linked && gelf_getshdr(linked, &strings) && strings.sh_type == SHT_STRTAB)
			search_table(search, &table, &strings);
		return;
	}
}

/* Is it the payload, loaded by dlopen into a parent of this process? */
static bool is_ours(const struct elf_image *image)
{
	return strncmp(image->path, "/memfd:" HI_MEMFD_NAME, sizeof("/memfd:" HI_MEMFD_NAME) - 1) ==
	       0;
}

void unhooked_find(const struct elf_images *images, const struct allocator *allocator,
		   remote_addr entry, struct unhooked_list *list)
{
	struct search search = {
		.allocator = allocator, .entry = entry, .list = list, .room = TABLE_BYTES_MAX};

	for (size_t i = 0; i < images->count; i++) {
		search.image = &images->image[i];
		if (search.image->is_vdso || search.image->is_loader || is_ours(search.image) ||
		    is_hooked_library(&search))
			continue;
		search_exported(&search);
		search_all(&search);
	}
}

void unhooked_add_bound(const struct slots *slots, struct unhooked_list *list)
{
	for (size_t i = 0; i < slots->other_count; i++) {
		remote_addr address = 0;

		(void)!elf_image_symbol(slots->other[i], "malloc", &address, NULL);
		add_to(list, slots->other[i], HI_UNHOOKED_BOUND, "malloc", address);
	}
}

/* Explains why the allocations are not seen; empty if the function's name shows it. */
static const char *whose_calls(enum hi_unhooked how)
{
	return how == HI_UNHOOKED_DIRECT  ? " (by direct calls)"
	       : how == HI_UNHOOKED_BOUND ? " (by objects that are bound to it)"
					  : "";
}

char *unhooked_describe(const struct unhooked_list *list, char *text, size_t size)
{
	size_t at = 0;

	*text = 0;
	for (size_t i = 0; i < list->count && at < size; i++) {
		const struct unhooked *unhooked = &list->unhooked[i];
		const int length = snprintf(
			text + at, size - at, "%s%s in %s%s", i ? " and " : "", unhooked->function,
			unhooked->is_main ? "the program itself" : unhooked->path,
			whose_calls(unhooked->how));

		at += length > 0 ? (size_t)length : size;
	}
	return text;
}
