/* SPDX-License-Identifier: MIT */
/* read_pprof_tables.c - see read_pprof_tables.h. */
#include "read_pprof_tables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "modules.h"
#include "pprof_fields.h"
#include "printable.h"
#include "read_common.h"
#include "text_equal.h"

#define LINES_MAX 256u /* inlined calls at one address */

static char no_name[] = "[unknown]";

/* ---- by id ----------------------------------------------------------------------------------- */

static const struct pprof_entry *entry_of(const struct pprof_entries *entries, uint64_t id)
{
	struct table_cursor cursor = table_seek(&entries->by_id, hash_number(id));
	uint32_t index;

	while (table_next(&entries->by_id, &cursor, &index)) {
		if (entries->entry[index].id == id)
			return &entries->entry[index];
	}
	return NULL;
}

static bool find_entry(const struct pprof_entries *entries, uint64_t id, uint32_t *out_index)
{
	const struct pprof_entry *entry = entry_of(entries, id);

	*out_index = entry ? entry->index : *out_index;
	return entry != NULL;
}

static int add_entry(struct pprof_entries *entries, uint64_t id, uint32_t index,
		     enum dropped_at dropped)
{
	if (array_reserve(&entries->entry, &entries->capacity, entries->count,
			  sizeof(*entries->entry)) ||
	    table_add(&entries->by_id, hash_number(id), (uint32_t)entries->count))
		return -ENOMEM;
	entries->entry[entries->count++] =
		(struct pprof_entry){.id = id, .index = index, .dropped = (unsigned char)dropped};
	return 0;
}

static struct pprof_function *find_function(const struct pprof_tables *tables, uint64_t id)
{
	struct table_cursor cursor = table_seek(&tables->functions, hash_number(id));
	uint32_t index;

	while (table_next(&tables->functions, &cursor, &index)) {
		if (tables->function[index].id == id)
			return &tables->function[index];
	}
	return NULL;
}

bool pprof_has_string(const struct pprof_tables *tables, uint64_t number)
{
	return !number || number < tables->string_count;
}

const char *pprof_string(const struct pprof_tables *tables, uint64_t number)
{
	return number < tables->string_count ? tables->string[number] : "";
}

bool pprof_frame(const struct pprof_tables *tables, uint64_t location_id, uint32_t *out_frame,
		 unsigned char *out_dropped)
{
	const struct pprof_entry *entry = entry_of(&tables->frames, location_id);

	if (!entry)
		return false;
	*out_frame = entry->index;
	*out_dropped = entry->dropped;
	return true;
}

/* ---- fields of the profile ------------------------------------------------------------------- */

static int add_string(struct pprof_tables *tables, const struct protobuf_field *field)
{
	char *copy;

	if (!field->bytes)
		return -EBADMSG;
	if (array_reserve(&tables->string, &tables->string_capacity, tables->string_count,
			  sizeof(*tables->string)))
		return -ENOMEM;
	copy = printable_escaped((const char *)field->bytes, field->size);
	if (!copy)
		return -ENOMEM;
	tables->string[tables->string_count++] = copy;
	return 0;
}

static int add_function(struct pprof_tables *tables, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct pprof_function function = {0};
	struct protobuf_field part;
	int end;

	while (!(end = protobuf_next(&rest, &part))) {
		if (part.number == FUNCTION_ID)
			function.id = part.value;
		else if (part.number == FUNCTION_NAME)
			function.name = part.value;
		else if (part.number == FUNCTION_SYSTEM_NAME)
			function.system_name = part.value;
		else if (part.number == FUNCTION_FILENAME)
			function.file = part.value;
	}
	if (end != -ENODATA || !function.id || find_function(tables, function.id))
		return -EBADMSG;
	if (array_reserve(&tables->function, &tables->function_capacity, tables->function_count,
			  sizeof(*tables->function)) ||
	    table_add(&tables->functions, hash_number(function.id),
		      (uint32_t)tables->function_count))
		return -ENOMEM;
	tables->function[tables->function_count++] = function;
	return 0;
}

