/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - see symbols.h.
 *
 * Frames are taken object by object, in order of address: one object's files are open at a time, and what libdw caches for a compilation unit
 * is used while it is warm. A frame holds a return address; the call stands one byte before it, which matters for the line, and for the
 * function where a call that never returns is its last instruction. Enter at symbols_resolve().
 */
#include "symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "dwarf_lines.h"
#include "mini_debug.h"
#include "objfile.h"
#include "perfmap.h"
#include "printable.h"
#include "progress_bar.h"
#include "symtab.h"

#define NO_MODULE (-1)

/* What is open of one object. */
struct object {
	struct objfile file, debug, alternate;
	struct symtab table;
	struct mini_debug mini;
	struct symtab mini_table; /* of a stripped file: what table has not */
	struct dwarf_lines *lines;
};

struct resolver {
	struct profile *profile;
	const struct symbols_options *options;
	struct file_source source;
	uint32_t *order; /* indices of frames to resolve, by object and address */
	size_t count;
	int32_t main_module;
};

/* ---- one object ---------------------------------------------------------------------------------------------------------- */

static void object_close(struct object *object)
{
	dwarf_lines_close(object->lines);
	symtab_close(&object->table);
	symtab_close(&object->mini_table);
	mini_debug_close(&object->mini);
	objfile_close(&object->alternate);
	objfile_close(&object->debug);
	objfile_close(&object->file);
}

static int open_lines(const struct resolver *resolver, const struct profile_module *module, const struct objfile *file, struct object *object)
{
	const int error = objfile_open_alternate(&resolver->source, module, file, &object->alternate);

	return error == -ENOMEM ? error : dwarf_lines_open(file, &object->alternate, !resolver->source.ask_fd, &object->lines);
}

/* A stripped file still has the names that others link to, and perhaps a packed table of the others. */
static int open_exported(struct object *object)
{
	int error = mini_debug_open(object->file.elf, &object->mini);

	if (!error)
		error = symtab_open_full(object->mini.elf, &object->mini_table);
	return error == -ENOMEM ? error : symtab_open(object->file.elf, &object->table);
}

/* The file itself may hold everything, names only, or the few names that others link to; the debug file fills the gaps. */
static int object_open(const struct resolver *resolver, int32_t module_index, struct object *out_object)
{
	const struct profile_module *module = &resolver->profile->module[module_index];
	const char *binary = module_index == resolver->main_module ? resolver->options->binary : NULL;
	struct object object = {.file = OBJFILE_CLOSED, .debug = OBJFILE_CLOSED, .alternate = OBJFILE_CLOSED};
	int error = objfile_open(&resolver->source, module, binary, &object.file);

	if (error)
		return error;
	const int names = symtab_open_full(object.file.elf, &object.table);
	const int lines = open_lines(resolver, module, &object.file, &object);
	if (names == -ENOENT || lines == -ENOENT)
		error = objfile_open_debug(&resolver->source, module, &object.file, &object.debug);
	if (names == -ENOENT && object.debug.elf)
		error = symtab_open_full(object.debug.elf, &object.table);
	if (lines == -ENOENT && object.debug.elf && error != -ENOMEM) {
		objfile_close(&object.alternate);
		error = open_lines(resolver, module, &object.debug, &object);
	}
	if (!object.table.count && error != -ENOMEM)
		error = open_exported(&object);
	if (names == -ENOMEM || lines == -ENOMEM || error == -ENOMEM) {
		object_close(&object);
		return -ENOMEM;
	}
	*out_object = object;
	return 0;
}

/* ---- one frame ----------------------------------------------------------------------------------------------------------- */

static void free_lines(struct profile_line *line, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(line[i].function);
		free(line[i].system_name);
		free(line[i].file);
	}
	free(line);
}

static char *printable_copy(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		printable(copy);
	return copy;
}

static char *full_path(const struct dwarf_call *call)
{
	char *path;

	if (!call->folder)
		return printable_copy(call->file);
	if (asprintf(&path, "%s/%s", call->folder, strncmp(call->file, "./", 2) == 0 ? call->file + 2 : call->file) < 0)
		return NULL;
	printable(path);
	return path;
}

/* Of C++ both kinds of name may have to be shortened: a source name has template arguments too. */
static char *readable_name(const struct dwarf_call *call, bool full_names)
{
	char *name = demangle(call->name, full_names);

	if (name && call->is_cxx && !call->is_linkage_name && !full_names)
		demangle_shorten(name);
	return name;
}

static int fill_line(const struct dwarf_call *call, bool full_names, struct profile_line *line)
{
	line->line = call->line;
	if (call->name && (!(line->function = readable_name(call, full_names)) || !(line->system_name = printable_copy(call->name))))
		return -ENOMEM;
	if (call->file && !(line->file = full_path(call)))
		return -ENOMEM;
	return 0;
}

static int fill_frame(const struct dwarf_call *calls, size_t count, bool full_names, struct profile_frame *frame)
{
	struct profile_line *line = calloc(count, sizeof(*line));
	int error = line ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !error; i++)
		error = fill_line(&calls[i], full_names, &line[i]);
	if (error) {
		if (line)
			free_lines(line, count);
		return error;
	}
	frame->line = line;
	frame->line_count = count;
	return 0;
}

