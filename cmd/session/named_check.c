/* SPDX-License-Identifier: MIT */
/* named_check.c - see named_check.h. Enter at named_check. */
#include "named_check.h"

#include <stdio.h>
#include <string.h>

#define INT_BYTES 4u
#define WORD_BYTES 8u

/* What an argument is to be. */
struct role {
	unsigned argument; /* 0 = there is none */
	bool (*is_kind)(enum hi_parameter_kind kind);
	const char *lack; /* what it is not, if it is another kind */
};
#define ROLES 4u

static bool is_integer(enum hi_parameter_kind kind)
{
	return kind == HI_PARAMETER_INTEGER;
}

static bool is_pointer(enum hi_parameter_kind kind)
{
	return kind == HI_PARAMETER_POINTER || kind == HI_PARAMETER_POINTER_TO_POINTER;
}

/* Not in one register as integers are. */
static bool shifts_others(enum hi_parameter_kind kind)
{
	return kind == HI_PARAMETER_OTHER || kind == HI_PARAMETER_STRUCTURE;
}

static bool is_pointer_to_pointer(enum hi_parameter_kind kind)
{
	return kind == HI_PARAMETER_POINTER_TO_POINTER;
}

static enum hi_parameter_kind kind_of(const struct hi_parameter *parameter)
{
	return (enum hi_parameter_kind)parameter->kind;
}

