/* SPDX-License-Identifier: MIT */
/* eh_frame.c - see eh_frame.h. Enter at eh_frame_parse. */
#include "eh_frame.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "arch.h"

/*
 * Pointer encodings: the low four bits are the format; the others give the base (and the indirect
 * bit, which does not occur here).
 */
#define FORMAT_MASK 0x0f
#define RELATIVE_MASK 0xf0
#define EXTENDED_LENGTH 0xffffffffu

/* ---- pointers -------------------------------------------------------------------------------- */

static uint64_t read_format(struct dwarf_cursor *cursor, uint8_t encoding)
{
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return dwarf_unsigned(cursor, 8);
	case DW_EH_PE_sdata4:
		return (uint64_t)dwarf_signed(cursor, 4);
	case DW_EH_PE_udata4:
		return dwarf_unsigned(cursor, 4);
	case DW_EH_PE_sdata2:
		return (uint64_t)dwarf_signed(cursor, 2);
	case DW_EH_PE_udata2:
		return dwarf_unsigned(cursor, 2);
	case DW_EH_PE_uleb128:
		return dwarf_uleb(cursor);
	case DW_EH_PE_sleb128:
		return (uint64_t)dwarf_sleb(cursor);
	default:
		cursor->failed = true;
		return 0;
	}
}

uint64_t eh_pointer(struct dwarf_cursor *cursor, uint8_t encoding, const struct eh_section *section)
{
	const uint64_t here = section->address + (uint64_t)(cursor->at - section->bytes);
	const uint64_t value = read_format(cursor, encoding);

	switch (encoding & RELATIVE_MASK) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return here + value;
	default:
		cursor->failed = true;
		return 0;
	}
}

/* ---- CIE ------------------------------------------------------------------------------------- */

/*
 * Reads augmentation data as the letters of the augmentation string after 'z' specify. False: an
 * unknown letter.
 */
static bool read_augmentation(struct dwarf_cursor *cursor, const char *letters, struct eh_cie *cie)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = dwarf_byte(cursor);
			break;
		case 'L': /* encoding of the language's data */
			dwarf_byte(cursor);
			break;
		case 'P': /* personality routine */
			read_format(cursor, dwarf_byte(cursor));
			cie->has_personality = true;
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* these two mark code of another CPU, and have no data */
			cie->has_second_key = true;
			break;
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !cursor->failed;
}

/* cursor: from after the id to the end of the entry. False: this is no valid CIE. */
static bool read_cie(struct dwarf_cursor cursor, struct eh_cie *cie)
{
	const uint8_t version = dwarf_byte(&cursor);
	const char *augmentation = (const char *)cursor.at;
	uint64_t return_column;

	if (version != 1 && version != 3 && version != 4)
		return false;
	while (dwarf_byte(&cursor))
		;
	if (version == 4)
		dwarf_skip(&cursor, 2); /* sizes of address and segment selector */
	cie->code_factor = dwarf_uleb(&cursor);
	cie->data_factor = dwarf_sleb(&cursor);
	return_column = version == 1 ? dwarf_byte(&cursor) : dwarf_uleb(&cursor);
	if (cursor.failed)
		return false;
	cie->is_usable = return_column == ARCH_DWARF_PC;
	if (augmentation[0] == 'z') {
		const uint64_t size = dwarf_uleb(&cursor);
		struct dwarf_cursor data = cursor;

		dwarf_skip(&cursor, size);
		data.end = cursor.at;
		cie->has_size = true;
		cie->is_usable &= read_augmentation(&data, augmentation + 1, cie);
	} else if (augmentation[0]) {
		cie->is_usable = false;
	}
	cie->program = cursor;
	return !cursor.failed;
}

/* ---- all entries ----------------------------------------------------------------------------- */

struct parser {
	struct eh_frame frame;
	uint64_t lo, hi;
	size_t cie_capacity, fde_capacity;
	size_t last_cie; /* neighboring FDEs mostly share it */
};

/* Makes room for one more element of an array that doubles. */
static void *grow(void *array, size_t count, size_t *capacity, size_t element_size)
{
	void *grown;

	if (count < *capacity)
		return array;
	grown = reallocarray(array, *capacity ? *capacity * 2 : 256, element_size);
	if (grown)
		*capacity = *capacity ? *capacity * 2 : 256;
	return grown;
}

