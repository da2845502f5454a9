/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.c - see dwarf_lines.h.
 *
 * To find the scopes of one address, libdw walks the compilation unit anew each time: milliseconds
 * per address. So a unit is walked once, when the first address in it is asked for, into a sorted
 * array of the code ranges of its functions and inlined calls. From then on an address is a binary
 * search.
 */
#include "dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "dwarf_names.h"
#include "dwarf_scopes.h"
#include "dwarf_source.h"
#include "dwarf_units.h"

struct dwarf_lines {
	struct dwarf_source own, alternate;
	struct dwarf_units units; /* of own */
	bool may_open_split;
	char package[PATH_MAX]; /* of split debug information, beside the file; "" = none */
	struct dwarf_lacks lacks;
	struct dwarf_names names;
};

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
	dwarf_source_open(file, false, &lines->own);
	if (may_open_split && dwarf_source_is_split(lines->own.dwarf)) {
		dwarf_source_close(&lines->own);
		dwarf_source_open(file, true, &lines->own);
		if (!objfile_has_package(file, lines->package))
			lines->package[0] = 0;
	}
	lines->units.dwarf = lines->own.dwarf;
	if (!lines->units.dwarf)
		goto failed;
	if (alternate->elf)
		dwarf_source_open(alternate, false, &lines->alternate);
	if (lines->alternate.dwarf)
		dwarf_setalt(lines->units.dwarf, lines->alternate.dwarf);
	/*
	 * Going through thousands of units for the two or three that are asked for would take as
	 * long as all the rest. So dwarf_units_read_ranges() is called now only if there is no
	 * .debug_aranges.
	 */
	if (dwarf_getaranges(lines->units.dwarf, &aranges, &count) || count == 0) {
		err = dwarf_units_read_ranges(&lines->units);
		if (err || lines->units.range_count == 0)
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
	dwarf_names_close(&lines->names);
	dwarf_units_close(&lines->units);
	free(lines->lacks.file);
	free(lines->lacks.package);
	dwarf_source_close(&lines->own);
	dwarf_source_close(&lines->alternate);
	free(lines);
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
static bool find_tree(struct dwarf_lines *lines, struct dwarf_unit *unit)
{
	Dwarf_Die split;
	uint8_t type;

	if (!dwarf_offdie(lines->units.dwarf, unit->die, &unit->tree))
		return false;
	if (!lines->may_open_split ||
	    dwarf_cu_info(unit->tree.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) ||
	    type != DW_UT_skeleton)
		return true;
	Elf *elf = split.cu ? dwarf_getelf(dwarf_cu_getdwarf(split.cu)) : NULL;
	unit->lacks_split = !elf || !dwarf_source_is_terminated(elf, ".debug_str.dwo");
	if (unit->lacks_split)
		note_lack(lines, &unit->tree);
	else
		unit->tree = split;
	return true;
}

static int walk_unit(struct dwarf_lines *lines, struct dwarf_unit *unit)
{
	unit->is_walked = true;
	if (!find_tree(lines, unit))
		return 0;
	return dwarf_scopes_walk(&unit->scopes, &unit->tree);
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

int dwarf_lines_find(struct dwarf_lines *lines, uint64_t address,
		     struct dwarf_call out_calls[DWARF_CALLS_MAX], size_t *out_count)
{
	Dwarf_Die unit_die, die;
	struct dwarf_unit *unit;
	size_t count = 0;
	const int err = dwarf_units_find(&lines->units, address, &unit);

	if (err)
		return err;
	if (!dwarf_offdie(lines->units.dwarf, unit->die, &unit_die))
		return -ENOENT;
	if (!unit->is_walked && walk_unit(lines, unit))
		return -ENOMEM;
	lines->lacks.addresses += unit->lacks_split;
	const bool cxx = unit->scopes.count && dwarf_names_is_cxx(&unit->tree);
	memset(out_calls, 0, DWARF_CALLS_MAX * sizeof(*out_calls));
	place_innermost(&unit_die, address, &out_calls[0]);
	for (uint32_t i = dwarf_scopes_last(&unit->scopes, address);
	     i != DWARF_NO_SCOPE && count < DWARF_CALLS_MAX; i = unit->scopes.scope[i].outer) {
		const struct dwarf_scope *scope = &unit->scopes.scope[i];
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

/* In C++ both kinds of name may have to be shortened: a source name has template arguments too. */
char *dwarf_call_name(const struct dwarf_call *call, bool full)
{
	char *name = demangle(call->name, full);

	if (name && call->is_cxx && !call->is_linkage_name && !full)
		demangle_shorten(name);
	return name;
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