static void list_roles(const struct named_function *function, struct role out_roles[ROLES])
{
	const bool is_stored = function->block == NAMED_BLOCK_STORED;
	const struct role roles[ROLES] = {
		{function->size, is_integer, "no size"},
		{function->count, is_integer, "no count"},
		{function->block_argument, is_stored ? is_pointer_to_pointer : is_pointer,
		 is_stored ? "no place where a block is stored" : "no block"},
		{function->pool, is_pointer, "no pool"},
	};

	memcpy(out_roles, roles, sizeof(roles));
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* The number of the only parameter that can be a size; 0: there is none, or more than one. */
static unsigned only_size(const struct hi_signature *signature)
{
	unsigned found = 0;

	for (unsigned i = 0; i < signature->count && i < HI_SIGNATURE_PARAMETERS; i++) {
		if (!is_integer(kind_of(&signature->parameter[i])))
			continue;
		if (found)
			return 0;
		found = i + 1;
	}
	return found;
}

static void print_typed(FILE *out, const struct hi_parameter *parameter, const char *name)
{
	const size_t length = strlen(parameter->type);
	const bool is_close =
		!*name || (length && strchr("*&", parameter->type[length - 1]) != NULL);

	fprintf(out, "%s%s%s", parameter->type, is_close ? "" : " ", name);
}

/* void *get(pool_t *pool, size_t size) */
static void print_signature(FILE *out, const struct named_function *function,
			    const struct hi_signature *signature)
{
	print_typed(out, &signature->result, function->name);
	for (unsigned i = 0; i < signature->count && i < HI_SIGNATURE_PARAMETERS; i++) {
		fputs(i ? ", " : "(", out);
		print_typed(out, &signature->parameter[i], signature->parameter[i].name);
	}
	fputs(signature->count > HI_SIGNATURE_PARAMETERS ? ", ...)"
	      : signature->count                         ? ")"
							 : "()",
	      out);
}

static enum named_check refuse(const struct named_function *function,
			       const struct hi_signature *signature, const char *reason,
			       char out_why[NAMED_CHECK_TEXT_MAX])
{
	const unsigned size = only_size(signature);
	FILE *out = fmemopen(out_why, NAMED_CHECK_TEXT_MAX, "w");

	if (!out) {
		snprintf(out_why, NAMED_CHECK_TEXT_MAX, "%s", reason);
		return NAMED_CHECK_WRONG;
	}
	fprintf(out, "%s; it is ", reason);
	print_signature(out, function, signature);
	if (!function->is_free && size && size != function->size)
		fprintf(out, ", where argument %u may be the size", size);
	fclose(out);
	out_why[NAMED_CHECK_TEXT_MAX - 1] = 0;
	return NAMED_CHECK_WRONG;
}

/* Of a function that has no callers elsewhere, compilers pass only what it makes use of. */
static enum named_check refuse_left_out(const struct named_function *function,
					const struct hi_signature *signature, unsigned argument,
					char out_why[NAMED_CHECK_TEXT_MAX])
{
	char reason[NAMED_FUNCTION_NAME_MAX + HI_SIGNATURE_TEXT_MAX + 64];

	snprintf(reason, sizeof(reason),
		 "the compiler has left out argument %u of %s, so that others may be elsewhere",
		 argument, function->name);
	return refuse(function, signature, reason, out_why);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Is the argument in the register of its number? */
static enum named_check check_before(const struct named_function *function,
				     const struct hi_signature *signature, unsigned argument,
				     char out_why[NAMED_CHECK_TEXT_MAX])
{
	char reason[256];

	for (unsigned i = 0; i + 1 < argument; i++) {
		const struct hi_parameter *before = &signature->parameter[i];

		if (before->kind == HI_PARAMETER_UNKNOWN)
			return NAMED_CHECK_UNKNOWN;
		if (before->is_left_out)
			return refuse_left_out(function, signature, i + 1, out_why);
		if (!shifts_others(kind_of(before)))
			continue;
		snprintf(reason, sizeof(reason),
			 "argument %u of %s is %s, which is not in one register as integers are, "
			 "so that it is not known where argument %u is",
			 i + 1, function->name, before->type, argument);
		return refuse(function, signature, reason, out_why);
	}
	return NAMED_CHECK_GOOD;
}

static enum named_check check_role(const struct named_function *function,
				   const struct hi_signature *signature, const struct role *role,
				   char out_why[NAMED_CHECK_TEXT_MAX])
{
	char reason[NAMED_FUNCTION_NAME_MAX + HI_SIGNATURE_TEXT_MAX + 64];

	if (!role->argument)
		return NAMED_CHECK_GOOD;
	if (role->argument > signature->count) {
		snprintf(reason, sizeof(reason), "%s has no argument %u", function->name,
			 role->argument);
		return refuse(function, signature, reason, out_why);
	}
	const struct hi_parameter *parameter = &signature->parameter[role->argument - 1];
	if (parameter->kind == HI_PARAMETER_UNKNOWN)
		return NAMED_CHECK_UNKNOWN;
	if (parameter->is_left_out)
		return refuse_left_out(function, signature, role->argument, out_why);
	if (role->is_kind(kind_of(parameter)))
		return check_before(function, signature, role->argument, out_why);
	snprintf(reason, sizeof(reason), "argument %u of %s is %s: %s", role->argument,
		 function->name, parameter->type, role->lack);
	return refuse(function, signature, reason, out_why);
}

static enum named_check check_result(const struct named_function *function,
				     const struct hi_signature *signature,
				     char out_why[NAMED_CHECK_TEXT_MAX])
{
	const enum hi_parameter_kind kind = kind_of(&signature->result);
	const bool is_block = !function->is_free && function->block != NAMED_BLOCK_STORED;
	char reason[NAMED_FUNCTION_NAME_MAX + HI_SIGNATURE_TEXT_MAX + 64];

	if (kind == HI_PARAMETER_UNKNOWN)
		return NAMED_CHECK_UNKNOWN;
	if (is_block ? is_pointer(kind) : !shifts_others(kind))
		return NAMED_CHECK_GOOD;
	snprintf(reason, sizeof(reason), "the result of %s is %s: %s", function->name,
		 signature->result.type,
		 is_block ? "no block" : "where its arguments are is not known");
	return refuse(function, signature, reason, out_why);
}

/* A hook calls what allocates with a copy of its arguments: are they few enough? */
static enum named_check check_copied(const struct named_function *function,
				     const struct hi_signature *signature,
				     char out_why[NAMED_CHECK_TEXT_MAX])
{
	char reason[NAMED_FUNCTION_NAME_MAX + HI_SIGNATURE_TEXT_MAX + 64];

	if (function->is_free)
		return NAMED_CHECK_GOOD;
	if (signature->is_variadic) {
		snprintf(reason, sizeof(reason),
			 "%s has a variable number of arguments, which a hook cannot pass on",
			 function->name);
		return refuse(function, signature, reason, out_why);
	}
	if (signature->count > HI_SIGNATURE_PARAMETERS) {
		snprintf(reason, sizeof(reason), "%s has more than %u arguments", function->name,
			 HI_SIGNATURE_PARAMETERS);
		return refuse(function, signature, reason, out_why);
	}
	for (unsigned i = 0; i < signature->count; i++) {
		const struct hi_parameter *parameter = &signature->parameter[i];

		if (parameter->kind != HI_PARAMETER_STRUCTURE &&
		    (parameter->kind != HI_PARAMETER_OTHER || parameter->bytes <= WORD_BYTES))
			continue;
		snprintf(reason, sizeof(reason),
			 "argument %u of %s is %s: it may be too large for a hook", i + 1,
			 function->name, parameter->type);
		return refuse(function, signature, reason, out_why);
	}
	return NAMED_CHECK_GOOD;
}

/* An int that the user has named one must be that; another may turn out to be one. */
static enum named_check check_int(const struct named_function *function,
				  const struct hi_signature *signature, unsigned argument,
				  bool *is_int, char out_why[NAMED_CHECK_TEXT_MAX])
{
	char reason[NAMED_FUNCTION_NAME_MAX + HI_SIGNATURE_TEXT_MAX + 64];

	if (!argument)
		return NAMED_CHECK_GOOD;
	const struct hi_parameter *parameter = &signature->parameter[argument - 1];
	if (parameter->bytes > INT_BYTES && *is_int) {
		snprintf(reason, sizeof(reason), "argument %u of %s is %s: no int", argument,
			 function->name, parameter->type);
		return refuse(function, signature, reason, out_why);
	}
	*is_int = parameter->bytes <= INT_BYTES;
	return NAMED_CHECK_GOOD;
}

enum named_check named_check(struct named_function *function, const struct hi_signature *signature,
			     char out_why[NAMED_CHECK_TEXT_MAX])
{
	struct role roles[ROLES];
	enum named_check result, unknown = NAMED_CHECK_GOOD;

	if (!signature->is_known)
		return NAMED_CHECK_UNKNOWN;
	list_roles(function, roles);
	result = check_result(function, signature, out_why);
	for (size_t i = 0; i < ROLES && result != NAMED_CHECK_WRONG; i++) {
		unknown = result == NAMED_CHECK_UNKNOWN ? result : unknown;
		result = check_role(function, signature, &roles[i], out_why);
	}
	if (result == NAMED_CHECK_GOOD)
		result = check_copied(function, signature, out_why);
	if (result == NAMED_CHECK_GOOD)
		result = unknown;
	if (result == NAMED_CHECK_GOOD)
		result = check_int(function, signature, function->size, &function->size_is_int,
				   out_why);
	if (result == NAMED_CHECK_GOOD)
		result = check_int(function, signature, function->count, &function->count_is_int,
				   out_why);
	function->size_is_known = result == NAMED_CHECK_GOOD;
	return result;
}
