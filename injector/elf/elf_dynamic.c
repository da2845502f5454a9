/* SPDX-License-Identifier: MIT */
/*
 * elf_dynamic.c - the dynamic segment of one ELF file.
 *
 * A symbol table does not record its length; the dynamic linker never needs it. Here its length is
 * what the hash table reaches or what the relocations refer to, whichever is more (a program that
 * exports nothing has an empty GNU hash table and a full list of imports). Lookup uses the same
 * hash tables as the dynamic linker's, without the Bloom filter, which is only an optimization.
 *
 * Chunks may be unaligned in a damaged file, so entries are copied out.
 */
#include "elf_dynamic.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elf_segment.h"
#include "steps.h"

#define VERSION_HIDDEN 0x8000u
/*
 * symbols with one hash value; real files have a handful, and one file may be searched for many
 * names
 */
#define CHAIN_MAX 65536u

/* A checked array inside the file. */
struct array {
	const uint8_t *bytes;
	size_t count;
};

struct elf_dynamic {
	struct array entry;   /* Elf64_Dyn, up to DT_NULL */
	struct array symbol;  /* Elf64_Sym */
	struct array string;  /* char; the last one is NUL */
	struct array version; /* Elf64_Half by symbol number, or none */
	struct array bucket;  /* Elf64_Word */
	struct array chain;   /* Elf64_Word by symbol number - chain_first */
	uint32_t chain_first;
	bool gnu_hash;
	/*
	 * Elf64_Rela: [0] of DT_RELA, without the first ones, which name no symbol; [1] of
	 * DT_JMPREL
	 */
	struct array relocation[2];
};

/* The entries of the dynamic section that matter here; 0 = absent. */
struct tags {
	uint64_t symtab, strtab, strsz, versym, hash, gnu_hash, rela, relasz, relacount, jmprel,
		pltrelsz, pltrel;
};

static int take_array(Elf *elf, uint64_t address, uint64_t count, size_t entry_size,
		      struct array *out_array)
{
	const void *bytes;
	int err;

	if (count > SIZE_MAX / entry_size)
		return -EFAULT;
	err = elf_segment_bytes(elf, address, count * entry_size, &bytes);
	if (!err)
		*out_array = (struct array){.bytes = bytes, .count = (size_t)count};
	return err;
}

/* The same for an optional array: stays empty if it is not there. */
static void take_optional(Elf *elf, uint64_t address, uint64_t count, size_t entry_size,
			  struct array *out_array)
{
	if (take_array(elf, address, count, entry_size, out_array) < 0)
		*out_array = (struct array){0};
}

static uint32_t word_at(const struct array *words, size_t number)
{
	uint32_t word;

	memcpy(&word, words->bytes + number * sizeof(word), sizeof(word));
	return word;
}

static const struct {
	Elf64_Sxword tag;
	size_t place;
	bool is_address;
} wanted[] = {
	{DT_SYMTAB, offsetof(struct tags, symtab), true},
	{DT_STRTAB, offsetof(struct tags, strtab), true},
	{DT_STRSZ, offsetof(struct tags, strsz), false},
	{DT_VERSYM, offsetof(struct tags, versym), true},
	{DT_HASH, offsetof(struct tags, hash), true},
	{DT_GNU_HASH, offsetof(struct tags, gnu_hash), true},
	{DT_RELA, offsetof(struct tags, rela), true},
	{DT_RELASZ, offsetof(struct tags, relasz), false},
	{DT_JMPREL, offsetof(struct tags, jmprel), true},
	{DT_PLTRELSZ, offsetof(struct tags, pltrelsz), false},
	{DT_PLTREL, offsetof(struct tags, pltrel), false},
	{DT_RELACOUNT, offsetof(struct tags, relacount), false},
};

static void take_tag(struct tags *tags, const Elf64_Dyn *entry, uint64_t bias)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t value = entry->d_un.d_val;

		if (wanted[i].tag != entry->d_tag)
			continue;
		if (wanted[i].is_address && bias && value >= bias)
			value -= bias;
		memcpy((char *)tags + wanted[i].place, &value, sizeof(value));
	}
}

static Elf64_Dyn entry_at(const struct array *entries, size_t number)
{
	Elf64_Dyn entry;

	memcpy(&entry, entries->bytes + number * sizeof(entry), sizeof(entry));
	return entry;
}

