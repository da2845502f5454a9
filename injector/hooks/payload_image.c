/* SPDX-License-Identifier: MIT */
/*
 * payload_image.c - see payload_image.h. The image comes from the project's own build, yet bounds
 * are checked: a wrong build must be reported and not mapped.
 */
#include "payload_image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

extern const uint8_t hi_payload_so[], hi_payload_so_end[];

static const char *const gate_names[GATE_CLASS_COUNT] = {
	[GATE_ALLOC] = "alloc",
	[GATE_SIZE2] = "size2",
	[GATE_SIZEARG2] = "sizearg2",
	[GATE_SIZEARG3] = "sizearg3",
	[GATE_FREE] = "free",
	[GATE_REALLOC] = "realloc",
	[GATE_REALLOC_NULL] = "realloc_null",
	[GATE_ALWAYS] = "always",
	[GATE_INERT] = "inert",
	[GATE_RESTORE] = "restore",
};

struct symbols {
	const Elf64_Sym *symbol;
	size_t count;
	const char *names;
	size_t names_size;
};

static const char *const exit_names[GATE_CLASS_COUNT] = {
	[GATE_ALLOC] = "alloc_exit",
	[GATE_SIZE2] = "size2_exit",
	[GATE_SIZEARG2] = "sizearg2_exit",
	[GATE_SIZEARG3] = "sizearg3_exit",
	[GATE_FREE] = "free_exit",
	[GATE_REALLOC] = "realloc_exit",
	[GATE_REALLOC_NULL] = "realloc_null_exit",
	[GATE_ALWAYS] = "always_exit",
};

static const void *at(const struct payload_image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->file_size && size <= image->file_size - offset
		       ? image->file + offset
		       : NULL;
}

static int find_text(struct payload_image *image, const Elf64_Ehdr *header)
{
	const Elf64_Phdr *segment =
		at(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(*segment));
	for (size_t i = 0; segment && i < header->e_phnum; i++) {
		if (segment[i].p_type != PT_LOAD || !(segment[i].p_flags & PF_X))
			continue;
		image->text_offset = segment[i].p_offset;
		image->text_size = segment[i].p_filesz;
		/*
		 * The segment is mapped at its file offset from the load address, so offset and
		 * address must be equal.
		 */
		return segment[i].p_offset == segment[i].p_vaddr &&
				       at(image, image->text_offset, image->text_size)
			       ? 0
			       : -EINVAL;
	}
	return -EINVAL;
}

static int find_symbols(const struct payload_image *image, const Elf64_Ehdr *header,
			struct symbols *out_symbols)
{
	const Elf64_Shdr *section =
		at(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*section));
	for (size_t i = 0; section && i < header->e_shnum; i++) {
		if (section[i].sh_type != SHT_DYNSYM || section[i].sh_link >= header->e_shnum)
			continue;
		const Elf64_Shdr *names = &section[section[i].sh_link];
		out_symbols->symbol = at(image, section[i].sh_offset, section[i].sh_size);
		out_symbols->count = section[i].sh_size / sizeof(Elf64_Sym);
		out_symbols->names = at(image, names->sh_offset, names->sh_size);
		out_symbols->names_size = names->sh_size;
		const bool is_sound = out_symbols->symbol && out_symbols->names && names->sh_size &&
				      !out_symbols->names[names->sh_size - 1];
		return is_sound ? 0 : -EINVAL;
	}
	return -EINVAL;
}

/* NULL if there is none, or if it lies outside the text. */
static const Elf64_Sym *find(const struct payload_image *image, const struct symbols *symbols,
			     const char *prefix, const char *name)
{
	const size_t length = strlen(prefix);
	for (size_t i = 0; i < symbols->count; i++) {
		const Elf64_Sym *symbol = &symbols->symbol[i];
		if (symbol->st_name >= symbols->names_size || symbol->st_shndx == SHN_UNDEF ||
		    symbol->st_value < image->text_offset ||
		    symbol->st_value - image->text_offset > image->text_size ||
		    symbol->st_size > image->text_size - (symbol->st_value - image->text_offset))
			continue;
		const char *found = symbols->names + symbol->st_name;
		if (!strncmp(found, prefix, length) && !strcmp(found + length, name))
			return symbol;
	}
	return NULL;
}

int payload_image_open(struct payload_image *out_image)
{
	struct payload_image image = {.file = hi_payload_so,
				      .file_size = (size_t)(hi_payload_so_end - hi_payload_so)};
	struct symbols symbols;
	const Elf64_Ehdr *header = at(&image, 0, sizeof(*header));
	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return -EINVAL;
	int err = find_text(&image, header);
	if (!err)
		err = find_symbols(&image, header, &symbols);
	if (err)
		return err;
	for (size_t i = 0; i < HI_FUNCTION_COUNT; i++) {
		const Elf64_Sym *symbol = find(&image, &symbols, "hi_hook_", hook_table[i].name);
		if (!symbol)
			return -EINVAL;
		image.hook[i] = symbol->st_value;
	}
	for (size_t i = 0; i < GATE_CLASS_COUNT; i++) {
		const Elf64_Sym *symbol = find(&image, &symbols, "hi_gate_", gate_names[i]);
		if (!symbol || !symbol->st_size || symbol->st_size > HI_GATE_STRIDE)
			return -EINVAL;
		image.gate[i].code = image.file + symbol->st_value;
		image.gate[i].size = symbol->st_size;
		if (!exit_names[i])
			continue;
		const Elf64_Sym *exit = find(&image, &symbols, "hi_gate_", exit_names[i]);
		if (!exit || exit->st_value <= symbol->st_value ||
		    exit->st_value + HI_GATE_EXIT_BYTES > symbol->st_value + symbol->st_size)
			return -EINVAL;
		image.gate[i].exit = exit->st_value - symbol->st_value;
	}
	const Elf64_Sym *store = find(&image, &symbols, "hi_", "store_words");
	if (!store || !store->st_size || store->st_size > PAYLOAD_STORE_MAX)
		return -EINVAL;
	image.store = store->st_value;
	image.store_size = store->st_size;
	*out_image = image;
	return 0;
}
