/* SPDX-License-Identifier: MIT */
/*
 * demangle_rust_v0.c - Rust's newer mangling, "_R...": a grammar of paths, types and constants (RFC
 * 2603, "v0 Symbol Format" in the rustc book).
 *
 * A recursive descent that writes as it reads. Parts that are not shown (generic arguments in the
 * short form, the path of an impl) are read as well, but not written (pen_up). A back reference
 * reads an earlier place again, so a short name can ask for endless work. So depth, steps and
 * output are bounded. A name beyond the bounds stays mangled, and so does one with constants of
 * structured types. Lifetimes are not shown.
 */
#include "demangle.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 100
#define STEPS_MAX 10000
#define OUTPUT_MAX 4096

struct reader {
	const char *text; /* after the "_R": back references count from here */
	size_t at;
	char output[OUTPUT_MAX];
	size_t written;
	unsigned depth, steps;
	unsigned pen_up; /* nothing is written unless 0 */
	bool full, has_failed;
};

static void read_path(struct reader *reader, bool in_value);
static void read_type(struct reader *reader);

/* ---- reading and writing --------------------------------------------------------------------- */

static void write_bytes(struct reader *reader, const char *bytes, size_t size)
{
	if (reader->pen_up || reader->has_failed)
		return;
	if (size >= OUTPUT_MAX - reader->written) {
		reader->has_failed = true;
		return;
	}
	memcpy(reader->output + reader->written, bytes, size);
	reader->written += size;
}

static void write_text(struct reader *reader, const char *text)
{
	write_bytes(reader, text, strlen(text));
}

static char peek(const struct reader *reader)
{
	return reader->has_failed ? 0 : reader->text[reader->at];
}

static char next(struct reader *reader)
{
	const char c = peek(reader);

	if (c)
		reader->at++;
	else
		reader->has_failed = true;
	return c;
}

static bool take(struct reader *reader, char wanted)
{
	if (peek(reader) != wanted)
		return false;
	reader->at++;
	return true;
}

/* True until the list ends with 'E'; a text that ends before is a failure. */
static bool in_list(struct reader *reader)
{
	if (take(reader, 'E'))
		return false;
	reader->has_failed |= !peek(reader);
	return !reader->has_failed;
}

/* "_" is 0, "0_" is 1, "Z_" is 62. */
static uint64_t read_base62(struct reader *reader)
{
	uint64_t value = 0;

	if (take(reader, '_'))
		return 0;
	while (!take(reader, '_')) {
		const char c = next(reader);
		const int digit = isdigit((unsigned char)c)   ? c - '0'
				  : islower((unsigned char)c) ? c - 'a' + 10
							      : c - 'A' + 36;
		if (!isalnum((unsigned char)c) ||
		    __builtin_mul_overflow(value, (uint64_t)62, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value)) {
			reader->has_failed = true;
			return 0;
		}
	}
	return value + 1;
}

/* A number after a mark, 0 if the mark is not there. */
static uint64_t read_marked(struct reader *reader, char mark)
{
	return take(reader, mark) ? read_base62(reader) + 1 : 0;
}

/* ["u"] <decimal> ["_"] <bytes>. The empty name is common. */
static const char *read_identifier(struct reader *reader, size_t *out_size)
{
	size_t size = 0;

	take(reader, 'u'); /* in Punycode, and shown so */
	if (!isdigit((unsigned char)peek(reader)))
		reader->has_failed = true;
	if (!take(reader, '0')) {
		while (isdigit((unsigned char)peek(reader)) && size < OUTPUT_MAX)
			size = 10 * size + (size_t)(next(reader) - '0');
	}
	take(reader, '_');
	const char *name = reader->text + reader->at;
	if (reader->has_failed || strnlen(name, size) < size) {
		reader->has_failed = true;
		size = 0;
	}
	reader->at += size;
	*out_size = size;
	return name;
}

static void write_identifier(struct reader *reader)
{
	size_t size;
	const char *name = read_identifier(reader, &size);

	write_bytes(reader, name, size);
}

static bool enter(struct reader *reader)
{
	if (++reader->depth > DEPTH_MAX || ++reader->steps > STEPS_MAX)
		reader->has_failed = true;
	return !reader->has_failed;
}

