/* SPDX-License-Identifier: MIT */
/* dwarf_units.c - see dwarf_units.h. */
#include "dwarf_units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

struct dwarf_unit_range {
	uint64_t lo, hi;
	uint32_t unit;
};

static int compare_ranges(const void *left, const void *right)
{
	const struct dwarf_unit_range *a = left, *b = right;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static int add_unit(struct dwarf_units *units, Dwarf_Off die)
{
	if (array_reserve(&units->unit, &units->unit_room, units->unit_count,
			  sizeof(*units->unit)) ||
	    table_add(&units->unit_by_die, hash_number(die), (uint32_t)units->unit_count))
		return -ENOMEM;
	units->unit[units->unit_count++] = (struct dwarf_unit){.die = die};
	return 0;
}

/* A unit and its ranges. */
static int add_ranges(struct dwarf_units *units, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	if (add_unit(units, dwarf_dieoffset(die)))
		return -ENOMEM;
	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo >= hi || lo == 0)
			continue; /* a function that the linker threw away */
		if (array_reserve(&units->range, &units->range_room, units->range_count,
				  sizeof(*units->range)))
			return -ENOMEM;
		units->range[units->range_count++] = (struct dwarf_unit_range){
			.lo = lo, .hi = hi, .unit = (uint32_t)(units->unit_count - 1)};
	}
	return 0;
}

int dwarf_units_read_ranges(struct dwarf_units *units)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int err = 0;

	units->has_ranges = true;
	/* Without a split-unit argument libdw opens no .dwo file here: there may be thousands. */
	while (!err && dwarf_get_units(units->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = add_ranges(units, &die);
	}
	if (units->range_count > 1)
		qsort(units->range, units->range_count, sizeof(*units->range), compare_ranges);
	return err;
}

/* Finds the unit by .debug_aranges, if the unit's own ranges agree. */
static int find_unit_by_aranges(struct dwarf_units *units, uint64_t address,
				struct dwarf_unit **out_unit)
{
	Dwarf_Aranges *aranges;
	Dwarf_Arange *found;
	Dwarf_Off offset;
	Dwarf_Die die;
	size_t count;
	uint32_t index;

	if (dwarf_getaranges(units->dwarf, &aranges, &count) ||
	    !(found = dwarf_getarange_addr(aranges, address)) ||
	    dwarf_getarangeinfo(found, NULL, NULL, &offset) ||
	    !dwarf_offdie(units->dwarf, offset, &die) || dwarf_haspc(&die, address) <= 0)
		return -ENOENT;
	struct table_cursor cursor = table_seek(&units->unit_by_die, hash_number(offset));
	while (table_next(&units->unit_by_die, &cursor, &index)) {
		if (units->unit[index].die == offset) {
			*out_unit = &units->unit[index];
			return 0;
		}
	}
	if (add_unit(units, offset))
		return -ENOMEM;
	*out_unit = &units->unit[units->unit_count - 1];
	return 0;
}

static struct dwarf_unit *find_unit_by_ranges(const struct dwarf_units *units, uint64_t address)
{
	size_t low = 0, high = units->range_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (units->range[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < units->range[low - 1].hi
		       ? &units->unit[units->range[low - 1].unit]
		       : NULL;
}

int dwarf_units_find(struct dwarf_units *units, uint64_t address, struct dwarf_unit **out_unit)
{
	int err = units->has_ranges ? -ENOENT : find_unit_by_aranges(units, address, out_unit);

	if (err != -ENOENT)
		return err;
	err = units->has_ranges ? 0 : dwarf_units_read_ranges(units);
	*out_unit = err ? NULL : find_unit_by_ranges(units, address);
	return err ? err : *out_unit ? 0 : -ENOENT;
}

void dwarf_units_close(struct dwarf_units *units)
{
	for (size_t i = 0; i < units->unit_count; i++)
		dwarf_scopes_close(&units->unit[i].scopes);
	table_close(&units->unit_by_die);
	free(units->unit);
	free(units->range);
}
