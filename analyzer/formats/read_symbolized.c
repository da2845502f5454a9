/* SPDX-License-Identifier: MIT */
/*
 * read_symbolized.c - a list of names, then a heap profile of another kind. Its frames get the
 * names. Start at read_symbolized().
 *
 *     --- symbol
 *     binary=/opt/app/server
 *     0x0000555555555226 leaky_alloc
 *     0x0000555555555243 parse_request--inlined_helper
 *     ---
 *     --- heap
 *     heap profile: ...
 *
 * An address has one name or more. Of several, the function that owns the code comes first, and the
 * functions that are inlined into it follow. Tools disagree on whether the address is that of the
 * call or the return address, and some list both. The address of the call is looked up first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heapfile.h"
#include "joined_names.h"
#include "read_common.h"
#include "read_formats.h"
#include "scan.h"

#define MAGIC "--- symbol"
#define END "---"
#define BINARY "binary="
#define SNIFF_BYTES 64u

struct symbol {
	uint64_t address;
	char *names; /* as in the file */
};
struct symbolized_reader {
	struct input *input;
	struct profile *profile;
	struct symbol *symbol;
	size_t symbol_count, symbol_capacity;
	struct table by_address;
	char *binary;
	char line[READ_LINE_SIZE];
};

bool read_symbolized_recognize(const uint8_t *bytes, size_t size)
{
	return size >= strlen(MAGIC) && memcmp(bytes, MAGIC, strlen(MAGIC)) == 0;
}

static const char *find_names(const struct symbolized_reader *reader, uint64_t address)
{
	struct table_cursor cursor = table_seek(&reader->by_address, hash_number(address));
	uint32_t index;

	while (table_next(&reader->by_address, &cursor, &index)) {
		if (reader->symbol[index].address == address)
			return reader->symbol[index].names;
	}
	return NULL;
}

/* "0xADDRESS NAMES" */
static int read_symbol(struct symbolized_reader *reader)
{
	const char *cursor = reader->line;
	struct symbol symbol = {0};

	if (!scan_number(&cursor, 16, &symbol.address) || !*cursor ||
	    cursor[strspn(cursor, " \t")] == 0)
		return read_bad(reader->input, reader->profile, "not an address with its names");
	cursor += strspn(cursor, " \t");
	if (array_reserve(&reader->symbol, &reader->symbol_capacity, reader->symbol_count,
			  sizeof(*reader->symbol)))
		return -ENOMEM;
	symbol.names = strdup(cursor);
	if (!symbol.names)
		return -ENOMEM;
	reader->symbol[reader->symbol_count++] = symbol;
	return table_add(&reader->by_address, hash_number(symbol.address),
			 (uint32_t)(reader->symbol_count - 1));
}

static int read_symbol_line(struct symbolized_reader *reader)
{
	if (strncmp(reader->line, BINARY, strlen(BINARY)) == 0 && !reader->binary) {
		reader->binary = strdup(reader->line + strlen(BINARY));
		return reader->binary ? 0 : -ENOMEM;
	}
	if (reader->line[0] == '0')
		return read_symbol(reader);
	return 0; /* a variable of some tool */
}

/* Reads the list of names to its end. */
static int read_symbols(struct symbolized_reader *reader)
{
	bool is_whole, is_first = true;
	int err = 0;

	while (!err && input_line(reader->input, reader->line, sizeof(reader->line), &is_whole)) {
		if (!is_first && strncmp(reader->line, END, strlen(END)) == 0)
			return 0;
		if (!is_first && is_whole)
			err = read_symbol_line(reader);
		else if (!is_whole && !reader->input->err)
			read_bad(reader->input, reader->profile,
				 "the line is too long, or cut off");
		is_first = false;
	}
	return err;
}

/* Reads the profile after the names. Some tools announce it by a line of its own. */
static int read_body(struct symbolized_reader *reader)
{
	const uint8_t *bytes;
	size_t size = input_peek(reader->input, SNIFF_BYTES, &bytes);
	bool is_whole;

	if (size >= strlen(END) && memcmp(bytes, END, strlen(END)) == 0) {
		input_line(reader->input, reader->line, sizeof(reader->line), &is_whole);
		size = input_peek(reader->input, SNIFF_BYTES, &bytes);
	}
	if (heapfile_recognize(bytes, size))
		return heapfile_read(reader->input, reader->profile);
	if (read_jemalloc_recognize(bytes, size))
		return read_jemalloc(reader->input, reader->profile);
	read_check_end(reader->input, reader->profile, size > 0);
	read_damage(reader->profile, "names, and no heap profile after them");
	return -EBADMSG;
}

static int name_frames(struct symbolized_reader *reader)
{
	int err = 0;

	for (size_t i = 0; i < reader->profile->frame_count && !err; i++) {
		struct profile_frame *frame = &reader->profile->frame[i];
		const char *names = find_names(reader, frame->address - 1);
		char *copy;

		if (!names)
			names = find_names(reader, frame->address);
		/*
		 * A tool that did not know a name puts question marks or the address in its place.
		 */
		if (!names || frame->line_count || strncmp(names, "0x", 2) == 0 ||
		    strncmp(names, "??", 2) == 0)
			continue;
		copy = strdup(names);
		err = copy ? joined_names_apply(frame, copy) : -ENOMEM;
		free(copy);
	}
	return err;
}

int read_symbolized(struct input *input, struct profile *profile)
{
	struct symbolized_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->input = input;
	reader->profile = profile;
	err = read_symbols(reader);
	if (!err)
		err = read_body(reader);
	if (!err)
		err = name_frames(reader);
	if (!err && !profile->meta.cmdline) {
		profile->meta.cmdline = reader->binary;
		reader->binary = NULL;
	}
	for (size_t i = 0; i < reader->symbol_count; i++)
		free(reader->symbol[i].names);
	free(reader->symbol);
	free(reader->binary);
	table_close(&reader->by_address);
	free(reader);
	return err;
}
