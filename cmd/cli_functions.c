/* SPDX-License-Identifier: MIT */
/* cli_functions.c - see cli_functions.h. */
#include "cli_functions.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli_arguments.h"
#include "hi_allocator_names.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "hook_table.h"

static bool is_one_of(char letter, const char *more)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz$";

	return letter && (strchr(letters, letter) || strchr(more, letter));
}

/* Copies what comes before the end, which is of a name or of a file's name. False: it is none. */
static bool take_name(const char *from, const char *end, const char *more,
		      char out_name[NAMED_FUNCTION_NAME_MAX])
{
	const size_t length = (size_t)(end - from);

	if (!length || length >= NAMED_FUNCTION_NAME_MAX)
		return false;
	for (const char *at = from; at < end; at++)
		if (!is_one_of(*at, more))
			return false;
	memcpy(out_name, from, length);
	out_name[length] = 0;
	return true;
}

/* This and the readers below return what is wrong, or NULL. */
static const char *read_name(const char *text, const char **out_rest,
			     struct named_function *function)
{
	const char *end = text + strcspn(text, ":"),
		   *mark = memchr(text, '!', (size_t)(end - text)), *name = mark ? mark + 1 : text;

	if (mark && !take_name(text, mark, "0123456789.+-", function->object))
		return "OBJECT!NAME begins with no file name of a library";
	if (!take_name(name, end, "0123456789.", function->name) || !is_one_of(*name, "") ||
	    !strncmp(end, "::", 2))
		return "this is no name of a function as symbol tables have it";
	if (hi_copied_name(function->name))
		return "this is a copy that the compiler made, which may take other arguments";
	for (unsigned i = 0; i < HI_FUNCTION_COUNT; i++)
		if (!strcmp(hook_table[i].symbol, function->name))
			return "of malloc's family and of mmap's none can be named";
	*out_rest = end;
	return NULL;
}

static bool skip(const char **at, char letter)
{
	const bool is_there = **at == letter;

	*at += is_there;
	return is_there;
}

/* Reads the number of an argument, and goes past it. */
static const char *read_argument(const char **at, unsigned *out_argument)
{
	uint64_t value;
	const char *end;

	if (hi_parse_digits(*at, &value, &end))
		return "what is expected is the number of an argument";
	if (!value || value > NAMED_ARGUMENT_MAX)
		return "arguments have the numbers 1 to 6";
	*at = end;
	*out_argument = (unsigned)value;
	return NULL;
}

/* The same of a size or a count: 2, or 2i. */
static const char *read_size(const char **at, unsigned *out_argument, bool *out_is_int)
{
	const char *wrong = read_argument(at, out_argument);

	*out_is_int = !wrong && skip(at, 'i');
	return wrong;
}

static const char *read_alloc(const char *at, struct named_function *function)
{
	const char *wrong;

	if (!skip(&at, ':') || *at == '@' || !*at)
		return "the argument that is the size is missing";
	wrong = read_size(&at, &function->size, &function->size_is_int);
	if (!wrong && skip(&at, '*'))
		wrong = read_size(&at, &function->count, &function->count_is_int);
	if (!wrong && skip(&at, ':')) {
		function->block = skip(&at, '*') ? NAMED_BLOCK_STORED : NAMED_BLOCK_MOVED;
		wrong = read_argument(&at, &function->block_argument);
	}
	if (!wrong && skip(&at, '@'))
		wrong = read_argument(&at, &function->pool);
	return wrong || !*at ? wrong : "this does not end where it should";
}

static const char *read_free(const char *at, struct named_function *function)
{
	const char *wrong;

	if (!skip(&at, ':') || !*at)
		return "the argument that is freed is missing";
	wrong = skip(&at, '@') ? read_argument(&at, &function->pool)
			       : read_argument(&at, &function->block_argument);
	return wrong || !*at ? wrong : "this does not end where it should";
}

static bool has_argument_twice(const struct named_function *function)
{
	const unsigned argument[] = {function->size, function->count, function->block_argument,
				     function->pool};
	unsigned seen = 0;

	for (size_t i = 0; i < sizeof(argument) / sizeof(argument[0]); i++) {
		if (argument[i] && seen & 1u << argument[i])
			return true;
		seen |= 1u << argument[i];
	}
	return false;
}

/* A name without an object is that function in each of them. */
static bool is_in(const struct named_function *functions, size_t count,
		  const struct named_function *function)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(functions[i].name, function->name) &&
		    (!functions[i].object[0] || !function->object[0] ||
		     !strcmp(functions[i].object, function->object)))
			return true;
	return false;
}

static const char *add(const char *text, bool is_free, struct named_functions *functions)
{
	struct named_function function = {.is_free = is_free};
	struct named_function *const of_kind = is_free ? functions->free : functions->alloc;
	size_t *const count = is_free ? &functions->free_count : &functions->alloc_count;
	const char *wrong = read_name(text, &text, &function);

	if (!wrong)
		wrong = is_free ? read_free(text, &function) : read_alloc(text, &function);
	if (wrong)
		return wrong;
	if (has_argument_twice(&function))
		return "one argument cannot be two things";
	if (is_in(functions->alloc, functions->alloc_count, &function) ||
	    is_in(functions->free, functions->free_count, &function))
		return "this function was named before";
	if (*count == NAMED_FUNCTIONS_MAX)
		return "this is one too many, 8 are possible";
	of_kind[(*count)++] = function;
	return NULL;
}

static int parse(const char *command, const char *argument, bool is_free,
		 struct named_functions *functions)
{
	const char *wrong = add(argument, is_free, functions);
	char complaint[200];

	if (!wrong)
		return HI_EXIT_OK;
	snprintf(complaint, sizeof(complaint), "%s: %s (%s)", is_free ? "--free-fn" : "--alloc-fn",
		 wrong,
		 is_free ? "NAME:PTR or NAME:@POOL, as ngx_pfree:2, apr_pool_destroy:@1"
			 : "NAME:SIZE[:PTR][@POOL], as ngx_palloc:2@1");
	return cli_usage_error(command, complaint, argument);
}

int cli_parse_alloc_fn(const char *command, const char *argument, struct named_functions *functions)
{
	return parse(command, argument, false, functions);
}

int cli_parse_free_fn(const char *command, const char *argument, struct named_functions *functions)
{
	return parse(command, argument, true, functions);
}