static int read_tags(Elf *elf, uint64_t bias, struct tags *out_tags, struct array *out_entries)
{
	GElf_Phdr segment;
	struct array entries = {0};

	if (!elf_segment_find(elf, PT_DYNAMIC, &segment))
		return -ENOENT;
	if (take_array(elf, segment.p_vaddr, segment.p_filesz / sizeof(Elf64_Dyn),
		       sizeof(Elf64_Dyn), &entries) < 0)
		return -ENOENT;
	for (size_t i = 0; i < entries.count; i++) {
		const Elf64_Dyn entry = entry_at(&entries, i);

		if (entry.d_tag == DT_NULL)
			entries.count = i;
		else
			take_tag(out_tags, &entry, bias);
	}
	*out_entries = entries;
	return out_tags->symtab && out_tags->strtab && out_tags->strsz ? 0 : -ENOENT;
}

/* DT_HASH: nbucket, nchain, buckets, chains; there is one chain entry for every symbol. */
static int open_sysv_hash(Elf *elf, uint64_t address, struct elf_dynamic *dynamic,
			  size_t *out_symbols)
{
	struct array head;
	int err = take_array(elf, address, 2, sizeof(uint32_t), &head);

	if (err)
		return err;
	err = take_array(elf, address + 8, word_at(&head, 0), sizeof(uint32_t), &dynamic->bucket);
	if (!err)
		err = take_array(elf, address + 8 + 4ull * dynamic->bucket.count, word_at(&head, 1),
				 sizeof(uint32_t), &dynamic->chain);
	if (!err)
		*out_symbols = dynamic->chain.count;
	return err;
}

/*
 * Number of chain entries up to the end of the chain that begins at entry `first`: it ends at an
 * odd word.
 */
static int gnu_chain_end(Elf *elf, uint64_t chains, uint64_t first, uint64_t *out_count)
{
	const uint64_t most = elf_segment_room(elf, chains) / sizeof(uint32_t);
	struct array words = {0};

	/* Reads growing pieces: a chain is a few entries long, but megabytes may follow it. */
	for (uint64_t piece = 64; first < most; piece *= 4) {
		int err;

		if (piece > most - first)
			piece = most - first;
		err = take_array(elf, chains + first * sizeof(uint32_t), piece, sizeof(uint32_t),
				 &words);
		if (err)
			return err;
		for (size_t i = 0; i < words.count; i++) {
			if (word_at(&words, i) & 1) {
				*out_count = first + i + 1;
				return 0;
			}
		}
		first += piece;
	}
	return -EFAULT;
}

/*
 * DT_GNU_HASH: nbuckets, number of the first hashed symbol, Bloom words, shift; Bloom filter,
 * buckets, chains.
 */
static int open_gnu_hash(Elf *elf, uint64_t address, struct elf_dynamic *dynamic,
			 size_t *out_symbols)
{
	struct array head;
	uint64_t buckets, chains, chain_count = 0;
	uint32_t last = 0;
	int err = take_array(elf, address, 4, sizeof(uint32_t), &head);

	if (err)
		return err;
	dynamic->gnu_hash = true;
	dynamic->chain_first = word_at(&head, 1);
	buckets = address + 16 + 8ull * word_at(&head, 2);
	err = take_array(elf, buckets, word_at(&head, 0), sizeof(uint32_t), &dynamic->bucket);
	if (err)
		return err;
	for (size_t i = 0; i < dynamic->bucket.count; i++)
		if (word_at(&dynamic->bucket, i) > last)
			last = word_at(&dynamic->bucket, i);
	*out_symbols = dynamic->chain_first;
	if (last < dynamic->chain_first)
		return 0; /* nothing exported */
	chains = buckets + 4ull * dynamic->bucket.count;
	err = gnu_chain_end(elf, chains, last - dynamic->chain_first, &chain_count);
	if (!err)
		err = take_array(elf, chains, chain_count, sizeof(uint32_t), &dynamic->chain);
	if (!err)
		*out_symbols = dynamic->chain_first + (size_t)chain_count;
	return err;
}

