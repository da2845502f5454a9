/* SPDX-License-Identifier: MIT */
/* unwind_fill.c - see unwind_fill.h. */
#include "unwind_fill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "derived_rows.h"
#include "elf_dynamic.h"
#include "elf_segment.h"
#include "go_rows.h"

bool unwind_fill_is_whole(const struct elf_image *image)
{
	return image->is_vdso;
}

#define DERIVED_BYTES_MAX (2u << 20)
#define PART_BYTES_MIN 4096u /* a libc that is linked statically is larger */
#define PARTS_MAX 16u

/*
 * Does a function begin there? The parts of functions that gcc lays elsewhere (foo.cold) have
 * symbols like functions, and are jumped to in the midst of them.
 */
static bool is_entry(Elf *elf, const GElf_Shdr *table, const GElf_Sym *symbol)
{
	const char *name;

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_value)
		return false;
	name = elf_strptr(elf, table->sh_link, symbol->st_name);
	return !name || !strstr(name, ".cold");
}

/* The addresses at which functions begin, from the symbol tables. */
static int entries_of(Elf *elf, uint64_t **out_entries, size_t *out_count)
{
	uint64_t *entries = NULL;
	size_t count = 0, capacity = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = gelf_getshdr(section, &header) && (header.sh_type == SHT_DYNSYM ||
								    header.sh_type == SHT_SYMTAB)
					 ? elf_getdata(section, NULL)
					 : NULL;
		GElf_Sym symbol;

		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			if (!is_entry(elf, &header, &symbol))
				continue;
			if (count == capacity) {
				uint64_t *grown = reallocarray(
					entries, capacity ? capacity * 2 : 1024, sizeof(*grown));

				if (!grown) {
					free(entries);
					return -ENOMEM;
				}
				entries = grown;
				capacity = capacity ? capacity * 2 : 1024;
			}
			entries[count++] = symbol.st_value;
		}
	}
	*out_entries = entries;
	*out_count = count;
	return 0;
}

/* Replaces rows of kind NONE by derived rows. */
static int merge(struct row_builder *builder, const struct derived_code *code,
		 const struct derived_rows *derived)
{
	struct hi_unwind_row *old = builder->row;
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	const uint32_t count = builder->row_count;
	int err = 0;

	builder->row = NULL;
	builder->row_count = 0;
	builder->capacity = 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		const uint64_t begin = builder->lo + old[i].pc,
			       end = i + 1 < count ? builder->lo + old[i + 1].pc : builder->hi,
			       lo = begin > code->lo ? begin : code->lo,
			       hi = end < code->hi ? end : code->hi;

		err = row_builder_push(builder, begin, old[i]);
		if (old[i].kind != HI_UNWIND_NONE || lo >= hi)
			continue;
		for (uint64_t pc = lo; pc < hi && !err; pc++)
			err = row_builder_push(builder, pc, derived->row[pc - code->lo]);
		if (!err && hi < end)
			err = row_builder_push(builder, hi, none);
	}
	free(old);
	return err;
}

static int derive(struct row_builder *builder, Elf *elf, struct derived_code code,
		  const uint64_t *entry, size_t count)
{
	const uint64_t room = elf_segment_room(elf, code.lo);
	struct derived_rows rows;
	const void *bytes;
	int err;

	code.hi = code.hi - code.lo > room ? code.lo + room : code.hi;
	if (code.hi <= code.lo || code.hi - code.lo > DERIVED_BYTES_MAX ||
	    elf_segment_bytes(elf, code.lo, code.hi - code.lo, &bytes) < 0)
		return 0;
	code.bytes = bytes;
	err = derived_rows_make(&code, entry, count, &rows);
	if (err)
		return err;
	err = merge(builder, &code, &rows);
	derived_rows_free(&rows);
	return err;
}

/*
 * The same of a vdso, whose copy has no sections. Its symbols are functions, though not all are
 * marked as such.
 */
static int vdso_entries_of(const struct elf_image *image, uint64_t **out_entries, size_t *out_count)
{
	const uint32_t count = image->dynamic ? elf_dynamic_symbol_count(image->dynamic) : 0;
	uint64_t *entries = calloc(count ? count : 1, sizeof(*entries));
	Elf64_Sym symbol;

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (elf_dynamic_symbol(image->dynamic, i, &symbol))
			entries[(*out_count)++] = symbol.st_value;
	*out_entries = entries;
	return 0;
}

