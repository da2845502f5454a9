/* SPDX-License-Identifier: MIT */
/*
 * unwind_table.c - .eh_frame compiled to rows.
 *
 * The section is found by PT_GNU_EH_FRAME, or by its name if a static program has no such segment.
 * Its FDEs are taken in address order. The rows of each FDE are valid from their pc to the next
 * row; the space between FDEs becomes a row of kind NONE. A row equal to the one before is left
 * out. Code of Go gets rows from its own table (go_rows.h). Other code without entries in the
 * section, such as musl's, gets derived rows (derived_rows.h). Rules that no row can express
 * become NONE as well: the walker then tries the frame pointer and marks the result as a guess.
 * Enter at unwind_table_build.
 */
#include "unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "derived_rows.h"
#include "elf_section.h"
#include "elf_segment.h"
#include "go_rows.h"
#include "unwind_row.h"

/* ---- the section ----------------------------------------------------------------------------- */

/* Address of .eh_frame in the file; 0 = none. */
static uint64_t address_by_header(Elf *elf)
{
	struct eh_section header;
	struct dwarf_cursor cursor;
	const void *bytes;
	GElf_Phdr segment;
	uint8_t encoding;
	uint64_t address;

	if (!elf_segment_find(elf, PT_GNU_EH_FRAME, &segment) ||
	    elf_segment_bytes(elf, segment.p_vaddr, segment.p_filesz, &bytes) < 0)
		return 0;
	header = (struct eh_section){
		.bytes = bytes, .size = segment.p_filesz, .address = segment.p_vaddr};
	cursor = (struct dwarf_cursor){.at = header.bytes, .end = header.bytes + header.size};
	if (dwarf_byte(&cursor) != 1)
		return 0;
	encoding = dwarf_byte(&cursor);
	dwarf_skip(&cursor, 2); /* how the search table is encoded; it is not needed here */
	address = eh_pointer(&cursor, encoding, &header);
	return cursor.failed ? 0 : address;
}

static uint64_t address_by_name(Elf *elf)
{
	GElf_Shdr header;

	return elf_section_find(elf, ".eh_frame", &header) ? header.sh_addr : 0;
}

/*
 * Bytes up to the end of its segment; the section itself ends at its end mark or at the first
 * malformed entry. 0 = there is none.
 */
static uint64_t section_room(Elf *elf, uint64_t *out_address)
{
	*out_address = address_by_header(elf);
	if (!*out_address)
		*out_address = address_by_name(elf);
	return *out_address ? elf_segment_room(elf, *out_address) : 0;
}

uint64_t unwind_table_cost(const struct elf_image *image)
{
	uint64_t address;
	struct hi_go_table go;
	const uint64_t room = section_room(image->elf, &address);

	return room ? room + (hi_go_table_find(image->elf, &go) ? 0 : go.size) : 0;
}