static size_t symbols_relocated(const struct elf_dynamic *dynamic)
{
	size_t symbols = 0;
	Elf64_Rela relocation;

	for (size_t i = 0; i < elf_dynamic_relocation_count(dynamic); i++) {
		elf_dynamic_relocation(dynamic, i, &relocation);
		if (ELF64_R_SYM(relocation.r_info) >= symbols)
			symbols = (size_t)ELF64_R_SYM(relocation.r_info) + 1;
	}
	return symbols;
}

static int open_tables(Elf *elf, const struct tags *tags, struct elf_dynamic *dynamic)
{
	const uint64_t relocations = tags->relasz / sizeof(Elf64_Rela);
	size_t hashed = 0, relocated;
	int err;

	if (relocations > tags->relacount) /* the dynamic linker trusts this count, too */
		take_optional(elf, tags->rela + tags->relacount * sizeof(Elf64_Rela),
			      relocations - tags->relacount, sizeof(Elf64_Rela),
			      &dynamic->relocation[0]);
	if (tags->pltrelsz && tags->pltrel == DT_RELA)
		take_optional(elf, tags->jmprel, tags->pltrelsz / sizeof(Elf64_Rela),
			      sizeof(Elf64_Rela), &dynamic->relocation[1]);
	err = take_array(elf, tags->strtab, tags->strsz, 1, &dynamic->string);
	if (err || dynamic->string.bytes[dynamic->string.count - 1] != 0)
		return -ENOENT;
	if (tags->gnu_hash)
		err = open_gnu_hash(elf, tags->gnu_hash, dynamic, &hashed);
	else if (tags->hash)
		err = open_sysv_hash(elf, tags->hash, dynamic, &hashed);
	if (err) /* the imports are still useful */
		dynamic->bucket.count = hashed = 0;
	relocated = symbols_relocated(dynamic);
	err = take_array(elf, tags->symtab, hashed > relocated ? hashed : relocated,
			 sizeof(Elf64_Sym), &dynamic->symbol);
	if (!err && tags->versym)
		take_optional(elf, tags->versym, dynamic->symbol.count, sizeof(Elf64_Half),
			      &dynamic->version);
	return err ? -ENOENT : 0;
}

int elf_dynamic_open(Elf *elf, uint64_t bias, struct elf_dynamic **out_dynamic)
{
	struct tags tags = {0};
	struct array entries;
	struct elf_dynamic *dynamic;
	int err = read_tags(elf, bias, &tags, &entries);

	if (err)
		return err;
	dynamic = calloc(1, sizeof(*dynamic));
	if (!dynamic)
		return -ENOMEM;
	dynamic->entry = entries;
	err = open_tables(elf, &tags, dynamic);
	if (err) {
		free(dynamic);
		return err;
	}
	*out_dynamic = dynamic;
	return 0;
}

void elf_dynamic_close(struct elf_dynamic *dynamic)
{
	free(dynamic);
}

const char *elf_dynamic_name(const struct elf_dynamic *dynamic, Elf64_Sxword tag, size_t *at)
{
	while (*at < dynamic->entry.count) {
		const Elf64_Dyn entry = entry_at(&dynamic->entry, (*at)++);

		if (entry.d_tag == tag)
			return entry.d_un.d_val < dynamic->string.count
				       ? (const char *)dynamic->string.bytes + entry.d_un.d_val
				       : NULL;
	}
	return NULL;
}

uint32_t elf_dynamic_symbol_count(const struct elf_dynamic *dynamic)
{
	return (uint32_t)(dynamic->symbol.count < UINT32_MAX ? dynamic->symbol.count : UINT32_MAX);
}

const char *elf_dynamic_symbol(const struct elf_dynamic *dynamic, uint32_t number,
			       Elf64_Sym *out_symbol)
{
	Elf64_Sym symbol;

	if (number >= dynamic->symbol.count)
		return NULL;
	memcpy(&symbol, dynamic->symbol.bytes + number * sizeof(symbol), sizeof(symbol));
	if (symbol.st_name >= dynamic->string.count)
		return NULL;
	*out_symbol = symbol;
	return (const char *)dynamic->string.bytes + symbol.st_name;
}

