/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.c - see dwarf_lines.h.
 *
 * To find the scopes of one address, libdw walks the compilation unit anew each time: milliseconds
 * per address. So a unit is walked once, when the first address in it is asked for, into a sorted
 * array of the code ranges of its functions and inlined calls. From then on an address is a binary
 * search. Units are found by .debug_aranges where that is right, else by their own ranges:
 * .debug_aranges may be incomplete (gcc -flto) or missing (clang).
 *
 * The file is untrusted. The walk is a loop with a stack of bounded depth. It goes on only to
 * higher offsets, so it ends.
 */
#include "dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_image.h"
#include "dwarf_names.h"
#include "table.h"

#define NEST_MAX 256 /* entries below this depth of the tree are passed over */
#define NO_SCOPE UINT32_MAX
/* units to check; the first ones are those of the C library's start files */
#define UNITS_ASKED 16

/* Code of one function or of one inlined call. */
struct scope {
	uint64_t lo, hi;
	Dwarf_Off die;
	uint32_t outer; /* index of the scope around it in the sorted array, NO_SCOPE = none */
	/* in the tree: of two scopes with the same range the deeper one is the inner one */
	uint16_t depth;
	bool is_inlined;
};

struct unit {
	Dwarf_Off die;
	/*
	 * the entry whose children are walked; for a split unit not die but the entry in the .dwo
	 * file
	 */
	Dwarf_Die tree;
	struct scope *scope; /* sorted by lo, the outer before the inner */
	size_t count, room;
	bool is_walked;
	bool lacks_split; /* its tree is in a split file that was not found */
};

struct unit_range {
	uint64_t lo, hi;
	uint32_t unit;
};

/* What libdw reads of one file. */
struct source {
	struct debug_image image; /* not open: libdw reads the file itself */
	Dwarf *dwarf;
};

struct dwarf_lines {
	struct source own, alternate;
	Dwarf *dwarf; /* of own */
	struct unit *unit;
	size_t unit_count, unit_room;
	struct table unit_by_die;
	/* of all units, sorted by lo; empty until an address asks for it */
	struct unit_range *range;
	size_t range_count, range_room;
	bool has_ranges;
	bool may_open_split;
	char package[PATH_MAX]; /* of split debug information, beside the file; "" = none */
	struct dwarf_lacks lacks;
	struct dwarf_names names;
};

static int compare_ranges(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static int compare_scopes(const void *left, const void *right)
{
	const struct scope *a = left, *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return (int)a->depth - (int)b->depth;
}

/* ---- finding the unit ------------------------------------------------------------------------ */

static int add_unit(struct dwarf_lines *lines, Dwarf_Off die)
{
	if (array_reserve(&lines->unit, &lines->unit_room, lines->unit_count,
			  sizeof(*lines->unit)) ||
	    table_add(&lines->unit_by_die, hash_number(die), (uint32_t)lines->unit_count))
		return -ENOMEM;
	lines->unit[lines->unit_count++] = (struct unit){.die = die};
	return 0;
}

/* A unit and its ranges. */
static int add_ranges(struct dwarf_lines *lines, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	if (add_unit(lines, dwarf_dieoffset(die)))
		return -ENOMEM;
	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo >= hi || lo == 0)
			continue; /* a function that the linker threw away */
		if (array_reserve(&lines->range, &lines->range_room, lines->range_count,
				  sizeof(*lines->range)))
			return -ENOMEM;
		lines->range[lines->range_count++] = (struct unit_range){
			.lo = lo, .hi = hi, .unit = (uint32_t)(lines->unit_count - 1)};
	}
	return 0;
}

/*
 * libdw assumes that the last string of a section is terminated. Call this after libdw has unpacked
 * compressed sections.
 */
static bool is_terminated(Elf *elf, const char *name)
{
	Elf_Scn *section = objfile_section(elf, SHT_NULL, name);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return !data || !data->d_size ||
	       (data->d_buf && ((const char *)data->d_buf)[data->d_size - 1] == 0);
}

static void source_close(struct source *source)
{
	dwarf_end(source->dwarf);
	debug_image_close(&source->image);
	source->dwarf = NULL;
}

/*
 * Without debug information source->dwarf stays NULL. whole: libdw reads the file itself. It finds
 * split files beside the file by the file's descriptor, which an image does not have.
 */