static int resolve_in_object(struct object *object, uint64_t bias, bool full_names, struct profile_frame *frame)
{
	const uint64_t address = frame->address - 1 - bias;
	struct dwarf_call calls[DWARF_CALLS_MAX] = {{0}};
	size_t count = 1;

	const char *packed_symbol = symtab_find(&object->mini_table, address);
	const char *symbol = packed_symbol ? packed_symbol : symtab_find(&object->table, address);
	const int error = object->lines ? dwarf_lines_find(object->lines, address, calls, &count) : -ENOENT;
	if (error == -ENOMEM)
		return error;
	/* The owner of the code is in the symbol table too: the only name of assembly, and the mangled one where the debug information has the plain one. */
	struct dwarf_call *owner = &calls[count - 1];
	if (symbol && (!owner->name || (!owner->is_linkage_name && symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R')))) {
		owner->name = symbol;
		owner->is_linkage_name = true;
	}
	return owner->name || owner->file ? fill_frame(calls, count, full_names, frame) : 0;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

static int compare_frames(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct profile_frame *a = &profile->frame[*(const uint32_t *)left], *b = &profile->frame[*(const uint32_t *)right];
	const uint32_t a_number = a->module == NO_MODULE ? 0 : profile->module[a->module].number;
	const uint32_t b_number = b->module == NO_MODULE ? 0 : profile->module[b->module].number;

	if (a_number != b_number)
		return a_number < b_number ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static bool is_same_object(const struct profile *profile, int32_t a, int32_t b)
{
	return a == b || (a != NO_MODULE && b != NO_MODULE && profile->module[a].number != 0 && profile->module[a].number == profile->module[b].number);
}

static int collect_frames(struct resolver *resolver)
{
	struct profile *profile = resolver->profile;

	resolver->order = malloc((profile->frame_count + 1) * sizeof(*resolver->order));
	if (!resolver->order)
		return -ENOMEM;
	for (size_t i = resolver->options->first_frame; i < profile->frame_count; i++) {
		const int32_t module = profile->frame[i].module;
		if (profile->frame[i].line_count == 0 && module >= NO_MODULE && module < (int64_t)profile->module_count)
			resolver->order[resolver->count++] = (uint32_t)i;
	}
	qsort_r(resolver->order, resolver->count, sizeof(*resolver->order), compare_frames, profile);
	return 0;
}

/* The module of the program itself: by its path or, where that is unknown, the one that is mapped first. */
static int32_t find_main_module(const struct profile *profile)
{
	for (size_t i = 0; profile->meta.exe && i < profile->module_count; i++) {
		if (profile->module[i].path && strcmp(profile->module[i].path, profile->meta.exe) == 0)
			return (int32_t)i;
	}
	return profile->module_count ? 0 : NO_MODULE;
}

int symbols_check_binary(const struct profile *profile, const struct symbols_options *options)
{
	static const struct profile_module unknown;
	const int32_t module = find_main_module(profile);

	return options->binary ? objfile_check(module == NO_MODULE ? &unknown : &profile->module[module], options->binary) : 0;
}

static int resolve_generated(struct resolver *resolver, size_t begin, size_t end)
{
	struct profile *profile = resolver->profile;
	struct perfmap map;
	int error = perfmap_open(&resolver->source, &map);

	if (error)
		return error;
	for (size_t i = begin; i < end && !error; i++) {
		struct profile_frame *frame = &profile->frame[resolver->order[i]];
		const struct dwarf_call call = {.name = perfmap_find(&map, frame->address - 1)};
		if (call.name)
			error = fill_frame(&call, 1, resolver->options->full_names, frame);
	}
	perfmap_close(&map);
	return error;
}

static int resolve_object(struct resolver *resolver, size_t begin, size_t end)
{
	struct profile *profile = resolver->profile;
	int32_t module = profile->frame[resolver->order[begin]].module;
	struct object object;

	if (is_same_object(profile, module, resolver->main_module))
		module = resolver->main_module;
	int error = object_open(resolver, module, &object);
	if (error)
		return error;
	for (size_t i = begin; i < end && !error; i++) {
		struct profile_frame *frame = &profile->frame[resolver->order[i]];

		progress_bar_share(i, resolver->count);
		error = resolve_in_object(&object, profile->module[frame->module].bias, resolver->options->full_names, frame);
	}
	object_close(&object);
	return error;
}

int symbols_resolve(struct profile *profile, const struct symbols_options *options)
{
	struct resolver resolver = {
		.profile = profile,
		.options = options,
		.source = {.ask_fd = options->ask_fd, .pid = profile->meta.pid, .exe = profile->meta.exe},
		.main_module = find_main_module(profile),
	};
	int error = collect_frames(&resolver);
	size_t end;

	for (size_t begin = 0; begin < resolver.count && error != -ENOMEM; begin = end) {
		const int32_t module = profile->frame[resolver.order[begin]].module;
		for (end = begin + 1; end < resolver.count; end++) {
			if (!is_same_object(profile, module, profile->frame[resolver.order[end]].module))
				break;
		}
		error = module == NO_MODULE ? resolve_generated(&resolver, begin, end) : resolve_object(&resolver, begin, end);
	}
	free(resolver.order);
	return error == -ENOMEM ? error : 0;
}
