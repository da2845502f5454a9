/* SPDX-License-Identifier: MIT */
/*
 * dwarf_signature.c - see dwarf_signature.h. Enter at dwarf_signature_read.
 *
 * What is passed how is the ABI's matter: a type that is not understood is UNKNOWN, never one that
 * can be a size.
 */
#include "dwarf_signature.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dwarf_names.h"
#include "dwarf_source.h"
#include "dwarf_units.h"
#include "printable.h"

#define TYPE_NEST_MAX 16u /* pointers to pointers, names of names */
#define SIZE_BYTES_MIN 4u /* of shorter integers the register has more than ABIs say */
#define WORD_BYTES 8u

/* The type that an entry has. False: none, which is void; *out_is_known: it is not in this file. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *out_type, bool *out_is_known)
{
	Dwarf_Attribute attribute;

	*out_is_known = true;
	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute))
		return false;
	*out_is_known = dwarf_formref_die(&attribute, out_type) != NULL;
	return *out_is_known;
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

/* Goes past qualifiers and, with all, past names and Ada's ranges of other types. False: that ends
 * at none, which is void. */
static bool peel(Dwarf_Die *type, bool all, bool *out_is_known)
{
	for (unsigned i = 0; i < TYPE_NEST_MAX; i++) {
		const int tag = dwarf_tag(type);

		*out_is_known = true;
		if (!is_qualifier(tag) &&
		    !(all && (tag == DW_TAG_typedef || tag == DW_TAG_subrange_type)))
			return true;
		if (!type_of(type, type, out_is_known))
			return false;
	}
	*out_is_known = false;
	return false;
}

/* ---- how it is passed ------------------------------------------------------------------------ */

static bool points_to_pointer(Dwarf_Die *pointer)
{
	Dwarf_Die to;
	bool is_known;

	return dwarf_tag(pointer) == DW_TAG_pointer_type && type_of(pointer, &to, &is_known) &&
	       peel(&to, true, &is_known) && is_pointer(dwarf_tag(&to));
}

/* Ada's System.Address, to which GNAT gives the type of an integer. */
static bool is_address_of_ada(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return name && strcmp(name, "system__address") == 0;
}

static enum hi_parameter_kind kind_of_base(Dwarf_Die *type, uint8_t *out_bytes)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	const int bytes = dwarf_bytesize(type);

	if (bytes <= 0 ||
	    dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding, &attribute), &encoding))
		return HI_PARAMETER_UNKNOWN;
	*out_bytes = (uint8_t)(bytes < UINT8_MAX ? bytes : UINT8_MAX);
	if (bytes > (int)WORD_BYTES)
		return HI_PARAMETER_OTHER;
	if (bytes == (int)WORD_BYTES && is_address_of_ada(type))
		return HI_PARAMETER_POINTER;
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_unsigned:
		return bytes >= (int)SIZE_BYTES_MIN ? HI_PARAMETER_INTEGER : HI_PARAMETER_WORD;
	case DW_ATE_boolean:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return HI_PARAMETER_WORD;
	default:
		return HI_PARAMETER_OTHER;
	}
}

static enum hi_parameter_kind kind_of(Dwarf_Die type, bool has_type, uint8_t *out_bytes)
{
	bool is_known;

	if (!has_type || !peel(&type, true, &is_known))
		return has_type && !is_known ? HI_PARAMETER_UNKNOWN : HI_PARAMETER_NONE;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		return kind_of_base(&type, out_bytes);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return points_to_pointer(&type) ? HI_PARAMETER_POINTER_TO_POINTER
						: HI_PARAMETER_POINTER;
	case DW_TAG_enumeration_type:
		return HI_PARAMETER_WORD;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_array_type:
		return HI_PARAMETER_STRUCTURE;
	case DW_TAG_invalid:
		return HI_PARAMETER_UNKNOWN;
	default:
		return HI_PARAMETER_OTHER;
	}
}

/* ---- as text --------------------------------------------------------------------------------- */

static void copy(char out_text[HI_SIGNATURE_TEXT_MAX], const char *text)
{
	snprintf(out_text, HI_SIGNATURE_TEXT_MAX, "%s", text ? text : "");
	printable(out_text);
}

/* What C has in front of the name of such a type. */
static const char *keyword_of(Dwarf_Die *type)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(type, &unit, NULL, NULL) || dwarf_names_is_cxx(&unit))
		return "";
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

/* As in the source, but for qualifiers: "pool_t *". */
static void write_type(Dwarf_Die type, bool has_type, char out_text[HI_SIGNATURE_TEXT_MAX])
{
	char marks[TYPE_NEST_MAX + 1], *at = marks + TYPE_NEST_MAX;
	bool is_known = true;

	*at = 0;
	while (has_type && peel(&type, false, &is_known) && is_pointer(dwarf_tag(&type)) &&
	       at > marks) {
		*--at = dwarf_tag(&type) == DW_TAG_pointer_type ? '*' : '&';
		has_type = type_of(&type, &type, &is_known);
	}
	/* qualifiers of nothing: const void */
	has_type = has_type && !is_qualifier(dwarf_tag(&type));
	const char *name = has_type ? dwarf_diename(&type) : NULL;

	if (!name)
		name = !is_known || has_type ? "?" : "void";
	if (has_type && dwarf_tag(&type) == DW_TAG_subroutine_type)
		name = "function";
	snprintf(out_text, HI_SIGNATURE_TEXT_MAX, "%s%.*s%s%s", has_type ? keyword_of(&type) : "",
		 (int)(HI_SIGNATURE_TEXT_MAX - TYPE_NEST_MAX - 9), name, *at ? " " : "", at);
	printable(out_text);
}

