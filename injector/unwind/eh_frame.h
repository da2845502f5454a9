/* SPDX-License-Identifier: MIT */
/*
 * eh_frame.h - the entries of an .eh_frame section: which unwind program applies to which code.
 *
 * Formats: LSB Core, chapter "Exception Frames", and DWARF 5, 6.4.1. Addresses are those of the
 * file. The section may be hostile: pointers stay inside it, and parsing ends at the first
 * malformed entry.
 */
#ifndef HI_EH_FRAME_H
#define HI_EH_FRAME_H

#include "dwarf_cursor.h"
#include "memory.h"

struct eh_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* address of bytes[0] in the file, the base of pc-relative pointers */
};

/* The data that many functions have in common. */
struct eh_cie {
	size_t offset; /* in the section */
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer_encoding; /* DW_EH_PE_... */
	bool has_size;            /* of augmentation data, in its FDEs too */
	bool is_signal;           /* frames of a signal trampoline */
	bool has_personality;     /* a personality routine runs when an exception passes */
	bool has_second_key;      /* where it signs return addresses, it is by another key */
	bool is_usable;           /* false: an unknown augmentation or return address column */
	struct dwarf_cursor program;
};

/* One function, or part of one. */
struct eh_fde {
	uint64_t lo, hi;
	uint32_t cie; /* index */
	struct dwarf_cursor program;
};

struct eh_frame {
	struct eh_section section;
	struct eh_cie *cie; /* by offset */
	struct eh_fde *fde; /* by lo */
	size_t cie_count, fde_count;
};

/*
 * Collects the FDEs that cover code in [lo, hi). -ENOMEM is the only error: a damaged section just
 * yields fewer entries. section->bytes must outlive the result.
 */
must_check int eh_frame_parse(const struct eh_section *section, uint64_t lo, uint64_t hi,
			      struct eh_frame *out_frame);
void eh_frame_close(struct eh_frame *frame);
/* The FDE that covers the address; NULL: none does. */
const struct eh_fde *eh_frame_find(const struct eh_frame *frame, uint64_t address);

/*
 * Reads a pointer in one of the encodings DW_EH_PE_... Fails for indirect pointers and for those
 * relative to anything but pc.
 */
uint64_t eh_pointer(struct dwarf_cursor *cursor, uint8_t encoding,
		    const struct eh_section *section);

#endif