int unwind_table_section(const struct elf_image *image, struct eh_section *out_section)
{
	uint64_t address;
	const uint64_t size = section_room(image->elf, &address);
	const void *bytes;

	if (!size || elf_segment_bytes(image->elf, address, size, &bytes) < 0)
		return -ENOENT;
	*out_section = (struct eh_section){.bytes = bytes, .size = size, .address = address};
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct builder {
	struct unwind_table *table;
	uint64_t lo, hi; /* of the text, as addresses of the file */
	size_t capacity;
};

static bool says_the_same(const struct hi_unwind_row *a, const struct hi_unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->bp_slot == b->bp_slot;
}

/*
 * Adds a row that is valid from pc on. Calls must come in ascending order of pc; at the same pc the
 * last call counts.
 */
static int push_row(struct builder *builder, uint64_t pc, struct hi_unwind_row row)
{
	struct unwind_table *table = builder->table;

	row.pc = pc > builder->lo ? (uint32_t)(pc - builder->lo) : 0;
	if (table->row_count && table->row[table->row_count - 1].pc == row.pc)
		table->row_count--;
	if (table->row_count && says_the_same(&table->row[table->row_count - 1], &row))
		return 0;
	if (table->row_count == builder->capacity) {
		const size_t capacity = builder->capacity ? builder->capacity * 2 : 1024;
		struct hi_unwind_row *grown = reallocarray(table->row, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		table->row = grown;
		builder->capacity = capacity;
	}
	table->row[table->row_count++] = row;
	return 0;
}

/* Adds the rows of one FDE that begin before `end`. */
static int push_fde(struct builder *builder, struct cfi *cfi, uint64_t end)
{
	const struct cfi_rules *rules;
	uint64_t pc;
	int err = 0;

	while (!err && cfi_next(cfi, &pc, &rules) && pc < end)
		err = push_row(builder, pc, unwind_row(rules, cfi->cie->is_signal));
	return err;
}

static int push_all(struct builder *builder, const struct eh_frame *frame,
		    const struct cfi_rules *initial, const bool *has_initial)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	int err = push_row(builder, builder->lo, none);
	struct cfi cfi;

	for (size_t i = 0; !err && i < frame->fde_count; i++) {
		const struct eh_fde *fde = &frame->fde[i];
		uint64_t end = fde->hi < builder->hi ? fde->hi : builder->hi;

		/*
		 * Functions do not overlap; if a damaged section has overlapping ones, the later
		 * one takes precedence.
		 */
		if (i + 1 < frame->fde_count && frame->fde[i + 1].lo < end)
			end = frame->fde[i + 1].lo;
		if (has_initial[fde->cie]) {
			cfi_start(&cfi, frame, fde, &initial[fde->cie]);
			err = push_fde(builder, &cfi, end);
		}
		if (!err && end < builder->hi)
			err = push_row(builder, end, none);
	}
	return err;
}

static int build_rows(struct builder *builder, const struct eh_frame *frame)
{
	struct cfi_rules *initial = calloc(frame->cie_count + 1, sizeof(*initial));
	bool *has_initial = calloc(frame->cie_count + 1, sizeof(*has_initial));
	int err = initial && has_initial ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < frame->cie_count; i++)
		has_initial[i] = frame->cie[i].is_usable &&
				 cfi_initial(&frame->section, &frame->cie[i], &initial[i]);
	if (!err)
		err = push_all(builder, frame, initial, has_initial);
	free(initial);
	free(has_initial);
	return err;
}

int unwind_table_index(struct unwind_table *table)
{
	uint32_t row = 0;

	table->index_count = (uint32_t)((table->hi - table->lo) / HI_INDEX_BYTES + 2);
	table->index = calloc(table->index_count, sizeof(*table->index));
	if (!table->index)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->index_count; i++) {
		while (row + 1 < table->row_count &&
		       table->row[row + 1].pc <= (uint64_t)i * HI_INDEX_BYTES)
			row++;
		table->index[i] = row;
	}
	return 0;
}

/* ---- code without unwind information --------------------------------------------------------- */

#define DERIVED_BYTES_MAX (2u << 20)

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
			if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_value)
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
static int merge(struct builder *builder, const struct derived_code *code,
		 const struct derived_rows *derived)
{
	struct unwind_table *table = builder->table;
	struct hi_unwind_row *old = table->row;
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	const uint32_t count = table->row_count;
	int err = 0;

	table->row = NULL;
	table->row_count = 0;
	builder->capacity = 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		const uint64_t begin = builder->lo + old[i].pc,
			       end = i + 1 < count ? builder->lo + old[i + 1].pc : builder->hi;

		err = push_row(builder, begin, old[i]);
		for (uint64_t pc = begin; old[i].kind == HI_UNWIND_NONE && pc < end && !err; pc++)
			err = push_row(builder, pc,
				       pc >= code->lo && pc < code->hi ? derived->row[pc - code->lo]
								       : none);
	}
	free(old);
	return err;
}