static void source_open(const struct objfile *file, bool whole, struct source *source)
{
	const int err = whole ? -ENOTSUP : debug_image_open(file, &source->image);
	Elf *elf = err ? file->elf : source->image.elf;

	source->dwarf = err == -ENOENT ? NULL : dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!source->dwarf || !is_terminated(elf, ".debug_str") ||
	    !is_terminated(elf, ".debug_line_str"))
		source_close(source);
}

/* True if one of the first units is in a file of its own. Then the others most likely are, too. */
static bool is_split(Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	uint8_t type = 0;

	for (int i = 0; dwarf && i < UNITS_ASKED && type != DW_UT_skeleton; i++) {
		if (dwarf_get_units(dwarf, cu, &cu, NULL, &type, NULL, NULL))
			return false;
	}
	return type == DW_UT_skeleton;
}

/* All units, and their ranges. */
static int read_ranges(struct dwarf_lines *lines)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int err = 0;

	lines->has_ranges = true;
	/* Without a split-unit argument libdw opens no .dwo file here: there may be thousands. */
	while (!err && dwarf_get_units(lines->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = add_ranges(lines, &die);
	}
	if (lines->range_count > 1)
		qsort(lines->range, lines->range_count, sizeof(*lines->range), compare_ranges);
	return err;
}

int dwarf_lines_open(const struct objfile *file, const struct objfile *alternate,
		     bool may_open_split, struct dwarf_lines **out_lines)
{
	struct dwarf_lines *lines = calloc(1, sizeof(*lines));
	Dwarf_Aranges *aranges;
	size_t count;
	int err = -ENOENT;

	if (!lines)
		return -ENOMEM;
	lines->may_open_split = may_open_split;
	source_open(file, false, &lines->own);
	if (may_open_split && is_split(lines->own.dwarf)) {
		source_close(&lines->own);
		source_open(file, true, &lines->own);
		if (!objfile_has_package(file, lines->package))
			lines->package[0] = 0;
	}
	lines->dwarf = lines->own.dwarf;
	if (!lines->dwarf)
		goto failed;
	if (alternate->elf)
		source_open(alternate, false, &lines->alternate);
	if (lines->alternate.dwarf)
		dwarf_setalt(lines->dwarf, lines->alternate.dwarf);
	/*
	 * Going through thousands of units for the two or three that are asked for would take as
	 * long as all the rest. So read_ranges() is called now only if there is no .debug_aranges.
	 */
	if (dwarf_getaranges(lines->dwarf, &aranges, &count) || count == 0) {
		err = read_ranges(lines);
		if (err || lines->range_count == 0)
			goto failed;
	}
	*out_lines = lines;
	return 0;
failed:
	dwarf_lines_close(lines);
	return err == -ENOMEM ? err : -ENOENT;
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++)
		free(lines->unit[i].scope);
	dwarf_names_close(&lines->names);
	table_close(&lines->unit_by_die);
	free(lines->unit);
	free(lines->range);
	free(lines->lacks.file);
	free(lines->lacks.package);
	source_close(&lines->own);
	source_close(&lines->alternate);
	free(lines);
}

/* Finds the unit by .debug_aranges, if the unit's own ranges agree. */
static int find_unit_by_aranges(struct dwarf_lines *lines, uint64_t address, struct unit **out_unit)
{
	Dwarf_Aranges *aranges;
	Dwarf_Arange *found;
	Dwarf_Off offset;
	Dwarf_Die die;
	size_t count;
	uint32_t index;

	if (dwarf_getaranges(lines->dwarf, &aranges, &count) ||
	    !(found = dwarf_getarange_addr(aranges, address)) ||
	    dwarf_getarangeinfo(found, NULL, NULL, &offset) ||
	    !dwarf_offdie(lines->dwarf, offset, &die) || dwarf_haspc(&die, address) <= 0)
		return -ENOENT;
	struct table_cursor cursor = table_seek(&lines->unit_by_die, hash_number(offset));
	while (table_next(&lines->unit_by_die, &cursor, &index)) {
		if (lines->unit[index].die == offset) {
			*out_unit = &lines->unit[index];
			return 0;
		}
	}
	if (add_unit(lines, offset))
		return -ENOMEM;
	*out_unit = &lines->unit[lines->unit_count - 1];
	return 0;
}