/* Reads a back reference after its 'B'. It can only refer to what comes before it. */
static size_t read_back_reference(struct reader *reader)
{
	const size_t own = reader->at - 1;
	const uint64_t target = read_base62(reader);

	if (target >= own)
		reader->has_failed = true;
	return reader->has_failed ? reader->at : (size_t)target;
}

/* ---- constants ------------------------------------------------------------------------------- */

static void write_constant_value(struct reader *reader, char type, const char *digits, size_t size)
{
	char text[24];
	const uint64_t value = strtoull(digits, NULL, 16);

	if (size > 16) {
		write_text(reader, "0x");
		write_bytes(reader, digits, size);
		return;
	}
	if (type == 'b')
		snprintf(text, sizeof(text), "%s", value ? "true" : "false");
	else if (type == 'c' && value >= 0x20 && value < 0x7f)
		snprintf(text, sizeof(text), "'%c'", (char)value);
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	write_text(reader, text);
}

static void read_constant(struct reader *reader)
{
	if (!enter(reader))
		return;
	const char type = next(reader);
	if (type == 'p') {
		write_text(reader, "_");
	} else if (type == 'B') {
		const size_t target = read_back_reference(reader), back = reader->at;
		reader->at = target;
		read_constant(reader);
		reader->at = back;
	} else if (type && strchr("abchijlmnostxy", type)) {
		if (take(reader, 'n'))
			write_text(reader, "-");
		const char *digits = reader->text + reader->at;
		const size_t size = strspn(digits, "0123456789abcdef");
		reader->at += size;
		if (take(reader, '_'))
			write_constant_value(reader, type, digits, size);
		else
			reader->has_failed = true;
	} else {
		reader->has_failed = true;
	}
	reader->depth--;
}

/* ---- types ----------------------------------------------------------------------------------- */

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8",   ['b' - 'a'] = "bool",  ['c' - 'a'] = "char",
		['d' - 'a'] = "f64",  ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",   ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16",  ['u' - 'a'] = "()",    ['v' - 'a'] = "...",
		['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",   ['z' - 'a'] = "!",
	};

	return islower((unsigned char)c) ? names[c - 'a'] : NULL;
}

/* Types up to 'E', separated by commas. Returns how many. */
static size_t read_types(struct reader *reader)
{
	size_t count = 0;

	while (in_list(reader)) {
		if (count++)
			write_text(reader, ", ");
		read_type(reader);
	}
	return count;
}

static void read_function_type(struct reader *reader)
{
	read_marked(reader, 'G');
	if (take(reader, 'U'))
		write_text(reader, "unsafe ");
	if (take(reader, 'K')) {
		write_text(reader, "extern \"");
		if (take(reader, 'C'))
			write_text(reader, "C");
		else
			write_identifier(reader);
		write_text(reader, "\" ");
	}
	write_text(reader, "fn(");
	read_types(reader);
	write_text(reader, ")");
	if (!take(reader, 'u')) {
		write_text(reader, " -> ");
		read_type(reader);
	}
}

static void read_dyn_type(struct reader *reader)
{
	size_t count = 0;

	read_marked(reader, 'G');
	write_text(reader, "dyn ");
	while (in_list(reader)) {
		if (count++)
			write_text(reader, " + ");
		read_path(reader, false);
		while (take(reader, 'p')) {
			write_text(reader, "<");
			write_identifier(reader);
			write_text(reader, " = ");
			read_type(reader);
			write_text(reader, ">");
		}
	}
	read_marked(reader, 'L');
}

static void read_pointed(struct reader *reader, const char *prefix)
{
	read_marked(reader, 'L');
	write_text(reader, prefix);
	read_type(reader);
}

static void read_array(struct reader *reader, bool has_length)
{
	write_text(reader, "[");
	read_type(reader);
	if (has_length) {
		write_text(reader, "; ");
		read_constant(reader);
	}
	write_text(reader, "]");
}