int pprof_tables_add(struct pprof_tables *tables, const struct protobuf_field *field)
{
	switch (field->number) {
	case PROFILE_STRING_TABLE:
		return add_string(tables, field);
	case PROFILE_FUNCTION:
		return add_function(tables, field);
	default:
		return 0;
	}
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void set_mapping(const struct pprof_tables *tables, const struct protobuf_field *part,
			uint64_t *id, struct profile_module *module)
{
	switch (part->number) {
	case MAPPING_ID:
		*id = part->value;
		break;
	case MAPPING_START:
		module->lo = part->value;
		break;
	case MAPPING_LIMIT:
		module->hi = part->value;
		break;
	case MAPPING_OFFSET:
		module->file_offset = part->value;
		break;
	case MAPPING_FILENAME:
		module->path = (char *)(uintptr_t)pprof_string(tables, part->value);
		break;
	case MAPPING_BUILD_ID:
		read_build_id(pprof_string(tables, part->value), module);
		break;
	default:
		break;
	}
}

int pprof_tables_add_mapping(struct pprof_tables *tables, const struct protobuf_field *field)
{
	struct profile_module module = {.bias = PROFILE_BIAS_UNKNOWN,
					.number = (uint32_t)tables->profile->module_count + 1};
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	uint64_t id = 0;
	uint32_t index;
	int end;

	while (!(end = protobuf_next(&rest, &part))) {
		if (part.number == MAPPING_BUILD_ID)
			module.build_id_size = 0;
		if ((part.number == MAPPING_BUILD_ID || part.number == MAPPING_FILENAME) &&
		    !pprof_has_string(tables, part.value))
			return -EBADMSG;
		set_mapping(tables, &part, &id, &module);
	}
	if (end != -ENODATA || !id || find_entry(&tables->modules, id, &index) ||
	    module.number > MODULES_MAX)
		return -EBADMSG;
	/*
	 * Programs that know the names of all their frames need not say where anything was mapped.
	 */
	if (module.hi <= module.lo || !module.path || !*module.path)
		return 0;
	if (profile_add_module(tables->profile, &module, &index) ||
	    add_entry(&tables->modules, id, index, DROPPED_NOTHING))
		return -ENOMEM;
	return 0;
}

/* ---- locations ------------------------------------------------------------------------------- */

/* The function's name as it is shown: demangled, if the file has it as in the symbol table. */
static const char *shown_name(const struct pprof_tables *tables, struct pprof_function *function)
{
	const char *name = pprof_string(tables, function->name);

	if (!*name)
		name = pprof_string(tables, function->system_name);
	if (!function->shown)
		function->shown = demangle(name, false);
	return function->shown;
}

static bool has_strings(const struct pprof_tables *tables, const struct pprof_function *function)
{
	return pprof_has_string(tables, function->name) &&
	       pprof_has_string(tables, function->system_name) &&
	       pprof_has_string(tables, function->file);
}

/*
 * 0, -ENODATA if the line names no function, -EBADMSG if its texts are not there, or -ENOMEM. The
 * texts are those of the tables.
 */
static int read_line(struct pprof_tables *tables, const struct protobuf_field *field,
		     struct profile_line *out_line, bool *out_is_dropped)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct pprof_function *function = NULL;
	struct protobuf_field part;
	uint64_t number = 0;
	const char *name, *system_name, *file;

	while (!protobuf_next(&rest, &part)) {
		if (part.number == LINE_FUNCTION_ID)
			function = find_function(tables, part.value);
		else if (part.number == LINE_LINE)
			number = part.value;
	}
	if (function && !has_strings(tables, function))
		return -EBADMSG;
	name = function ? shown_name(tables, function) : "";
	if (!name)
		return -ENOMEM;
	if (!*name)
		return -ENODATA;
	if (!function->is_dropped)
		function->is_dropped = 1 + dropped_frames_has(&tables->dropped, name);
	if (function->is_dropped < 1)
		return -ENOMEM;
	*out_is_dropped = function->is_dropped > 1;
	system_name = pprof_string(tables, function->system_name);
	file = pprof_string(tables, function->file);
	*out_line = (struct profile_line){
		.function = (char *)(uintptr_t)name,
		.system_name = (char *)(uintptr_t)(*system_name ? system_name : name),
		.file = *file ? (char *)(uintptr_t)file : NULL,
		.line = number <= UINT32_MAX ? (uint32_t)number : 0,
	};
	return 0;
}