static int derive(struct builder *builder, Elf *elf, struct derived_code code,
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

/* For a text of which hardly any part has rows: derives all of it. */
static int derive_all(struct builder *builder, Elf *elf)
{
	uint64_t *entries;
	size_t count;
	int err = entries_of(elf, &entries, &count);

	if (err)
		return err;
	err = derive(builder, elf, (struct derived_code){.lo = builder->lo, .hi = builder->hi},
		     entries, count);
	free(entries);
	return err;
}

/* Derives rows for the code around the program's entry if it has none: all stacks begin there. */
static int derive_entry(struct builder *builder, Elf *elf)
{
	const struct unwind_table *table = builder->table;
	GElf_Ehdr header;
	uint32_t i = 0;

	if (!gelf_getehdr(elf, &header) || header.e_entry < builder->lo ||
	    header.e_entry >= builder->hi)
		return 0;
	while (i + 1 < table->row_count && builder->lo + table->row[i + 1].pc <= header.e_entry)
		i++;
	if (table->row[i].kind != HI_UNWIND_NONE)
		return 0;
	const uint64_t end =
		i + 1 < table->row_count ? builder->lo + table->row[i + 1].pc : builder->hi;
	return derive(builder, elf,
		      (struct derived_code){.lo = builder->lo + table->row[i].pc, .hi = end},
		      &(uint64_t){header.e_entry}, 1);
}

/* Replaces rows of kind NONE by those of `filler`, which are sorted, and whose first has pc 0 or
 * more. */
static int fill_with(struct builder *builder, const struct hi_unwind_row *filler, size_t count)
{
	struct unwind_table *table = builder->table;
	const struct hi_unwind_row *const old = table->row;
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE}, *other = &none;
	const uint32_t old_count = table->row_count;
	int err = 0;

	table->row = NULL;
	table->row_count = 0;
	builder->capacity = 0;
	for (size_t i = 0, j = 0; !err && (i < old_count || j < count);) {
		const bool is_old = j == count || (i < old_count && old[i].pc <= filler[j].pc);
		const uint32_t pc = is_old ? old[i].pc : filler[j].pc;

		i += is_old;
		if (!is_old || (j < count && filler[j].pc == pc))
			other = &filler[j++];
		err = push_row(builder, builder->lo + pc,
			       old[i - 1].kind == HI_UNWIND_NONE ? *other : old[i - 1]);
	}
	free((void *)old);
	return err;
}

/* For a text that the Go compiler has made. */
static int fill_from_go(struct builder *builder, const struct elf_image *image)
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

static int fill_gaps(struct builder *builder, Elf *elf)
{
	const struct unwind_table *table = builder->table;
	uint64_t covered = 0;

	for (uint32_t i = 0; i < table->row_count; i++)
		if (table->row[i].kind != HI_UNWIND_NONE)
			covered += (i + 1 < table->row_count ? table->row[i + 1].pc
							     : builder->hi - builder->lo) -
				   table->row[i].pc;
	const int err = covered < (builder->hi - builder->lo) / 8 ? derive_all(builder, elf) : 0;

	return err ? err : derive_entry(builder, elf);
}

int unwind_table_build(const struct elf_image *image, const struct elf_text *text,
		       struct unwind_table *out_table)
{
	struct unwind_table table = {.lo = text->lo, .hi = text->hi};
	struct builder builder = {
		.table = &table, .lo = text->lo - image->bias, .hi = text->hi - image->bias};
	struct eh_section section;
	struct eh_frame frame;
	int err;

	if (text->hi - text->lo > UINT32_MAX || builder.lo > builder.hi)
		return -EFBIG;
	err = unwind_table_section(image, &section);
	if (err)
		return err;
	err = eh_frame_parse(&section, builder.lo, builder.hi, &frame);
	if (err)
		return err;
	err = build_rows(&builder, &frame);
	eh_frame_close(&frame);
	if (!err)
		err = fill_from_go(&builder, image);
	if (!err)
		err = fill_gaps(&builder, image->elf);
	if (!err)
		err = unwind_table_index(&table);
	if (err) {
		unwind_table_close(&table);
		return err;
	}
	*out_table = table;
	return 0;
}

void unwind_table_close(struct unwind_table *table)
{
	free(table->row);
	free(table->index);
	*table = (struct unwind_table){0};
}

const struct hi_unwind_row *unwind_table_find(const struct unwind_table *table, remote_addr pc)
{
	const uint64_t offset = pc - table->lo;
	uint32_t low = table->index[offset / HI_INDEX_BYTES],
		 high = table->index[offset / HI_INDEX_BYTES + 1];

	while (low < high) {
		const uint32_t middle = low + (high - low + 1) / 2;

		if (table->row[middle].pc <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return &table->row[low];
}
