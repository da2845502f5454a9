/* SPDX-License-Identifier: MIT */
/*
 * hi_go_table.h - the table of functions that every program in Go has, stripped or not
 * (.gopclntab). Go's own runtime finds names and walks stacks by it.
 *
 * Header-only, so that injector and analyzer can share it without sharing objects. All of it is
 * hostile input. The format is that of Go 1.18 and later (Go's src/runtime/symtab.go and
 * src/debug/gosym/pclntab.go): a header of 8 words behind a magic number; a list of functions, each
 * with the offset of its code and that of what is known of it; and lists of pairs of numbers. Each
 * pair is a change of a value, and for how much code the changed value holds, in units of the
 * smallest instruction of the CPU.
 */
#ifndef HI_GO_TABLE_H
#define HI_GO_TABLE_H

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HI_GO_HEADER_BYTES 72u

/* The numbers of the words of the header, from byte 8 on. */
enum hi_go_word {
	HI_GO_FUNCTION_COUNT,
	HI_GO_FILE_COUNT,
	HI_GO_TEXT,
	HI_GO_NAMES,
	HI_GO_UNITS,
	HI_GO_FILES,
	HI_GO_PAIRS,
	HI_GO_FUNCTIONS,
	HI_GO_WORDS
};

struct hi_go_table {
	const uint8_t *bytes;
	size_t size;
	uint64_t text;                    /* address of the file from which code is counted */
	uint64_t count;                   /* of functions, in ascending order */
	uint64_t names, pairs, functions; /* offsets */
	size_t known_bytes;               /* what is known of a function */
	uint32_t unit;                    /* bytes of the smallest instruction */
};

#define HI_GO_FLAG_TOP 1u      /* no function calls it */
#define HI_GO_FLAG_MOVES_SP 2u /* it sets sp to something of which the pairs know nothing */

struct hi_go_function {
	uint64_t lo, hi;  /* addresses of the file; hi: of the next one */
	const char *name; /* in the table; "" if it is damaged */
	uint64_t frames;  /* offset of the pairs whose value is how far sp has moved */
	uint8_t flags;
};

static inline uint32_t hi_go_word32(const struct hi_go_table *table, uint64_t at)
{
	uint32_t word;

	memcpy(&word, table->bytes + at, sizeof(word));
	return word;
}

static inline bool hi_go_has(const struct hi_go_table *table, uint64_t at, uint64_t bytes)
{
	return at <= table->size && bytes <= table->size - at;
}

/*
 * Reads the header. text: from where code is counted; 0: as the table says. -ENOENT: it is no such
 * table, or of a version that is not known. -EBADMSG: it is damaged.
 */
static inline int hi_go_table_open(const uint8_t *bytes, size_t size, uint64_t text,
				   struct hi_go_table *out_table)
{
	const uint32_t magic_1_18 = 0xfffffff0, magic_1_20 = 0xfffffff1;
	struct hi_go_table table = {.bytes = bytes, .size = size};
	uint64_t word[HI_GO_WORDS];
	const uint32_t magic = size < HI_GO_HEADER_BYTES ? 0 : hi_go_word32(&table, 0);

	/* instructions begin at any byte, or at any fourth; addresses have eight */
	if ((magic != magic_1_18 && magic != magic_1_20) || (bytes[6] != 1 && bytes[6] != 4) ||
	    bytes[7] != 8)
		return -ENOENT;
	memcpy(word, bytes + 8, sizeof(word));
	table.text = text ? text : word[HI_GO_TEXT];
	table.count = word[HI_GO_FUNCTION_COUNT];
	table.names = word[HI_GO_NAMES];
	table.pairs = word[HI_GO_PAIRS];
	table.functions = word[HI_GO_FUNCTIONS];
	table.known_bytes = magic == magic_1_18 ? 40 : 44;
	table.unit = bytes[6];
	for (int i = HI_GO_NAMES; i < HI_GO_WORDS; i++)
		if (word[i] > size)
			return -EBADMSG;
	if (table.count >= size / 8 || !hi_go_has(&table, table.functions, table.count * 8 + 4))
		return -EBADMSG;
	*out_table = table;
	return 0;
}

