/* SPDX-License-Identifier: MIT */
/*
 * functions.c - see functions.h.
 */
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocators.h"
#include "hi_path.h"
#include "printable.h"

/* Room for so many calls costs less than to find out whether fewer would do. */
#define CALLS_CHEAP (1u << 16)
/* The kernel cuts the name of a process. */
#define COMM_MAX 15u

/* Takes ownership of name. */
static int function_named(struct functions *functions, char *name, uint32_t *out_function)
{
	if (!name)
		return -ENOMEM;
	printable(name);
	const uint64_t hash = hash_bytes(name, strlen(name));
	struct table_cursor cursor = table_seek(&functions->by_name, hash);
	while (table_next(&functions->by_name, &cursor, out_function)) {
		if (strcmp(functions->name[*out_function], name) == 0) {
			free(name);
			return 0;
		}
	}
	if (array_reserve(&functions->name, &functions->name_room, functions->count,
			  sizeof(*functions->name)) ||
	    table_add(&functions->by_name, hash, (uint32_t)functions->count)) {
		free(name);
		return -ENOMEM;
	}
	*out_function = (uint32_t)functions->count;
	functions->name[functions->count++] = name;
	return 0;
}

/*
 * The name that the program runs by, if that is another than its file's: redis-server, where
 * /usr/bin/redis-server is a link to redis-check-rdb. Both the process and its first argument must
 * say so, since a script gives the process its own name, and some programs change one of both.
 * NULL = it is the file's, or unknown. The caller frees it.
 */
static char *run_by(const struct profile_meta *meta)
{
	const char *first = meta->cmdline ? meta->cmdline : "";
	char *argument = strndup(first, strcspn(first, " :")), *name = NULL;

	if (argument && meta->comm && *meta->comm &&
	    strncmp(hi_base_name(argument), meta->comm, COMM_MAX) == 0)
		name = strdup(hi_base_name(argument));
	free(argument);
	return name;
}

/* What a module is called in the names of its code: mostly its file without directories. */
static const char *module_label(const struct functions *functions, const struct profile *profile,
				const char *path)
{
	return functions->program && profile->meta.exe && strcmp(path, profile->meta.exe) == 0
		       ? functions->program
		       : hi_base_name(path);
}

static bool calls_main(const struct profile_frame *frame)
{
	static const char *const callers[] = {"__libc_start_call_main", "libc_start_main_stage2",
					      "__libc_start_main", "__libc_start_main_impl"};
	const char *function =
		frame->line_count ? frame->line[frame->line_count - 1].function : NULL;

	for (size_t i = 0; function && i < sizeof(callers) / sizeof(callers[0]); i++) {
		const size_t length = strlen(callers[i]);

		if (strncmp(function, callers[i], length) == 0 &&
		    (function[length] == 0 || function[length] == '@'))
			return true;
	}
	return false;
}

static bool is_of_program(const struct profile *profile, const struct profile_frame *frame)
{
	const char *path = frame->module >= 0 && frame->module < (int64_t)profile->module_count
				   ? profile->module[frame->module].path
				   : NULL;

	return path && profile->meta.exe && strcmp(path, profile->meta.exe) == 0;
}

/* Where main begins, by the stacks; calls: by frame, calls_main(). 0 = unknown. */
static uint64_t find_main(const struct profile *profile, const bool *calls)
{
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stack[i];

		for (uint32_t f = stack->frame_count; f-- > 1;) {
			const struct profile_frame *caller = &profile->frame[stack->frame[f]],
						   *frame = &profile->frame[stack->frame[f - 1]];

			if (!calls[stack->frame[f]])
				continue;
			if (f > 1 && !frame->line_count && frame->module == caller->module)
				frame = &profile->frame[stack->frame[f - 2]];
			if (!frame->line_count && frame->function && is_of_program(profile, frame))
				return frame->function;
			if (!calls[stack->frame[f - 1]])
				break;
		}
	}
	return 0;
}

/*
 * Where main begins if it has no name: it is the function of the program that libc's start code
 * calls. A stripped libc names only the outer one of its two functions. 0 = unknown. Stacks are
 * looked at only if there are functions without a name. 0 or -ENOMEM.
 */