static void read_type(struct reader *reader)
{
	if (!enter(reader))
		return;
	const char c = next(reader);
	const char *basic = basic_type(c);

	if (basic) {
		write_text(reader, basic);
	} else if (c == 'A' || c == 'S') {
		read_array(reader, c == 'A');
	} else if (c == 'T') {
		write_text(reader, "(");
		write_text(reader, read_types(reader) == 1 ? ",)" : ")");
	} else if (c == 'R' || c == 'Q') {
		read_pointed(reader, c == 'R' ? "&" : "&mut ");
	} else if (c == 'P' || c == 'O') {
		read_pointed(reader, c == 'P' ? "*const " : "*mut ");
	} else if (c == 'F') {
		read_function_type(reader);
	} else if (c == 'D') {
		read_dyn_type(reader);
	} else if (c == 'B') {
		const size_t target = read_back_reference(reader), back = reader->at;
		reader->at = target;
		read_type(reader);
		reader->at = back;
	} else {
		reader->at -= c != 0;
		read_path(reader, false);
	}
	reader->depth--;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Skips the path of an impl block, which is no part of the name. */
static void skip_impl_path(struct reader *reader)
{
	reader->pen_up++;
	read_marked(reader, 's');
	read_path(reader, false);
	reader->pen_up--;
}

/* Upper-case namespaces are made by the compiler: "{closure#0}". */
static void read_nested(struct reader *reader, bool in_value)
{
	const char space = next(reader);
	char text[64];
	size_t size;

	read_path(reader, in_value);
	const uint64_t number = read_marked(reader, 's');
	const char *name = read_identifier(reader, &size);
	if (!isupper((unsigned char)space)) {
		write_text(reader, size ? "::" : "");
		write_bytes(reader, name, size);
		return;
	}
	snprintf(text, sizeof(text), "::{%s",
		 space == 'C'   ? "closure"
		 : space == 'S' ? "shim"
				: (char[]){space, 0});
	write_text(reader, text);
	write_text(reader, size ? ":" : "");
	write_bytes(reader, name, size);
	snprintf(text, sizeof(text), "#%llu}", (unsigned long long)number);
	write_text(reader, text);
}

static void read_generic(struct reader *reader, bool in_value)
{
	size_t count = 0;

	read_path(reader, in_value);
	reader->pen_up += !reader->full;
	write_text(reader, in_value ? "::<" : "<");
	while (in_list(reader)) {
		if (read_marked(reader, 'L'))
			continue;
		if (count++)
			write_text(reader, ", ");
		if (take(reader, 'K'))
			read_constant(reader);
		else
			read_type(reader);
	}
	write_text(reader, ">");
	reader->pen_up -= !reader->full;
}

static void read_implementation(struct reader *reader, char kind)
{
	if (kind != 'Y')
		skip_impl_path(reader);
	write_text(reader, "<");
	read_type(reader);
	if (kind != 'M') {
		write_text(reader, " as ");
		read_path(reader, false);
	}
	write_text(reader, ">");
}

static void read_path(struct reader *reader, bool in_value)
{
	if (!enter(reader))
		return;
	const char c = next(reader);

	if (c == 'C') {
		read_marked(reader, 's');
		write_identifier(reader);
	} else if (c == 'N') {
		read_nested(reader, in_value);
	} else if (c == 'I') {
		read_generic(reader, in_value);
	} else if (c == 'M' || c == 'X' || c == 'Y') {
		read_implementation(reader, c);
	} else if (c == 'B') {
		const size_t target = read_back_reference(reader), back = reader->at;
		reader->at = target;
		read_path(reader, in_value);
		reader->at = back;
	} else {
		reader->has_failed = true;
	}
	reader->depth--;
}

char *demangle_rust_v0(const char *name, bool full)
{
	if (strncmp(name, "_R", 2) != 0)
		return NULL;
	struct reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return NULL;
	reader->text = name + 2;
	reader->full = full;
	read_path(reader, true);
	/* Skips the crate that a generic function was instantiated for. */
	reader->pen_up++;
	if (isupper((unsigned char)peek(reader)))
		read_path(reader, false);
	const char end = peek(reader);
	char *readable = reader->has_failed || (end && end != '.' && end != '$')
				 ? NULL
				 : strndup(reader->output, reader->written);
	free(reader);
	return readable;
}