/* ---- the function ---------------------------------------------------------------------------- */

static void describe(Dwarf_Die *die, struct hi_parameter *out_parameter)
{
	Dwarf_Die type = {0};
	bool is_known;
	const bool has_type = type_of(die, &type, &is_known);

	*out_parameter = (struct hi_parameter){0};
	if (!is_known) {
		copy(out_parameter->type, "?");
		return;
	}
	out_parameter->kind = (uint8_t)kind_of(type, has_type, &out_parameter->bytes);
	write_type(type, has_type, out_parameter->type);
}

/* The parameter of the code at hand that was made of this one, which is in `origin`. */
static bool find_made(Dwarf_Die *function, Dwarf_Die *parameter, Dwarf_Die *out_made)
{
	Dwarf_Attribute attribute;
	Dwarf_Die from;
	Dwarf_Off last = 0;

	for (int err = dwarf_child(function, out_made); !err && dwarf_dieoffset(out_made) > last;
	     err = dwarf_siblingof(out_made, out_made)) {
		last = dwarf_dieoffset(out_made);
		if (last == dwarf_dieoffset(parameter) ||
		    (dwarf_formref_die(dwarf_attr(out_made, DW_AT_abstract_origin, &attribute),
				       &from) &&
		     dwarf_dieoffset(&from) == dwarf_dieoffset(parameter)))
			return true;
	}
	return false;
}

/* A parameter that is nowhere, or a constant, is not passed. */
static bool is_left_out(Dwarf_Die *function, Dwarf_Die *parameter)
{
	Dwarf_Die made;

	return !find_made(function, parameter, &made) || dwarf_hasattr(&made, DW_AT_const_value) ||
	       !dwarf_hasattr(&made, DW_AT_location);
}

static void add_parameters(Dwarf_Die *function, Dwarf_Die *code, struct hi_signature *signature)
{
	Dwarf_Die die;
	Dwarf_Off last = 0;

	for (int err = dwarf_child(function, &die); !err && dwarf_dieoffset(&die) > last;
	     err = dwarf_siblingof(&die, &die)) {
		const int tag = dwarf_tag(&die);

		last = dwarf_dieoffset(&die);
		signature->is_variadic |= tag == DW_TAG_unspecified_parameters;
		if (tag != DW_TAG_formal_parameter)
			continue;
		if (signature->count < HI_SIGNATURE_PARAMETERS) {
			describe(&die, &signature->parameter[signature->count]);
			copy(signature->parameter[signature->count].name, dwarf_diename(&die));
			signature->parameter[signature->count].is_left_out =
				is_left_out(code, &die);
		}
		signature->count++;
	}
}

static void read_function(Dwarf_Die *function, struct hi_signature *signature)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	describe(function, &signature->result);
	/* the entry of the code may lack parameters that are not used */
	if (dwarf_formref_die(dwarf_attr(function, DW_AT_abstract_origin, &attribute), &origin))
		add_parameters(&origin, function, signature);
	if (!signature->count && !signature->is_variadic)
		add_parameters(function, function, signature);
	signature->is_known = true;
}

static int find_function(struct dwarf_units *units, uint64_t address, Dwarf_Die *out_function)
{
	struct dwarf_unit *unit;
	Dwarf_Die tree;
	int err = dwarf_units_find(units, address, &unit);

	if (!err && !dwarf_offdie(units->dwarf, unit->die, &tree))
		err = -ENOENT;
	if (!err)
		err = dwarf_scopes_walk(&unit->scopes, &tree);
	for (uint32_t at = err ? DWARF_NO_SCOPE : dwarf_scopes_last(&unit->scopes, address);
	     at != DWARF_NO_SCOPE && unit->scopes.scope[at].lo == address; at--) {
		const struct dwarf_scope *scope = &unit->scopes.scope[at];

		if (!scope->is_inlined)
			return dwarf_offdie(units->dwarf, scope->die, out_function) ? 0 : -ENOENT;
		if (!at)
			break;
	}
	return err ? err : -ENOENT;
}

int dwarf_signature_read(const struct objfile *file, uint64_t address,
			 struct hi_signature *out_signature)
{
	struct dwarf_source source = {0};
	struct hi_signature signature = {0};
	Dwarf_Die function;

	dwarf_source_open(file, false, &source);
	struct dwarf_units units = {.dwarf = source.dwarf};
	const int err = source.dwarf ? find_function(&units, address, &function) : -ENOENT;

	if (!err) {
		read_function(&function, &signature);
		*out_signature = signature;
	}
	dwarf_units_close(&units);
	dwarf_source_close(&source);
	return err;
}
