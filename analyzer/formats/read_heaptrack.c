/* SPDX-License-Identifier: MIT */
/*
 * read_heaptrack.c - a recording of heaptrack: strings, instruction pointers with their functions,
 * traces as a tree, and every single allocation and free.
 *
 * All numbers are hexadecimal. Strings, pointers and traces are numbered from 1 in the order in
 * which they come, and refer only to what came before.
 *
 *     v VERSION FORMAT          first line; format 1 to 3
 *     X COMMAND                 I, R, S, A, #: not needed
 *     s [LENGTH] TEXT           a string; the length from format 3 on
 *     i IP MODULE [FUNCTION [FILE LINE]]...   the innermost call first
 *     t IP PARENT               a trace: the frame, and the trace that called it; 0 = none
 *     a SIZE TRACE              a kind of allocation, numbered from 0
 *     + KIND, - KIND            one was allocated, or freed
 *     c MS                      time since the start
 *     S [LENGTH] LINE           of what is no leak (suppressions.h)
 *
 * Start at read_heaptrack().
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "hi_path.h"
#include "modules.h"
#include "printable.h"
#include "read_common.h"
#include "read_formats.h"
#include "scan.h"
#include "suppressions.h"

#define LINES_MAX 256u /* inlined calls at one address */
#define DEPTH_MAX 4096u
#define NS_PER_MS 1000000u
#define END "# ips"
#define NONE UINT32_MAX

struct heaptrack_trace {
	uint32_t frame, parent; /* parent: 0 = none */
	uint32_t stack;         /* in the profile; NONE = not needed yet */
};
struct heaptrack_kind {
	uint64_t size;
	uint32_t row;
};
struct heaptrack_string {
	char *text;
	uint32_t module; /* index in the profile, if the string is a module's path; else NONE */
};
struct heaptrack_reader {
	struct input *input;
	struct profile *profile;
	struct heaptrack_string *string;
	uint32_t *frame; /* of each instruction pointer */
	struct heaptrack_trace *trace;
	struct heaptrack_kind *kind;
	size_t string_count, frame_count, trace_count, kind_count;
	size_t string_room, frame_room, trace_room, kind_room;
	uint64_t format, now_ns;
	struct suppressions suppressions;
	bool ended;
	char line[READ_LINE_SIZE];
};

bool read_heaptrack_recognize(const uint8_t *bytes, size_t size)
{
	char line[64] = "";
	const char *cursor = line;
	uint64_t number;

	for (size_t i = 0; i < size && i + 1 < sizeof(line) && bytes[i] != '\n'; i++)
		line[i] = (char)bytes[i];
	return scan_char(&cursor, 'v') && scan_char(&cursor, ' ') &&
	       scan_number(&cursor, 16, &number) && number >= 0x10000 && scan_char(&cursor, ' ') &&
	       scan_number(&cursor, 16, &number) && !*cursor;
}

static int bad(const struct heaptrack_reader *reader, const char *what)
{
	return read_bad(reader->input, reader->profile, what);
}

/* The next number of the line, after a space. */
static bool next_number(const char **cursor, uint64_t *out_number)
{
	return scan_char(cursor, ' ') && scan_number(cursor, 16, out_number);
}

/* ---- what things are called ------------------------------------------------------------------ */

static int read_string(struct heaptrack_reader *reader, const char *cursor)
{
	struct heaptrack_string string = {.module = NONE};
	uint64_t length;

	if (reader->format >= 3 && !next_number(&cursor, &length))
		return bad(reader, "a string without its length");
	scan_char(&cursor, ' ');
	if (reader->format >= 3 && length != strlen(cursor))
		bad(reader, "a string of another length");
	if (array_reserve(&reader->string, &reader->string_room, reader->string_count,
			  sizeof(*reader->string)))
		return -ENOMEM;
	string.text = strdup(cursor);
	if (!string.text)
		return -ENOMEM;
	printable(string.text);
	reader->string[reader->string_count++] = string;
	return 0;
}