static struct unit *find_unit_by_ranges(const struct dwarf_lines *lines, uint64_t address)
{
	size_t low = 0, high = lines->range_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (lines->range[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < lines->range[low - 1].hi
		       ? &lines->unit[lines->range[low - 1].unit]
		       : NULL;
}

/* 0, -ENOENT, -ENOMEM. */
static int find_unit(struct dwarf_lines *lines, uint64_t address, struct unit **out_unit)
{
	int err = lines->has_ranges ? -ENOENT : find_unit_by_aranges(lines, address, out_unit);

	if (err != -ENOENT)
		return err;
	err = lines->has_ranges ? 0 : read_ranges(lines);
	*out_unit = err ? NULL : find_unit_by_ranges(lines, address);
	return err ? err : *out_unit ? 0 : -ENOENT;
}

/* ---- walking a unit -------------------------------------------------------------------------- */

/* Entries that own code, or that hold such entries. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static int add_scopes(struct unit *unit, Dwarf_Die *die, int tag, size_t depth)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo >= hi || lo == 0)
			continue;
		if (array_reserve(&unit->scope, &unit->room, unit->count, sizeof(*unit->scope)))
			return -ENOMEM;
		unit->scope[unit->count++] =
			(struct scope){.lo = lo,
				       .hi = hi,
				       .die = dwarf_dieoffset(die),
				       .outer = NO_SCOPE,
				       .depth = (uint16_t)depth,
				       .is_inlined = tag == DW_TAG_inlined_subroutine};
	}
	return 0;
}

/*
 * Links every scope to the one around it, with one pass over the sorted array. Ranges that overlap
 * without nesting are linked as well: dwarf_lines_find() checks each range.
 */
static void link_scopes(struct unit *unit)
{
	for (size_t i = 1; i < unit->count; i++) {
		uint32_t outer = (uint32_t)(i - 1);
		while (outer != NO_SCOPE && unit->scope[outer].hi <= unit->scope[i].lo)
			outer = unit->scope[outer].outer;
		unit->scope[i].outer = outer;
	}
}

/*
 * Moves to the first child or else to the next entry after this one. Offsets must grow. False at
 * the end.
 */
static bool walk_on(Dwarf_Die *path, size_t *depth, bool descend)
{
	Dwarf_Off last = dwarf_dieoffset(&path[*depth]);
	Dwarf_Die next;

	if (descend && *depth + 1 < NEST_MAX && dwarf_child(&path[*depth], &next) == 0 &&
	    dwarf_dieoffset(&next) > last) {
		path[++*depth] = next;
		return true;
	}
	for (; *depth > 0; (*depth)--) {
		if (dwarf_siblingof(&path[*depth], &next) == 0 && dwarf_dieoffset(&next) > last) {
			path[*depth] = next;
			return true;
		}
	}
	return false;
}

/*
 * Keeps the file names of the first unit whose split part is missing. Out of memory, it keeps none.
 */
static void note_lack(struct dwarf_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	const char *name = dwarf_formstring(dwarf_attr(unit, DW_AT_dwo_name, &attribute));

	if (!name)
		name = dwarf_formstring(dwarf_attr(unit, DW_AT_GNU_dwo_name, &attribute));
	if (lines->lacks.file || !name)
		return;
	if (asprintf(&lines->lacks.file, "%s%s%s", name[0] != '/' && directory ? directory : "",
		     name[0] != '/' && directory ? "/" : "", name) < 0)
		lines->lacks.file = NULL;
	lines->lacks.package = lines->package[0] ? strdup(lines->package) : NULL;
}

/*
 * Sets unit->tree to the unit itself or, for a split unit, to its part in the .dwo file, if that is
 * there. False if neither can be read.
 */
static bool find_tree(struct dwarf_lines *lines, struct unit *unit)
{
	Dwarf_Die split;
	uint8_t type;

	if (!dwarf_offdie(lines->dwarf, unit->die, &unit->tree))
		return false;
	if (!lines->may_open_split ||
	    dwarf_cu_info(unit->tree.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) ||
	    type != DW_UT_skeleton)
		return true;
	Elf *elf = split.cu ? dwarf_getelf(dwarf_cu_getdwarf(split.cu)) : NULL;
	unit->lacks_split = !elf || !is_terminated(elf, ".debug_str.dwo");
	if (unit->lacks_split)
		note_lack(lines, &unit->tree);
	else
		unit->tree = split;
	return true;
}

static int walk_unit(struct dwarf_lines *lines, struct unit *unit)
{
	Dwarf_Die path[NEST_MAX];
	size_t depth = 0;
	bool descend = true;

	unit->is_walked = true;
	if (!find_tree(lines, unit))
		return 0;
	path[0] = unit->tree;
	while (walk_on(path, &depth, descend) && unit->count < NO_SCOPE) {
		const int tag = dwarf_tag(&path[depth]);
		descend = may_hold_code(tag);
		if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) &&
		    add_scopes(unit, &path[depth], tag, depth))
			return -ENOMEM;
	}
	if (unit->count > 1)
		qsort(unit->scope, unit->count, sizeof(*unit->scope), compare_scopes);
	link_scopes(unit);
	return 0;
}

