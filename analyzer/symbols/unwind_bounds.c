/* SPDX-License-Identifier: MIT */
/*
 * unwind_bounds.c - see unwind_bounds.h. The format: Linux Standard Base, "Exception Frames".
 */
#include "unwind_bounds.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How values are encoded (DW_EH_PE_...). */
#define ENCODED_UDATA4 0x03u
#define ENCODED_SIZE_4 0x03u /* of the lower bits but the sign: four bytes */
#define ENCODED_SIZE_MASK 0x07u
#define ENCODED_DATAREL_SDATA4 0x3bu
#define EXTENDED_LENGTH 0xffffffffu

struct unwind_header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};
/* A row of the table: both relative to the table's own address. */
struct unwind_entry {
	int32_t begin, frame;
};
/* The beginning of an entry of .eh_frame with the encoding that is usual. */
struct frame_entry {
	uint32_t length, cie;
	int32_t begin; /* relative to this field */
	uint32_t size;
};

static bool is_read(const struct objfile *file, uint64_t offset, void *to, size_t size)
{
	return offset <= INT64_MAX && pread(file->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* The program header of that type, or of type PT_LOAD the one that has the address in the file. */
static bool find_segment(Elf *elf, uint32_t type, uint64_t address, GElf_Phdr *out_segment)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, out_segment) && out_segment->p_type == type &&
		    (type != PT_LOAD || (address >= out_segment->p_vaddr &&
					 address - out_segment->p_vaddr < out_segment->p_filesz)))
			return true;
	}
	return false;
}

/* How many rows the table has, as far as they lie in the segment and in the file. */
static size_t rows_of(const struct objfile *file, const GElf_Phdr *segment,
		      const struct unwind_header *header)
{
	struct stat status;

	if (fstat(file->fd, &status) || status.st_size < 0 ||
	    segment->p_offset > (uint64_t)status.st_size ||
	    segment->p_filesz > (uint64_t)status.st_size - segment->p_offset ||
	    segment->p_filesz < sizeof(*header))
		return 0;
	const uint64_t room = (segment->p_filesz - sizeof(*header)) / sizeof(struct unwind_entry);
	return header->count <= room ? header->count : 0;
}

int unwind_bounds_open(const struct objfile *file, struct unwind_bounds *out_bounds)
{
	struct unwind_bounds bounds = {0};
	struct unwind_header header;
	GElf_Phdr segment;

	if (file->fd < 0 || !objfile_has_code(file->elf) ||
	    !find_segment(file->elf, PT_GNU_EH_FRAME, 0, &segment) ||
	    !is_read(file, segment.p_offset, &header, sizeof(header)) || header.version != 1 ||
	    (header.frame_encoding & ENCODED_SIZE_MASK) != ENCODED_SIZE_4 ||
	    header.count_encoding != ENCODED_UDATA4 ||
	    header.table_encoding != ENCODED_DATAREL_SDATA4)
		return -ENOENT;
	bounds.base = segment.p_vaddr;
	bounds.count = rows_of(file, &segment, &header);
	if (!bounds.count)
		return -ENOENT;
	bounds.entry = malloc(bounds.count * sizeof(*bounds.entry));
	if (!bounds.entry)
		return -ENOMEM;
	if (!is_read(file, segment.p_offset + sizeof(header), bounds.entry,
		     bounds.count * sizeof(*bounds.entry))) {
		unwind_bounds_close(&bounds);
		return -ENOENT;
	}
	*out_bounds = bounds;
	return 0;
}

void unwind_bounds_close(struct unwind_bounds *bounds)
{
	free(bounds->entry);
	*bounds = (struct unwind_bounds){0};
}

static uint64_t address_of(const struct unwind_bounds *bounds, int32_t offset)
{
	return bounds->base + (uint64_t)(int64_t)offset;
}

/* Reads the entry of .eh_frame at an address. */
static bool read_frame(const struct objfile *file, uint64_t address, struct frame_entry *out_frame)
{
	GElf_Phdr segment;

	return find_segment(file->elf, PT_LOAD, address, &segment) &&
	       segment.p_filesz - (address - segment.p_vaddr) >= sizeof(*out_frame) &&
	       is_read(file, segment.p_offset + (address - segment.p_vaddr), out_frame,
		       sizeof(*out_frame));
}

int unwind_bounds_find(const struct unwind_bounds *bounds, const struct objfile *file,
		       uint64_t address, uint64_t *out_begin)
{
	size_t low = 0, high = bounds->count;
	struct frame_entry frame;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (address_of(bounds, bounds->entry[middle].begin) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return -ENOENT;
	const uint64_t begin = address_of(bounds, bounds->entry[low - 1].begin),
		       at = address_of(bounds, bounds->entry[low - 1].frame);
	/* A frame in another encoding does not begin where the table says. */
	if (address < begin || !read_frame(file, at, &frame) || frame.length == EXTENDED_LENGTH ||
	    frame.length < sizeof(frame) - sizeof(frame.length) || frame.cie == 0 ||
	    at + offsetof(struct frame_entry, begin) + (uint64_t)(int64_t)frame.begin != begin ||
	    address - begin >= frame.size)
		return -ENOENT;
	*out_begin = begin;
	return 0;
}