static uint16_t version_word(const struct elf_dynamic *dynamic, uint32_t number)
{
	Elf64_Half version;

	if (number >= dynamic->version.count)
		return ELF_VERSION_NONE;
	memcpy(&version, dynamic->version.bytes + number * sizeof(version), sizeof(version));
	return version;
}

uint16_t elf_dynamic_version(const struct elf_dynamic *dynamic, uint32_t number)
{
	return version_word(dynamic, number) & (uint16_t)~VERSION_HIDDEN;
}

/* What to search for, and what was found. */
struct search {
	const char *name;
	bool any_version;
	unsigned found;
	uint16_t version;
	Elf64_Sym symbol;
};

/*
 * Can a reference to the name from another object bind to symbol `number`? Records it in search.
 * Returns true if the search is finished.
 */
static bool take_definition(const struct elf_dynamic *dynamic, uint32_t number,
			    struct search *search)
{
	Elf64_Sym symbol;
	const char *found = elf_dynamic_symbol(dynamic, number, &symbol);
	const unsigned bind = found ? ELF64_ST_BIND(symbol.st_info) : STB_LOCAL;

	if (!found || strcmp(found, search->name) != 0)
		return false;
	if (symbol.st_shndx == SHN_UNDEF ||
	    (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE))
		return false;
	if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS ||
	    (!search->any_version && (version_word(dynamic, number) & VERSION_HIDDEN)))
		return false;
	search->symbol = symbol;
	search->version = elf_dynamic_version(dynamic, number);
	search->found++;
	return !search->any_version;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (const uint8_t *at = (const uint8_t *)name; *at; at++)
		hash = hash * 33 + *at;
	return hash;
}

static void find_by_gnu_hash(const struct elf_dynamic *dynamic, struct search *search)
{
	const uint32_t hash = gnu_hash_of(search->name);
	const uint32_t first = word_at(&dynamic->bucket, hash % dynamic->bucket.count);

	struct steps steps = {CHAIN_MAX};

	if (first < dynamic->chain_first)
		return;
	for (size_t i = first - dynamic->chain_first;
	     i < dynamic->chain.count && steps_take(&steps); i++) {
		const uint32_t word = word_at(&dynamic->chain, i);

		if ((word | 1) == (hash | 1) &&
		    take_definition(dynamic, dynamic->chain_first + (uint32_t)i, search))
			return;
		if (word & 1)
			return;
	}
}

static void find_by_sysv_hash(const struct elf_dynamic *dynamic, struct search *search)
{
	struct steps steps = {CHAIN_MAX};
	uint32_t number = word_at(&dynamic->bucket, elf_hash(search->name) % dynamic->bucket.count);

	for (; number && number < dynamic->chain.count && steps_take(&steps);
	     number = word_at(&dynamic->chain, number))
		if (take_definition(dynamic, number, search))
			return;
}

static int find(const struct elf_dynamic *dynamic, struct search *search)
{
	if (dynamic->bucket.count && dynamic->gnu_hash)
		find_by_gnu_hash(dynamic, search);
	else if (dynamic->bucket.count)
		find_by_sysv_hash(dynamic, search);
	return search->found ? 0 : -ENOENT;
}

int elf_dynamic_find(const struct elf_dynamic *dynamic, const char *name, Elf64_Sym *out_symbol)
{
	struct search search = {.name = name};
	const int err = find(dynamic, &search);

	if (!err)
		*out_symbol = search.symbol;
	return err;
}

int elf_dynamic_find_any(const struct elf_dynamic *dynamic, const char *name, uint16_t *out_version)
{
	struct search search = {.name = name, .any_version = true};
	const int err = find(dynamic, &search);

	if (!err)
		*out_version = search.found > 1 ? ELF_VERSION_SEVERAL : search.version;
	return err;
}

size_t elf_dynamic_relocation_count(const struct elf_dynamic *dynamic)
{
	return dynamic->relocation[0].count + dynamic->relocation[1].count;
}

void elf_dynamic_relocation(const struct elf_dynamic *dynamic, size_t number,
			    Elf64_Rela *out_relocation)
{
	const bool is_plt = number >= dynamic->relocation[0].count;
	const size_t at = is_plt ? number - dynamic->relocation[0].count : number;

	memcpy(out_relocation, dynamic->relocation[is_plt].bytes + at * sizeof(*out_relocation),
	       sizeof(*out_relocation));
}