static struct heaptrack_string *string_at(struct heaptrack_reader *reader, uint64_t number)
{
	return number && number <= reader->string_count ? &reader->string[number - 1] : NULL;
}

/*
 * The recording does not say where a module was mapped, so it reaches from its first known
 * instruction to its last.
 */
static int module_of(struct heaptrack_reader *reader, uint64_t number, uint64_t ip,
		     int32_t *out_module)
{
	struct heaptrack_string *path = string_at(reader, number);
	struct profile_module *module;

	*out_module = -1;
	if (!path || (path->module == NONE && reader->profile->module_count >= MODULES_MAX))
		return 0;
	if (path->module == NONE) {
		const struct profile_module new = {
			.lo = ip,
			.hi = ip + 1,
			.path = path->text,
			.number = (uint32_t)reader->profile->module_count + 1};

		if (profile_add_module(reader->profile, &new, &path->module))
			return -ENOMEM;
	}
	module = &reader->profile->module[path->module];
	module->lo = ip < module->lo ? ip : module->lo;
	module->hi = ip >= module->hi ? ip + 1 : module->hi;
	*out_module = (int32_t)path->module;
	return 0;
}

/* Shortens a C++ name, of which the recording has the whole signature. */
static char *short_name(const char *name)
{
	const size_t length = strlen(name);
	char *copy = demangle(name, false);

	if (copy && length && (name[length - 1] == ')' || strstr(name, ") const")))
		demangle_shorten(copy);
	return copy;
}

/*
 * "FUNCTION FILE LINE" once or several times, or a function alone. If heaptrack knew no function,
 * the module's name is used, because addresses differ from run to run.
 */
static int read_lines_of(struct heaptrack_reader *reader, const char *cursor,
			 const struct heaptrack_string *module, struct profile_frame *frame)
{
	struct profile_line line[LINES_MAX] = {{0}};
	uint64_t function, file, number;
	size_t count = 0;
	int err = 0;

	while (!err && count < LINES_MAX && next_number(&cursor, &function)) {
		file = number = 0;
		if (next_number(&cursor, &file))
			next_number(&cursor, &number);
		const struct heaptrack_string *name = string_at(reader, function),
					      *path = string_at(reader, file);

		if (!name)
			continue;
		line[count].system_name = name->text;
		line[count].file = path ? path->text : NULL;
		line[count].line = number <= UINT32_MAX ? (uint32_t)number : 0;
		line[count].function = short_name(name->text);
		err = line[count++].function ? 0 : -ENOMEM;
	}
	if (!err && !count && module) {
		err = asprintf(&line[0].function, "[%s]", hi_base_name(module->text)) < 0 ? -ENOMEM
											  : 0;
		line[0].system_name = line[0].function;
		count = !err;
	}
	if (!err && count && !frame->line_count)
		err = profile_frame_lines(frame, line, count);
	for (size_t i = 0; i < count; i++)
		free(line[i].function);
	return err;
}