/* ---- answering ------------------------------------------------------------------------------- */

/* Compilers record a file name as it was given to them, so it may be relative. */
static void set_file(Dwarf_Die *unit, const char *file, struct dwarf_call *call)
{
	Dwarf_Attribute attribute;

	call->file = file;
	call->directory = file && file[0] != '/'
				  ? dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute))
				  : NULL;
}

/* Sets the caller's file and line to the place of the inlined call `die`. */
static void place_caller(Dwarf_Die *unit, Dwarf_Die *tree, Dwarf_Die *die,
			 struct dwarf_call *caller)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word file = 0, line = 0;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0 &&
	    line <= UINT32_MAX)
		caller->line = (uint32_t)line;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) == 0 &&
	    dwarf_getsrcfiles(tree, &files, &count) == 0 && file < count)
		set_file(unit, dwarf_filesrc(files, file, NULL, NULL), caller);
}

static void place_innermost(Dwarf_Die *unit, uint64_t address, struct dwarf_call *call)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number;

	if (!line)
		return;
	set_file(unit, dwarf_linesrc(line, NULL, NULL), call);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		call->line = (uint32_t)number;
}

/*
 * The innermost scope that begins at or before address; a scope that covers the address is this one
 * or outside it.
 */
static uint32_t last_scope(const struct unit *unit, uint64_t address)
{
	size_t low = 0, high = unit->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (unit->scope[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)(low - 1) : NO_SCOPE;
}

int dwarf_lines_find(struct dwarf_lines *lines, uint64_t address,
		     struct dwarf_call out_calls[DWARF_CALLS_MAX], size_t *out_count)
{
	Dwarf_Die unit_die, die;
	struct unit *unit;
	size_t count = 0;
	const int err = find_unit(lines, address, &unit);

	if (err)
		return err;
	if (!dwarf_offdie(lines->dwarf, unit->die, &unit_die))
		return -ENOENT;
	if (!unit->is_walked && walk_unit(lines, unit))
		return -ENOMEM;
	lines->lacks.addresses += unit->lacks_split;
	const bool cxx = unit->count && dwarf_names_is_cxx(&unit->tree);
	memset(out_calls, 0, DWARF_CALLS_MAX * sizeof(*out_calls));
	place_innermost(&unit_die, address, &out_calls[0]);
	for (uint32_t i = last_scope(unit, address); i != NO_SCOPE && count < DWARF_CALLS_MAX;
	     i = unit->scope[i].outer) {
		const struct scope *scope = &unit->scope[i];
		if (address >= scope->hi ||
		    !dwarf_offdie(dwarf_cu_getdwarf(unit->tree.cu), scope->die, &die))
			continue;
		struct dwarf_call *call = &out_calls[count++];
		call->is_cxx = cxx;
		if (dwarf_names_find(&lines->names, &die, cxx, &call->name, &call->is_linkage_name))
			return -ENOMEM;
		if (!scope->is_inlined)
			break;
		if (count < DWARF_CALLS_MAX)
			place_caller(&unit_die, &unit->tree, &die, &out_calls[count]);
	}
	if (count == 0 && !out_calls[0].file)
		return -ENOENT;
	*out_count = count ? count : 1;
	return 0;
}

char *dwarf_call_path(const struct dwarf_call *call)
{
	char *path;

	if (!call->directory)
		return strdup(call->file);
	return asprintf(&path, "%s/%s", call->directory,
			strncmp(call->file, "./", 2) == 0 ? call->file + 2 : call->file) < 0
		       ? NULL
		       : path;
}

const struct dwarf_lacks *dwarf_lines_lacks(const struct dwarf_lines *lines)
{
	return &lines->lacks;
}
