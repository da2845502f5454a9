/* SPDX-License-Identifier: MIT */
/*
 * demangle_rust_legacy.c - Rust's older mangling: a C++ nested name whose last part is "h" and 16
 * hexadecimal digits.
 *
 * The parts are joined by "::", the hash is dropped; characters that an assembler would not take
 * are written $LT$ or $u7b$, "::" is "..". rustc and LLVM may append ".llvm.1234" or the like,
 * which says nothing and is dropped too.
 */
#include "demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HASH_LENGTH 17

/* Takes one part, "<decimal length><text>"; *name moves after it. */
static const char *next_part(const char **name, size_t *out_length)
{
	const char *text = *name;
	size_t length = 0;

	while (isdigit((unsigned char)*text) && length < 1 << 16)
		length = 10 * length + (size_t)(*text++ - '0');
	if (length == 0 || strnlen(text, length) < length)
		return NULL;
	*name = text + length;
	*out_length = length;
	return text;
}

static bool is_hash(const char *part, size_t length)
{
	if (length != HASH_LENGTH || *part != 'h')
		return false;
	for (size_t i = 1; i < length; i++) {
		if (!isxdigit((unsigned char)part[i]))
			return false;
	}
	return true;
}

/* "$u7e$": an ASCII character by its code; others do not occur in names, and stay as they are. */
static char code_escape(const char *text, size_t length)
{
	char *end;

	if (length < 4 || text[1] != 'u')
		return 0;
	const long code = strtol(text + 2, &end, 16);
	return end == text + length - 1 && code >= 0x20 && code < 0x7f ? (char)code : 0;
}

/*
 * Decodes the escape at text, whose first character is '$'. Returns its length, 0 if it is no
 * escape.
 */
static size_t decode_escape(const char *text, size_t length, char *out_character)
{
	static const struct {
		const char *text;
		char character;
	} escapes[] = {{"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'},
		       {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','}};
	const char *end = memchr(text + 1, '$', length - 1);
	const size_t size = end ? (size_t)(end - text) + 1 : 0;

	if (!end)
		return 0;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (size == strlen(escapes[i].text) && memcmp(text, escapes[i].text, size) == 0) {
			*out_character = escapes[i].character;
			return size;
		}
	}
	*out_character = code_escape(text, size);
	return *out_character ? size : 0;
}

/* Decodes one part. The output is never longer than the input. */
static char *decode_part(const char *part, size_t length, char *write)
{
	/* an underscore hides a leading escape from C++ demanglers */
	size_t i = length > 1 && part[0] == '_' && part[1] == '$' ? 1 : 0;

	while (i < length) {
		char character;
		const size_t escape =
			part[i] == '$' ? decode_escape(part + i, length - i, &character) : 0;
		if (escape) {
			*write++ = character;
			i += escape;
		} else if (part[i] == '.' && i + 1 < length && part[i + 1] == '.') {
			*write++ = ':';
			*write++ = ':';
			i += 2;
		} else {
			*write++ = part[i++];
		}
	}
	return write;
}

char *demangle_rust_legacy(const char *name)
{
	const char *read = name, *part;
	bool has_hash = false;
	size_t length;

	if (strncmp(read, "_ZN", 3) != 0)
		return NULL;
	read += 3;
	/* "::" needs two bytes, and a part costs at least one digit: twice the input is enough. */
	char *readable = malloc(2 * strlen(name) + 1), *write = readable;
	while (readable && (part = next_part(&read, &length))) {
		has_hash = is_hash(part, length) && *read == 'E';
		if (has_hash)
			break;
		if (write != readable)
			write = (char *)memcpy(write, "::", 2) + 2;
		write = decode_part(part, length, write);
	}
	if (!has_hash || write == readable) {
		free(readable);
		return NULL;
	}
	*write = 0;
	return readable;
}