static int derive_main(const struct profile *profile, uint64_t *out_main)
{
	bool *calls = calloc(profile->frame_count + 1, sizeof(*calls));
	bool is_caller = false, is_nameless = false;

	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < profile->frame_count; i++) {
		calls[i] = calls_main(&profile->frame[i]);
		is_caller |= calls[i];
		is_nameless |= !profile->frame[i].line_count && profile->frame[i].function;
	}
	*out_main = is_caller && is_nameless ? find_main(profile, calls) : 0;
	free(calls);
	return 0;
}

/*
 * The name of an address without a symbol. In a module it names the function, by where that begins
 * if this is known. Else it names the call, one byte before the return address, as addr2line
 * expects it and pprof's files have it.
 */
static char *placeholder(const struct functions *functions, const struct profile *profile,
			 const struct profile_frame *frame)
{
	const struct profile_module *module =
		frame->module >= 0 && frame->module < (int64_t)profile->module_count
			? &profile->module[frame->module]
			: NULL;
	const char *path = module && module->path ? module->path : NULL;
	const uint64_t call = frame->address - (frame->address != 0);
	char *text;
	int size;

	if (frame->function && frame->function == functions->main)
		return strdup("main [derived]");
	if (path && *path)
		size = asprintf(&text, "%s+0x%" PRIx64, module_label(functions, profile, path),
				(frame->function ? frame->function : call) - module->bias);
	else
		size = asprintf(&text, "0x%" PRIx64, call);
	return size < 0 ? NULL : text;
}

/* Also the name of code without a source file, where the views count by file. */
static char *module_name(const struct functions *functions, const struct profile *profile,
			 const struct profile_frame *frame)
{
	const char *path = frame->module >= 0 && frame->module < (int64_t)profile->module_count
				   ? profile->module[frame->module].path
				   : NULL;
	char *text;

	if (!path || !*path)
		return strdup("<unknown>");
	return asprintf(&text, "[%s]", module_label(functions, profile, path)) < 0 ? NULL : text;
}

/* Removes empty parts, "." and "..": "./a//b/../c.c" becomes "a/c.c". In place. */
static char *clean_path(char *path)
{
	const size_t root = path[0] == '/';
	/* size of the clean part of the path, and of the .. parts at its beginning */
	size_t size = root, kept_up = root;

	for (const char *part = path + root; *part;) {
		const size_t length = strcspn(part, "/");
		const bool is_up = length == 2 && part[0] == '.' && part[1] == '.',
			   is_here = length == 1 && part[0] == '.';

		if (is_up && size > kept_up) {
			while (size > kept_up && path[--size] != '/')
				;
		} else if (length && !is_here && !(is_up && root)) {
			if (size > root)
				path[size++] = '/';
			memmove(path + size, part, length);
			size += length;
			kept_up = is_up ? size : kept_up;
		}
		part += length;
		part += *part == '/';
	}
	if (size || !*path)
		path[size] = 0;
	else
		strcpy(path, ".");
	return path;
}

/* The caller frees it. */
static char *clean_copy(const char *path)
{
	char *copy = strdup(path);

	return copy ? clean_path(copy) : NULL;
}

/* "ADDRESS function file:line", as far as the granularity needs it. Takes ownership of function. */
static char *name_with_place(enum profile_granularity granularity,
			     const struct profile_frame *frame, const struct profile_line *line,
			     char *function)
{
	char address[24] = "", place[16] = "", *text = NULL,
	     *file = line->file ? clean_copy(line->file) : NULL;

	if (!function || (line->file && !file)) {
		free(function);
		free(file);
		return NULL;
	}
	if (granularity == PROFILE_ADDRESSES && frame->address)
		snprintf(address, sizeof(address), "%016" PRIx64 " ", frame->address - 1);
	if (line->file && line->line && granularity != PROFILE_FILEFUNCTIONS)
		snprintf(place, sizeof(place), ":%" PRIu32, line->line);
	const int size = asprintf(&text, "%s%s%s%s%s", address, function, file ? " " : "",
				  file ? file : "", place);
	free(function);
	free(file);
	return size < 0 ? NULL : text;
}

/* The name of one line's function, by the profile's granularity. The caller frees it. */
static char *line_name(const struct functions *functions, const struct profile *profile,
		       const struct profile_frame *frame, const struct profile_line *line)
{
	const enum profile_granularity granularity = profile->meta.granularity;

	if (granularity == PROFILE_FILES)
		return line->file ? clean_copy(line->file) : module_name(functions, profile, frame);
	if (granularity == PROFILE_MODULES)
		return module_name(functions, profile, frame);
	char *function =
		line->function ? strdup(line->function) : placeholder(functions, profile, frame);
	return granularity == PROFILE_FUNCTIONS
		       ? function
		       : name_with_place(granularity, frame, line, function);
}