static int read_ip(struct heaptrack_reader *reader, const char *cursor)
{
	uint64_t ip, module_number = 0;
	int32_t module;
	uint32_t index;

	if (!next_number(&cursor, &ip) || (*cursor && !next_number(&cursor, &module_number)) ||
	    ip == UINT64_MAX)
		return bad(reader, "not an instruction pointer");
	if (array_reserve(&reader->frame, &reader->frame_room, reader->frame_count,
			  sizeof(*reader->frame)) ||
	    module_of(reader, module_number, ip, &module))
		return -ENOMEM;
	/* The ip is the address of the call; frames of a profile have return addresses. */
	if (profile_frame_at(reader->profile, ip + 1, module, &index))
		return -ENOMEM;
	reader->frame[reader->frame_count++] = index;
	return read_lines_of(reader, cursor, string_at(reader, module_number),
			     &reader->profile->frame[index]);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static int read_trace(struct heaptrack_reader *reader, const char *cursor)
{
	uint64_t ip, parent;

	if (!next_number(&cursor, &ip) || !next_number(&cursor, &parent) || !ip ||
	    ip > reader->frame_count || parent > reader->trace_count) {
		bad(reader, "a trace of what was not told");
		ip = parent = 0; /* it still takes a number */
	}
	if (array_reserve(&reader->trace, &reader->trace_room, reader->trace_count,
			  sizeof(*reader->trace)))
		return -ENOMEM;
	reader->trace[reader->trace_count++] =
		(struct heaptrack_trace){.frame = ip ? reader->frame[ip - 1] : NONE,
					 .parent = (uint32_t)parent,
					 .stack = NONE};
	return 0;
}

/* Parents come before their children, so this ends. */
static int stack_of(struct heaptrack_reader *reader, uint64_t number, uint32_t *out_stack)
{
	struct heaptrack_trace *trace =
		number && number <= reader->trace_count ? &reader->trace[number - 1] : NULL;
	uint32_t frame[DEPTH_MAX] = {0}, count = 0;
	int err;

	if (trace && trace->stack != NONE) {
		*out_stack = trace->stack;
		return 0;
	}
	for (const struct heaptrack_trace *at = trace; at && at->frame != NONE && count < DEPTH_MAX;
	     at = at->parent ? &reader->trace[at->parent - 1] : NULL)
		frame[count++] = at->frame;
	err = profile_stack_of(reader->profile, frame, count, 0, out_stack);
	if (!err && trace)
		trace->stack = *out_stack;
	return err;
}

/* ---- allocations ----------------------------------------------------------------------------- */

static int read_kind(struct heaptrack_reader *reader, const char *cursor)
{
	struct heaptrack_kind kind = {.row = NONE};
	struct profile_row_key key = {.interval = 1};
	uint64_t trace;

	if (array_reserve(&reader->kind, &reader->kind_room, reader->kind_count,
			  sizeof(*reader->kind)))
		return -ENOMEM;
	if (!next_number(&cursor, &kind.size) || !next_number(&cursor, &trace) ||
	    kind.size > INT64_MAX || trace > reader->trace_count) {
		bad(reader, "an allocation of what was not told");
	} else {
		key.size_class = profile_size_class(kind.size);
		if (stack_of(reader, trace, &key.stack) ||
		    profile_row_at(reader->profile, &key, &kind.row))
			return -ENOMEM;
	}
	reader->kind[reader->kind_count++] = kind;
	return 0;
}

static int read_event(struct heaptrack_reader *reader, const char *cursor, bool is_free)
{
	struct profile_row *row;
	uint64_t number, size;

	if (!next_number(&cursor, &number) || number >= reader->kind_count)
		return bad(reader, is_free ? "a free of what was not told"
					   : "an allocation of what was not told");
	if (reader->kind[number].row == NONE)
		return 0;
	row = &reader->profile->row[reader->kind[number].row];
	size = reader->kind[number].size;
	if (is_free && (row->inuse_count == 0 || row->inuse_bytes < size))
		return bad(reader, "a free of what was not allocated");
	if (is_free) {
		row->inuse_count--;
		row->inuse_bytes -= size;
		return 0;
	}
	if (row->alloc_bytes > INT64_MAX - size)
		return bad(reader, "allocations that are too large");
	row->alloc_count++;
	row->alloc_bytes += size;
	row->inuse_count++;
	row->inuse_bytes += size;
	row->inuse_ns += (double)reader->now_ns;
	row->first_ns = row->first_ns ? row->first_ns : reader->now_ns;
	row->last_ns = reader->now_ns;
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int read_command(struct heaptrack_reader *reader, const char *text)
{
	struct profile_meta *meta = &reader->profile->meta;

	if (meta->cmdline)
		return 0;
	meta->cmdline = strdup(text + (*text == ' '));
	return meta->cmdline ? 0 : -ENOMEM;
}

static int read_time(struct heaptrack_reader *reader, const char *cursor)
{
	uint64_t ms;

	if (!next_number(&cursor, &ms) || ms > INT64_MAX / NS_PER_MS)
		return bad(reader, "not a time");
	reader->now_ns = ms * NS_PER_MS;
	reader->profile->meta.duration_ns = reader->now_ns;
	return 0;
}

/* Comments have their length, too. */
static int read_suppression(struct heaptrack_reader *reader, const char *cursor)
{
	uint64_t length;

	if (reader->format >= 3 && !next_number(&cursor, &length))
		return bad(reader, "a suppression without its length");
	return suppressions_add(&reader->suppressions, cursor)
		       ? 0
		       : bad(reader, "not a suppression, or one too many");
}

static int read_line(struct heaptrack_reader *reader)
{
	const char *rest = reader->line + 1;

	switch (reader->line[0]) {
	case '+':
		return read_event(reader, rest, false);
	case '-':
		return read_event(reader, rest, true);
	case 'a':
		return read_kind(reader, rest);
	case 't':
		return read_trace(reader, rest);
	case 'i':
		return read_ip(reader, rest);
	case 's':
		return read_string(reader, rest);
	case 'c':
		return read_time(reader, rest);
	case 'S':
		return read_suppression(reader, rest);
	case 'X':
		return read_command(reader, rest);
	case '#':
		reader->ended = reader->ended || strncmp(reader->line, END, strlen(END)) == 0;
		return 0;
	case 'm':
	case 'x':
		read_damage(
			reader->profile,
			"a raw recording of heaptrack's: have heaptrack --interpret read it first");
		return -EBADMSG;
	default:
		return isalpha((unsigned char)reader->line[0]) || !reader->line[0]
			       ? 0
			       : bad(reader, "nothing that heaptrack writes");
	}
}

static int read_header(struct heaptrack_reader *reader)
{
	const char *cursor = reader->line + 1;
	uint64_t version;
	bool is_whole;

	if (!input_line(reader->input, reader->line, sizeof(reader->line), &is_whole) ||
	    !is_whole || !next_number(&cursor, &version) ||
	    !next_number(&cursor, &reader->format)) {
		read_damage(reader->profile, "not a recording of heaptrack's");
		return -EBADMSG;
	}
	if (reader->format < 1 || reader->format > 3) {
		read_damage(reader->profile,
			    "a recording of heaptrack's in format %" PRIu64
			    "; formats 1 to 3 are known",
			    reader->format);
		return -EBADMSG;
	}
	return 0;
}

static int read_lines(struct heaptrack_reader *reader)
{
	const uint8_t *bytes;
	bool is_whole;
	int err = read_header(reader);

	while (!err && input_line(reader->input, reader->line, sizeof(reader->line), &is_whole)) {
		if (is_whole)
			err = read_line(reader);
		else if (input_peek(reader->input, 1, &bytes) > 0)
			bad(reader, "the line is too long");
	}
	if (!err)
		read_check_end(reader->input, reader->profile, reader->ended);
	return err;
}

/*
 * The recording does not say which of several equal allocations was freed. So those in use are
 * taken to be as old as all of them are in the mean. Lifetimes remain unknown.
 */
static void share_ages(struct profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		struct profile_row *row = &profile->row[i];

		if (row->alloc_count)
			row->inuse_ns *= (double)row->inuse_count / (double)row->alloc_count;
	}
}

static void reader_free(struct heaptrack_reader *reader)
{
	for (size_t i = 0; i < reader->string_count; i++)
		free(reader->string[i].text);
	free(reader->string);
	free(reader->frame);
	free(reader->trace);
	free(reader->kind);
	suppressions_close(&reader->suppressions);
	free(reader);
}

int read_heaptrack(struct input *input, struct profile *profile)
{
	struct heaptrack_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->input = input;
	reader->profile = profile;
	profile->meta.interval = 1;
	err = read_lines(reader);
	if (!err)
		err = suppressions_apply(&reader->suppressions, profile);
	if (!err) {
		share_ages(profile);
		read_count_samples(profile);
	}
	reader_free(reader);
	return err;
}