static int add_cie(struct parser *parser, const struct dwarf_cursor *cursor, size_t offset)
{
	struct eh_frame *frame = &parser->frame;
	struct eh_cie cie = {.offset = offset};
	struct eh_cie *grown =
		grow(frame->cie, frame->cie_count, &parser->cie_capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	frame->cie = grown;
	if (!read_cie(*cursor, &cie))
		return -EBADMSG;
	frame->cie[frame->cie_count++] = cie;
	return 0;
}

static bool find_cie(struct parser *parser, size_t offset)
{
	const struct eh_frame *frame = &parser->frame;
	size_t low = 0, high = frame->cie_count;

	if (high && frame->cie[parser->last_cie].offset == offset)
		return true;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (frame->cie[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == frame->cie_count || frame->cie[low].offset != offset)
		return false;
	parser->last_cie = low;
	return true;
}

static int add_fde(struct parser *parser, struct dwarf_cursor cursor)
{
	struct eh_frame *frame = &parser->frame;
	const struct eh_cie *cie = &frame->cie[parser->last_cie];
	struct eh_fde fde = {.cie = (uint32_t)parser->last_cie};

	if (!cie->is_usable)
		return 0;
	fde.lo = eh_pointer(&cursor, cie->pointer_encoding, &frame->section);
	fde.hi = fde.lo + read_format(&cursor, cie->pointer_encoding);
	if (cie->has_size)
		dwarf_skip(&cursor, dwarf_uleb(&cursor));
	if (cursor.failed || fde.lo >= fde.hi || fde.lo >= parser->hi || fde.hi <= parser->lo)
		return 0;
	fde.program = cursor;
	struct eh_fde *grown =
		grow(frame->fde, frame->fde_count, &parser->fde_capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	frame->fde = grown;
	frame->fde[frame->fde_count++] = fde;
	return 0;
}

/* Parses one entry: a length, an id, the rest. -EBADMSG: no valid entry, or the end mark. */
static int add_entry(struct parser *parser, struct dwarf_cursor *cursor)
{
	const struct eh_section *section = &parser->frame.section;
	const size_t offset = (size_t)(cursor->at - section->bytes);
	const uint64_t length = dwarf_unsigned(cursor, 4);
	struct dwarf_cursor entry = *cursor;
	size_t id_offset;
	uint64_t id;

	/* No linker makes entries of 64-bit length, and 0 is the end mark. */
	if (length == 0 || length == EXTENDED_LENGTH || length > dwarf_left(cursor))
		return -EBADMSG;
	dwarf_skip(cursor, length);
	entry.end = cursor->at;
	id_offset = (size_t)(entry.at - section->bytes);
	id = dwarf_unsigned(&entry, 4);
	if (entry.failed)
		return -EBADMSG;
	if (id == 0)
		return add_cie(parser, &entry, offset);
	/* The id of an FDE is the distance back to its CIE. */
	if (id > id_offset || !find_cie(parser, id_offset - id))
		return -EBADMSG;
	return add_fde(parser, entry);
}

static int compare_fdes(const void *left, const void *right)
{
	const struct eh_fde *a = left, *b = right;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

static void sort_fdes(struct eh_frame *frame)
{
	for (size_t i = 1; i < frame->fde_count; i++) {
		if (frame->fde[i].lo < frame->fde[i - 1].lo) {
			qsort(frame->fde, frame->fde_count, sizeof(*frame->fde), compare_fdes);
			return;
		}
	}
}

int eh_frame_parse(const struct eh_section *section, uint64_t lo, uint64_t hi,
		   struct eh_frame *out_frame)
{
	struct parser parser = {.frame.section = *section, .lo = lo, .hi = hi};
	struct dwarf_cursor cursor = {.at = section->bytes, .end = section->bytes + section->size};
	int err = 0;

	while (!err)
		err = add_entry(&parser, &cursor);
	if (err == -ENOMEM) {
		eh_frame_close(&parser.frame);
		return err;
	}
	sort_fdes(&parser.frame);
	*out_frame = parser.frame;
	return 0;
}

const struct eh_fde *eh_frame_find(const struct eh_frame *frame, uint64_t address)
{
	size_t lo = 0, hi = frame->fde_count;

	while (lo < hi) {
		const size_t middle = (lo + hi) / 2;

		if (frame->fde[middle].hi <= address)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo < frame->fde_count && frame->fde[lo].lo <= address ? &frame->fde[lo] : NULL;
}

void eh_frame_close(struct eh_frame *frame)
{
	free(frame->cie);
	free(frame->fde);
	*frame = (struct eh_frame){0};
}
