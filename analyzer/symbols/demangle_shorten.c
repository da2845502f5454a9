/* SPDX-License-Identifier: MIT */
/*
 * demangle_shorten.c - the name of a C++ function without parameters, template arguments, return
 * type and qualifiers.
 *
 * One pass over the demangler's output, with a read and a write pointer in the same buffer. A space
 * outside every bracket means that what was written so far was a return type (or "non-virtual thunk
 * to"), and writing starts again. Exceptions: operator names contain brackets and spaces of their
 * own, and so do "(anonymous namespace)" and "{lambda(int)#1}".
 */
#include "demangle.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const char anonymous[] = "(anonymous namespace)";

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * Length of the bracketed group at text, to the end if it never closes. Within template arguments,
 * arrows and comparisons are in parentheses.
 */
static size_t group_length(const char *text)
{
	const bool is_template = *text == '<';
	size_t depth = 0, inner = 0, i;

	for (i = 0; text[i]; i++) {
		const char c = text[i];
		if (c == '(' || c == '{' || c == '[')
			inner++;
		else if ((c == ')' || c == '}' || c == ']') && inner > 0)
			inner--;
		else if (is_template && inner == 0 && c == '<')
			depth++;
		else if (is_template && inner == 0 && c == '>' && text[i - 1] != '-')
			depth--;
		if (inner == 0 && depth == 0)
			return i + 1;
	}
	return i;
}

/*
 * Length of the operator name at text, which begins with "operator"; 0 if that is part of a longer
 * word.
 */
static size_t operator_length(const char *text)
{
	static const char *const symbols[] = {
		" new[]", " delete[]", " new", " delete", " co_await", "()", "[]", "<=>", "->*",
		"<<=",    ">>=",       "<<",   ">>",      "<=",        ">=", "->", "<",   ">"};
	const size_t word = strlen("operator");
	size_t length = word;

	if (is_word(text[word]))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (starts_with(text + word, symbols[i]))
			return word + strlen(symbols[i]);
	}
	/*
	 * A conversion or a literal ("operator bool", "operator std::vector<int>", "operator"" _s")
	 * may hold template arguments of its own.
	 */
	const bool keeps_arguments = text[word] == ' ' || text[word] == '"';
	while (text[length] && text[length] != '(' && (keeps_arguments || text[length] != '<'))
		length += text[length] == '<' ? group_length(text + length) : 1;
	return length;
}

/* Copies "{lambda(int)#1}" as "{lambda()#1}". Returns the length that was read. */
static size_t copy_unnamed(const char *text, char **write)
{
	const size_t length = group_length(text);
	size_t i = 0;

	while (i < length) {
		const size_t parameters = text[i] == '(' ? group_length(text + i) : 0;
		if (parameters > 1) {
			i += parameters;
			*(*write)++ = '(';
			*(*write)++ = ')';
		} else {
			*(*write)++ = text[i++];
		}
	}
	return length;
}

static size_t copy(const char *text, size_t length, char **write)
{
	memmove(*write, text, length);
	*write += length;
	return length;
}

/*
 * True for what may follow a space without being the name: "const", "&" and the like after
 * parameters, "[clone .cold]", the "<" of "operator< <int>".
 */
static bool is_qualifier(const char *text)
{
	static const char *const qualifiers[] = {"const", "volatile", "&", "[", "<", "noexcept"};

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
		if (starts_with(text, qualifiers[i]))
			return !is_word(qualifiers[i][0]) || !is_word(text[strlen(qualifiers[i])]);
	}
	return false;
}

static size_t qualifier_length(const char *text)
{
	size_t length = 0;

	if (*text == '[')
		return group_length(text);
	while (is_word(text[length]))
		length++;
	return length;
}

void demangle_shorten(char *name)
{
	const char *read = name;
	char *write = name;

	while (*read) {
		const bool at_word = read == name || !is_word(read[-1]);
		const size_t operator_size =
			at_word && starts_with(read, "operator") ? operator_length(read) : 0;
		if (operator_size)
			read += copy(read, operator_size, &write);
		else if (starts_with(read, anonymous))
			read += copy(read, strlen(anonymous), &write);
		else if (*read == '{')
			read += copy_unnamed(read, &write);
		else if (*read == '<' || *read == '(' || *read == '[')
			read += group_length(read);
		else if (*read == '*' || *read == '&')
			read++;
		else if (*read == ' ' && is_qualifier(read + 1))
			read += 1 + qualifier_length(read + 1);
		else if (*read == ' ') {
			write = name;
			read++;
		} else
			*write++ = *read++;
	}
	*write = 0;
}