static int unfold_frame(struct functions *functions, const struct profile *profile,
			const struct profile_frame *frame, struct function_call *calls)
{
	const size_t count = frame->line_count ? frame->line_count : 1;

	for (size_t i = 0; i < count; i++) {
		const struct profile_line *line =
			frame->line_count ? &frame->line[i] : &(struct profile_line){0};
		calls[i] = (struct function_call){
			.line = line->line, .file = line->file, .is_inline = i + 1 < count};
		calls[i].is_named = line->function != NULL;
		calls[i].is_allocator = line->function && allocators_has(line->function);
		if (function_named(functions, line_name(functions, profile, frame, line),
				   &calls[i].function))
			return -ENOMEM;
	}
	return 0;
}

/* As if the stack of the most frames had the most calls in each of them. */
static size_t calls_bound(const struct functions *functions, const struct profile *profile)
{
	size_t frames = 0, calls = 0;

	for (size_t i = 0; i < profile->stack_count; i++)
		frames = profile->stack[i].frame_count > frames ? profile->stack[i].frame_count
								: frames;
	for (size_t i = 0; i < profile->frame_count; i++) {
		const size_t of = functions->first[i + 1] - functions->first[i];

		calls = of > calls ? of : calls;
	}
	return frames * calls;
}

size_t functions_stack_bound(const struct functions *functions, const struct profile *profile)
{
	size_t longest = 0;
	const size_t bound = calls_bound(functions, profile);

	if (bound <= CALLS_CHEAP)
		return bound;
	for (size_t i = 0; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stack[i];
		size_t length = 0;

		for (uint32_t f = 0; f < stack->frame_count; f++)
			length += functions->first[stack->frame[f] + 1] -
				  functions->first[stack->frame[f]];
		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Allocates room for the calls of all frames, and for the longest stack. */
static int reserve_calls(struct functions *functions, const struct profile *profile)
{
	size_t calls = 0;

	functions->first = malloc((profile->frame_count + 1) * sizeof(*functions->first));
	if (!functions->first)
		return -ENOMEM;
	for (size_t i = 0; i < profile->frame_count; i++) {
		functions->first[i] = (uint32_t)calls;
		calls += profile->frame[i].line_count ? profile->frame[i].line_count : 1;
		if (calls > UINT32_MAX)
			return -ENOMEM;
	}
	functions->first[profile->frame_count] = (uint32_t)calls;
	functions->call = malloc((calls + 1) * sizeof(*functions->call));
	functions->unfolded = malloc((functions_stack_bound(functions, profile) + 1) *
				     sizeof(*functions->unfolded));
	return functions->call && functions->unfolded ? 0 : -ENOMEM;
}

int functions_open(const struct profile *profile, struct functions *out_functions)
{
	struct functions functions = {0};
	int err = reserve_calls(&functions, profile);

	functions.program = run_by(&profile->meta);
	if (!err)
		err = derive_main(profile, &functions.main);
	for (size_t i = 0; i < profile->frame_count && !err; i++)
		err = unfold_frame(&functions, profile, &profile->frame[i],
				   &functions.call[functions.first[i]]);
	if (err) {
		functions_close(&functions);
		return err;
	}
	*out_functions = functions;
	return 0;
}

void functions_close(struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free(functions->name[i]);
	free(functions->name);
	free(functions->call);
	free(functions->first);
	free(functions->unfolded);
	free(functions->program);
	table_close(&functions->by_name);
	*functions = (struct functions){0};
}

const uint32_t *functions_unfold(const struct functions *functions,
				 const struct profile_stack *stack, size_t *out_count)
{
	size_t count = 0, leaf = 0;

	for (uint32_t f = 0; f < stack->frame_count; f++) {
		for (uint32_t call = functions->first[stack->frame[f]];
		     call < functions->first[stack->frame[f] + 1]; call++)
			functions->unfolded[count++] = call;
	}
	while (leaf + 1 < count && functions->call[functions->unfolded[leaf]].is_allocator)
		leaf++;
	*out_count = count - leaf;
	return functions->unfolded + leaf;
}