/*
 * If two locations have one address and differ in their lines, as in merged files, the second
 * becomes a frame with lines only.
 */
static int make_frame(struct profile *profile, uint64_t address, int32_t module,
		      const struct profile_line *line, size_t count, uint32_t *out_frame)
{
	static const struct profile_line nobody = {.function = no_name, .system_name = no_name};

	/*
	 * The file has the address of the call; frames of a profile have return addresses. Where
	 * there is no address, our own writer's arithmetic leaves the highest one.
	 */
	if (address && address != UINT64_MAX) {
		if (profile_frame_at(profile, address + 1, module, out_frame))
			return -ENOMEM;
		if (!count || profile_frame_has_lines(&profile->frame[*out_frame], line, count))
			return 0;
		if (!profile->frame[*out_frame].line_count)
			return profile_frame_lines(&profile->frame[*out_frame], line, count);
	}
	return profile_frame_named(profile, count ? line : &nobody, count ? count : 1, out_frame);
}

/*
 * Leaves out the lines that the outermost one that is dropped has called, and that line. If it is
 * the function that owns the code, all lines stay, as a stack may begin with it.
 */
static enum dropped_at drop_lines(struct profile_line *line, const bool *is_dropped, size_t *count)
{
	size_t left = *count;

	while (left > 0 && !is_dropped[left - 1])
		left--;
	if (left == *count)
		return left ? DROPPED_ALL : DROPPED_NOTHING;
	if (!left)
		return DROPPED_NOTHING;
	*count -= left;
	memmove(line, line + left, *count * sizeof(*line));
	return DROPPED_CALLEES;
}

int pprof_tables_add_location(struct pprof_tables *tables, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct profile_line line[LINES_MAX];
	struct protobuf_field part;
	uint64_t id = 0, mapping = 0, address = 0;
	enum dropped_at dropped;
	bool is_dropped[LINES_MAX];
	size_t count = 0;
	uint32_t module, frame;
	int end, err = 0;

	while (!(end = protobuf_next(&rest, &part)) && (!err || err == -ENODATA)) {
		if (part.number == LOCATION_ID)
			id = part.value;
		else if (part.number == LOCATION_MAPPING_ID)
			mapping = part.value;
		else if (part.number == LOCATION_ADDRESS)
			address = part.value;
		else if (part.number == LOCATION_LINE && count < LINES_MAX)
			count +=
				!(err = read_line(tables, &part, &line[count], &is_dropped[count]));
	}
	if (err == -ENOMEM || err == -EBADMSG)
		return err;
	if (end != -ENODATA || !id || find_entry(&tables->frames, id, &frame))
		return -EBADMSG;
	dropped = drop_lines(line, is_dropped, &count);
	if (make_frame(tables->profile, address,
		       find_entry(&tables->modules, mapping, &module) ? (int32_t)module : -1, line,
		       count, &frame))
		return -ENOMEM;
	return add_entry(&tables->frames, id, frame, dropped);
}

void pprof_tables_close(struct pprof_tables *tables)
{
	for (size_t i = 0; i < tables->string_count; i++)
		free(tables->string[i]);
	for (size_t i = 0; i < tables->function_count; i++)
		free(tables->function[i].shown);
	dropped_frames_close(&tables->dropped);
	free(tables->string);
	free(tables->function);
	table_close(&tables->functions);
	free(tables->modules.entry);
	table_close(&tables->modules.by_id);
	free(tables->frames.entry);
	table_close(&tables->frames.by_id);
}