/* False: the table is damaged there. */
static inline bool hi_go_function_at(const struct hi_go_table *table, uint64_t number,
				     struct hi_go_function *out_function)
{
	enum { NAME_AT = 4, PAIRS_AT = 16 };
	const uint64_t entry = table->functions + number * 8,
		       at = table->functions + hi_go_word32(table, entry + 4);
	uint64_t name;

	if (!hi_go_has(table, at, table->known_bytes))
		return false;
	name = table->names + hi_go_word32(table, at + NAME_AT);
	*out_function = (struct hi_go_function){
		.lo = table->text + hi_go_word32(table, entry),
		.hi = table->text + hi_go_word32(table, entry + 8),
		.name = name < table->size && memchr(table->bytes + name, 0, table->size - name)
				? (const char *)table->bytes + name
				: "",
		.frames = table->pairs + hi_go_word32(table, at + PAIRS_AT),
		.flags = table->bytes[at + table->known_bytes - 3],
	};
	return out_function->lo < out_function->hi;
}

/* A number of a pair: seven bits a byte, the lowest first. False: it does not end. */
static inline bool hi_go_number(const struct hi_go_table *table, uint64_t *at, uint32_t *out_number)
{
	uint32_t number = 0;

	for (unsigned shift = 0; shift < 32 && *at < table->size; shift += 7) {
		const uint8_t byte = table->bytes[(*at)++];

		number |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out_number = number;
			return true;
		}
	}
	return false;
}

/* ---- where it is in a file ------------------------------------------------------------------- */

/* The word that the dynamic linker puts there, in addresses of the file; 0 = none. */
static inline uint64_t hi_go_relocated(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
						 header.sh_flags & SHF_ALLOC
					 ? elf_getdata(section, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == address && !GELF_R_SYM(rela.r_info))
				return (uint64_t)rela.r_addend;
	}
	return 0;
}

static inline Elf_Scn *hi_go_section(Elf *elf, const char *name, GElf_Shdr *out_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, out_header)
					    ? elf_strptr(elf, names, out_header->sh_name)
					    : NULL;

		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

/*
 * In a program that may be loaded anywhere the linker of C puts the table among other constants: it
 * is what has the right header. The bytes looked for are those that differ neither by version nor
 * by CPU.
 */
static inline const uint8_t *hi_go_find_header(const uint8_t *bytes, size_t size)
{
	static const uint8_t middle[] = {0xff, 0xff, 0xff, 0, 0};
	struct hi_go_table table;
	const uint8_t *const end = bytes + size, *at = bytes;

	while ((at = memmem(at, (size_t)(end - at), middle, sizeof(middle)))) {
		if (at > bytes && !hi_go_table_open(at - 1, (size_t)(end - at) + 1, 0, &table))
			return at - 1;
		at++;
	}
	return NULL;
}

/* The table of a file that stays open. -ENOENT: it has none, or none that is known; -EBADMSG. */
static inline int hi_go_table_find(Elf *elf, struct hi_go_table *out_table)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"};
	GElf_Shdr header;
	Elf_Scn *section = NULL;

	if (!hi_go_section(elf, ".go.buildinfo", &header))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !section; i++)
		section = hi_go_section(elf, names[i], &header);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const uint8_t *at =
		data && data->d_buf ? hi_go_find_header(data->d_buf, data->d_size) : NULL;

	if (!at)
		return -ENOENT;
	const size_t before = (size_t)(at - (const uint8_t *)data->d_buf);

	return hi_go_table_open(at, data->d_size - before,
				hi_go_relocated(elf, header.sh_addr + before + 8 + 8 * HI_GO_TEXT),
				out_table);
}

#endif
