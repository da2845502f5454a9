/* SPDX-License-Identifier: MIT */
/*
 * dwarf_units.h - the compilation units of a file, by address.
 *
 * Units are found by .debug_aranges where that is right, else by their own ranges: .debug_aranges
 * may be incomplete (gcc -flto) or missing (clang).
 */
#ifndef HI_DWARF_UNITS_H
#define HI_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_scopes.h"
#include "table.h"

struct dwarf_unit {
	Dwarf_Off die;
	/*
	 * the entry whose children are walked; for a split unit not die but the entry in the .dwo
	 * file
	 */
	Dwarf_Die tree;
	struct dwarf_scopes scopes;
	bool is_walked;
	bool lacks_split; /* its tree is in a split file that was not found */
};

/* Zero-initialized but for dwarf = empty. */
struct dwarf_units {
	Dwarf *dwarf;
	struct dwarf_unit *unit;
	size_t unit_count, unit_room;
	struct table unit_by_die;
	/* of all units, sorted by lo; empty until an address asks for it */
	struct dwarf_unit_range *range;
	size_t range_count, range_room;
	bool has_ranges;
};

/* Reads all units and their ranges, once. 0 or -ENOMEM. */
int dwarf_units_read_ranges(struct dwarf_units *units);
/* The unit lives until the next call. 0, -ENOENT, -ENOMEM. */
int dwarf_units_find(struct dwarf_units *units, uint64_t address, struct dwarf_unit **out_unit);
void dwarf_units_close(struct dwarf_units *units);

#endif