/* For a text of which hardly any part has rows: derives all of it. */
static int derive_all(struct row_builder *builder, const struct elf_image *image)
{
	uint64_t *entries;
	size_t count = 0;
	int err = unwind_fill_is_whole(image) ? vdso_entries_of(image, &entries, &count)
					      : entries_of(image->elf, &entries, &count);

	if (err)
		return err;
	err = derive(builder, image->elf,
		     (struct derived_code){.lo = builder->lo, .hi = builder->hi}, entries, count);
	free(entries);
	return err;
}

/* Where the row ends. */
static uint64_t end_of(const struct row_builder *builder, uint32_t row)
{
	return row + 1 < builder->row_count ? builder->lo + builder->row[row + 1].pc : builder->hi;
}

/* Derives the parts without rows that are as large as a libc. */
static int derive_parts(struct row_builder *builder, Elf *elf)
{
	struct derived_code part[PARTS_MAX];
	size_t parts = 0, count;
	uint64_t *entries;
	int err = entries_of(elf, &entries, &count);

	if (err)
		return err;
	for (uint32_t i = 0; i < builder->row_count && parts < PARTS_MAX; i++) {
		const struct derived_code code = {.lo = builder->lo + builder->row[i].pc,
						  .hi = end_of(builder, i)};

		if (builder->row[i].kind == HI_UNWIND_NONE && code.hi - code.lo >= PART_BYTES_MIN)
			part[parts++] = code;
	}
	for (size_t i = 0; i < parts && !err; i++)
		err = derive(builder, elf, part[i], entries, count);
	free(entries);
	return err;
}

/* Derives rows for the code around the program's entry if it has none: all stacks begin there. */
static int derive_entry(struct row_builder *builder, Elf *elf)
{
	GElf_Ehdr header;
	GElf_Phdr interpreter;
	uint32_t i = 0;
	int err;

	if (!gelf_getehdr(elf, &header) || header.e_entry < builder->lo ||
	    header.e_entry >= builder->hi)
		return 0;
	while (i + 1 < builder->row_count && builder->lo + builder->row[i + 1].pc <= header.e_entry)
		i++;
	if (builder->row[i].kind != HI_UNWIND_NONE)
		return 0;
	err = derive(builder, elf,
		     (struct derived_code){.lo = builder->lo + builder->row[i].pc,
					   .hi = end_of(builder, i)},
		     &(uint64_t){header.e_entry}, 1);
	return err || elf_segment_find(elf, PT_INTERP, &interpreter) ? err
								     : derive_parts(builder, elf);
}

/* Replaces rows of kind NONE by those of `filler`, which are sorted, and whose first has pc 0 or
 * more. */
static int fill_with(struct row_builder *builder, const struct hi_unwind_row *filler, size_t count)
{
	const struct hi_unwind_row *const old = builder->row;
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE}, *other = &none;
	const uint32_t old_count = builder->row_count;
	int err = 0;

	builder->row = NULL;
	builder->row_count = 0;
	builder->capacity = 0;
	for (size_t i = 0, j = 0; !err && (i < old_count || j < count);) {
		const bool is_old = j == count || (i < old_count && old[i].pc <= filler[j].pc);
		const uint32_t pc = is_old ? old[i].pc : filler[j].pc;

		i += is_old;
		if (!is_old || (j < count && filler[j].pc == pc))
			other = &filler[j++];
		err = row_builder_push(builder, builder->lo + pc,
				       old[i - 1].kind == HI_UNWIND_NONE ? *other : old[i - 1]);
	}
	free((void *)old);
	return err;
}

/* For a text that the Go compiler has made. */
int unwind_fill_from_go(struct row_builder *builder, const struct elf_image *image)
{
	struct go_code code;
	struct go_rows rows;
	const void *bytes;
	int err;

	if (hi_go_table_find(image->elf, &code.table))
		return 0;
	const uint64_t room = elf_segment_room(image->elf, builder->lo);
	code.lo = builder->lo;
	code.hi = builder->hi - builder->lo > room ? builder->lo + room : builder->hi;
	if (code.lo == code.hi ||
	    elf_segment_bytes(image->elf, code.lo, code.hi - code.lo, &bytes) < 0)
		return 0;
	code.code = bytes;
	err = go_rows_make(&code, &rows);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = fill_with(builder, rows.row, rows.count);
	go_rows_free(&rows);
	return err;
}

int unwind_fill_gaps(struct row_builder *builder, const struct elf_image *image)
{
	uint64_t covered = 0;

	for (uint32_t i = 0; i < builder->row_count; i++)
		if (builder->row[i].kind != HI_UNWIND_NONE)
			covered += end_of(builder, i) - (builder->lo + builder->row[i].pc);
	const int err = covered < (builder->hi - builder->lo) / 8 ? derive_all(builder, image) : 0;

	return err ? err : derive_entry(builder, image->elf);
}
