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
#include "elf_section.h"
#include "elf_segment.h"
#include "go_rows.h"
#include "unwind_fill.h"
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

	if (!room)
		return unwind_fill_is_whole(image) ? image->hi - image->lo : 0;
	return room + (hi_go_table_find(image->elf, &go) ? 0 : go.size);
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

/* Adds the rows of one FDE that begin before `end`. */
static int push_fde(struct row_builder *builder, struct cfi *cfi, uint64_t end)
{
	const struct cfi_rules *rules;
	uint64_t pc;
	int err = 0;

	while (!err && cfi_next(cfi, &pc, &rules) && pc < end)
		err = row_builder_push(builder, pc, unwind_row(rules, cfi->cie->is_signal));
	return err;
}

static int push_all(struct row_builder *builder, const struct eh_frame *frame,
		    const struct cfi_rules *initial, const bool *has_initial)
{
	const struct hi_unwind_row none = {.kind = HI_UNWIND_NONE};
	int err = row_builder_push(builder, builder->lo, none);
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
			err = row_builder_push(builder, end, none);
	}
	return err;
}

static int build_rows(struct row_builder *builder, const struct eh_frame *frame)
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

/* The rows of .eh_frame. */
static int fill_from_section(struct row_builder *builder, const struct elf_image *image)
{
	struct eh_section section;
	struct eh_frame frame;
	int err = unwind_table_section(image, &section);

	if (err == -ENOENT && unwind_fill_is_whole(image))
		return row_builder_push(builder, builder->lo,
					(struct hi_unwind_row){.kind = HI_UNWIND_NONE});
	if (!err)
		err = eh_frame_parse(&section, builder->lo, builder->hi, &frame);
	if (err)
		return err;
	err = build_rows(builder, &frame);
	eh_frame_close(&frame);
	return err;
}

static int build(const struct elf_image *image, const struct elf_text *text, bool is_filled,
		 struct unwind_table *out_table)
{
	struct unwind_table table = {.lo = text->lo, .hi = text->hi};
	struct row_builder builder = {.lo = text->lo - image->bias, .hi = text->hi - image->bias};
	int err;

	if (text->hi - text->lo > UINT32_MAX || builder.lo > builder.hi)
		return -EFBIG;
	err = fill_from_section(&builder, image);
	if (!err && is_filled)
		err = unwind_fill_from_go(&builder, image);
	if (!err && is_filled)
		err = unwind_fill_gaps(&builder, image);
	table.row = builder.row;
	table.row_count = builder.row_count;
	if (!err)
		err = unwind_table_index(&table);
	if (err) {
		unwind_table_close(&table);
		return err;
	}
	*out_table = table;
	return 0;
}

int unwind_table_build(const struct elf_image *image, const struct elf_text *text,
		       struct unwind_table *out_table)
{
	return build(image, text, true, out_table);
}

int unwind_table_build_described(const struct elf_image *image, const struct elf_text *text,
				 struct unwind_table *out_table)
{
	return build(image, text, unwind_fill_is_whole(image), out_table);
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
