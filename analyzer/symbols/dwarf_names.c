/* SPDX-License-Identifier: MIT */
/* dwarf_names.c - see dwarf_names.h. Enter at dwarf_names_find. */
#include "dwarf_names.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NEST_MAX 256 /* scopes further in are left out of the name */

/* Codes that came after DWARF 5, which no header of elfutils has yet. */
enum { LANGUAGE_CXX_17 = 0x2a, LANGUAGE_CXX_20 = 0x2b, LANGUAGE_CXX_23 = 0x3a };

bool dwarf_names_is_cxx(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANGUAGE_CXX_17:
	case LANGUAGE_CXX_20:
	case LANGUAGE_CXX_23:
		return true;
	default:
		return false;
	}
}

/* Moves to the entry of the function's declaration, by abstract origin and specification. */
static void go_to_declaration(Dwarf_Die *die)
{
	static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Attribute attribute;
	Dwarf_Die target;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (dwarf_formref_die(dwarf_attr(die, links[i], &attribute), &target))
			*die = target;
	}
}

/*
 * Moves to the last of die and its siblings that begins at or before offset: the entry at offset is
 * this one or lies within it.
 */
static void go_to_holder(Dwarf_Die *die, Dwarf_Off offset)
{
	Dwarf_Die next;

	while (dwarf_siblingof(die, &next) == 0 && dwarf_dieoffset(&next) > dwarf_dieoffset(die) &&
	       dwarf_dieoffset(&next) <= offset)
		*die = next;
}

/* Writes the name spaces and classes around the declaration, from the unit down to it. */
static void write_scopes(Dwarf_Die *declaration, FILE *out)
{
	const Dwarf_Off offset = dwarf_dieoffset(declaration);
	Dwarf_Die holder, child;

	if (!dwarf_diecu(declaration, &holder, NULL, NULL))
		return;
	for (int depth = 0; depth < NEST_MAX && dwarf_child(&holder, &child) == 0; depth++) {
		holder = child;
		go_to_holder(&holder, offset);
		if (dwarf_dieoffset(&holder) >= offset)
			return;
		const int tag = dwarf_tag(&holder);
		const char *name = dwarf_diename(&holder);
		if (tag == DW_TAG_namespace)
			fprintf(out, "%s::", name ? name : "(anonymous namespace)");
		else if (name && (tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
				  tag == DW_TAG_union_type))
			fprintf(out, "%s::", name);
	}
}

static char *make_qualified(Dwarf_Die *declaration, const char *plain)
{
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);

	if (!out)
		return NULL;
	write_scopes(declaration, out);
	fputs(plain, out);
	if (fclose(out) == 0)
		return name;
	free(name);
	return NULL;
}

/*
 * The name of a function without a linkage name. gcc gives none to functions that other files
 * cannot see, such as those in an anonymous namespace. NULL = out of memory.
 */
static const char *qualified_name(struct dwarf_names *names, Dwarf_Die die, const char *plain)
{
	uint32_t index;

	go_to_declaration(&die);
	Dwarf *dwarf = dwarf_cu_getdwarf(die.cu);
	const Dwarf_Off offset = dwarf_dieoffset(&die);
	struct table_cursor cursor = table_seek(&names->by_die, hash_number(offset));
	while (table_next(&names->by_die, &cursor, &index)) {
		if (names->name[index].die == offset && names->name[index].dwarf == dwarf)
			return names->name[index].text;
	}
	if (array_reserve(&names->name, &names->room, names->count, sizeof(*names->name)))
		return NULL;
	char *name = make_qualified(&die, plain);
	if (!name || table_add(&names->by_die, hash_number(offset), (uint32_t)names->count)) {
		free(name);
		return NULL;
	}
	names->name[names->count++] =
		(struct dwarf_name){.dwarf = dwarf, .die = offset, .text = name};
	return name;
}

int dwarf_names_find(struct dwarf_names *names, Dwarf_Die *die, bool is_cxx, const char **out_name,
		     bool *out_is_linkage)
{
	Dwarf_Attribute attribute;

	/* Follows abstract origin and specification. */
	const char *linkage =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	if (!linkage)
		linkage = dwarf_formstring(
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
	const char *plain = linkage ? NULL : dwarf_diename(die);
	*out_is_linkage = linkage != NULL;
	*out_name = linkage           ? linkage
		    : plain && is_cxx ? qualified_name(names, *die, plain)
				      : plain;
	return plain && !*out_name ? -ENOMEM : 0;
}

void dwarf_names_close(struct dwarf_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i].text);
	table_close(&names->by_die);
	free(names->name);
	*names = (struct dwarf_names){0};
}
