/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - see symbols.h.
 *
 * Frames are resolved object by object, in order of address: one object's files are open at a time,
 * and what libdw caches for a compilation unit is used while it is warm. A frame holds a return
 * address; the call is one byte before it. This matters for the line, and for the function if its
 * last instruction is a call that never returns. Start at symbols_resolve().
 */
#include "symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "module_names.h"
#include "perfmap.h"
#include "printable.h"
#include "progress_bar.h"

#define NO_MODULE (-1)

struct resolver {
	struct profile *profile;
	const struct symbols_options *options;
	struct file_source source;
	uint32_t *order; /* indices of frames to resolve, by object and address */
	size_t count;
};

/* ---- one frame ------------------------------------------------------------------------------- */

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

static char *printable_path(const struct dwarf_call *call)
{
	char *path = dwarf_call_path(call);

	if (path)
		printable(path);
	return path;
}

static int fill_line(const struct dwarf_call *call, bool full_names, struct profile_line *line)
{
	line->line = call->line;
	if (call->name && (!(line->function = dwarf_call_name(call, full_names)) ||
			   !(line->system_name = printable_copy(call->name))))
		return -ENOMEM;
	if (call->file && !(line->file = printable_path(call)))
		return -ENOMEM;
	return 0;
}

static int fill_frame(const struct dwarf_call *calls, size_t count, bool full_names,
		      struct profile_frame *frame)
{
	struct profile_line *line = calloc(count, sizeof(*line));
	int err = line ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++)
		err = fill_line(&calls[i], full_names, &line[i]);
	if (err) {
		if (line)
			free_lines(line, count);
		return err;
	}
	free_lines(frame->line, frame->line_count);
	frame->line = line;
	frame->line_count = count;
	return 0;
}

/*
 * True if the calls have more than the frame: inlined calls, or a source file, that it lacks.
 * Otherwise the frame keeps what it has.
 */
static bool has_more(const struct profile_frame *frame, const struct dwarf_call *calls,
		     size_t count)
{
	return !frame->line_count || count > frame->line_count ||
	       (count == frame->line_count && calls[0].file && !frame->line[0].file);
}

static int name_frame(const struct resolver *resolver, const struct dwarf_call *calls, size_t count,
		      struct profile_frame *frame)
{
	struct symbols_findings *findings = resolver->options->findings;
	const bool is_new = !frame->line_count;

	if (!has_more(frame, calls, count))
		return 0;
	const int err = fill_frame(calls, count, resolver->options->full_names, frame);
	if (!err && findings) {
		findings->found += is_new;
		findings->bettered += !is_new;
	}
	return err;
}

/* Code without a name is at least told apart by function. */
static void note_function(const struct resolver *resolver, const struct module_names *names,
			  uint64_t address, struct profile_frame *frame)
{
	uint64_t begin;

	if (!frame->line_count && module_names_begin(names, address, &begin) == 0)
		frame->function = begin + resolver->profile->module[frame->module].bias;
}

static int resolve_in_module(const struct resolver *resolver, const struct module_names *names,
			     struct profile_frame *frame)
{
	const uint64_t address = module_names_code(
		names, frame->address - resolver->profile->module[frame->module].bias);
	struct dwarf_call calls[DWARF_CALLS_MAX] = {{0}};
	size_t count = 1;

	const char *symbol = module_names_symbol(names, address);
	const int err =
		names->lines ? dwarf_lines_find(names->lines, address, calls, &count) : -ENOENT;
	if (err == -ENOMEM)
		return err;
	/*
	 * The symbol table names the owner of the code, too. For assembly this is the only name.
	 * Where the debug information has the plain name, this is the mangled one.
	 */
	struct dwarf_call *owner = &calls[count - 1];
	if (symbol && (!owner->name || (!owner->is_linkage_name && symbol[0] == '_' &&
					(symbol[1] == 'Z' || symbol[1] == 'R')))) {
		owner->name = symbol;
		owner->is_linkage_name = true;
	}
	if (owner->name || owner->file)
		return name_frame(resolver, calls, count, frame);
	note_function(resolver, names, address, frame);
	return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int compare_frames(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;
	const struct profile_frame *a = &profile->frame[*(const uint32_t *)left],
				   *b = &profile->frame[*(const uint32_t *)right];
	const uint32_t a_number = a->module == NO_MODULE ? 0 : profile->module[a->module].number;
	const uint32_t b_number = b->module == NO_MODULE ? 0 : profile->module[b->module].number;

	if (a_number != b_number)
		return a_number < b_number ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int collect_frames(struct resolver *resolver)
{
	struct profile *profile = resolver->profile;

	resolver->order = malloc((profile->frame_count + 1) * sizeof(*resolver->order));
	if (!resolver->order)
		return -ENOMEM;
	for (size_t i = resolver->options->first_frame; i < profile->frame_count; i++) {
		const int32_t module = profile->frame[i].module;
		const bool is_named = profile->frame[i].line_count != 0;
		if ((is_named && !resolver->options->complete) || module < NO_MODULE ||
		    module >= (int64_t)profile->module_count)
			continue;
		resolver->order[resolver->count++] = (uint32_t)i;
		if (resolver->options->findings)
			resolver->options->findings->sought += !is_named;
	}
	qsort_r(resolver->order, resolver->count, sizeof(*resolver->order), compare_frames,
		profile);
	return 0;
}

int symbols_check_binary(const struct profile *profile, const struct symbols_options *options)
{
	static const struct profile_module unknown;
	const int32_t module = module_names_main(profile);

	return options->files.binary
		       ? objfile_check(module == NO_MODULE ? &unknown : &profile->module[module],
				       options->files.binary)
		       : 0;
}

static int resolve_generated(struct resolver *resolver, size_t begin, size_t end)
{
	struct profile *profile = resolver->profile;
	struct perfmap map;
	int err = perfmap_open(&resolver->source, &map);

	if (err == -ENOENT && profile->code_names.count) {
		map = (struct perfmap){.count = 0};
		err = 0;
	}
	if (err)
		return err;
	for (size_t i = begin; i < end && !err; i++) {
		struct profile_frame *frame = &profile->frame[resolver->order[i]];
		struct dwarf_call call = {.name = perfmap_find(&map, frame->address - 1)};
		if (!call.name)
			call.name = code_names_find(&profile->code_names, frame->address - 1);
		if (call.name)
			err = name_frame(resolver, &call, 1, frame);
	}
	perfmap_close(&map);
	return err;
}

/* Of several modules, only the missing file of the first one is kept. */
static void note_lacks(const struct dwarf_lacks *lacks, struct symbols_findings *findings)
{
	findings->lacking += lacks->addresses;
	if (findings->lacked || !lacks->file)
		return;
	findings->lacked = printable_copy(lacks->file);
	findings->lacked_here = lacks->package ? printable_copy(lacks->package) : NULL;
}

static int resolve_object(struct resolver *resolver, size_t begin, size_t end)
{
	struct profile *profile = resolver->profile;
	struct module_names names;
	int err = module_names_open(&resolver->source, profile,
				    profile->frame[resolver->order[begin]].module,
				    resolver->options->files.binary, &names);

	if (err)
		return err;
	for (size_t i = begin; i < end && !err; i++) {
		progress_bar_share(i, resolver->count);
		err = resolve_in_module(resolver, &names, &profile->frame[resolver->order[i]]);
	}
	if (resolver->options->findings && names.lines)
		note_lacks(dwarf_lines_lacks(names.lines), resolver->options->findings);
	module_names_close(&names);
	return err;
}

int symbols_resolve(struct profile *profile, const struct symbols_options *options)
{
	struct resolver resolver = {.profile = profile,
				    .options = options,
				    .source = file_source_here(profile, &options->files)};
	int err = collect_frames(&resolver);
	size_t end;

	resolver.source.ask_fd = options->ask_fd;

	for (size_t begin = 0; begin < resolver.count && err != -ENOMEM; begin = end) {
		const int32_t module = profile->frame[resolver.order[begin]].module;
		for (end = begin + 1; end < resolver.count; end++) {
			if (!module_names_is_same(profile, module,
						  profile->frame[resolver.order[end]].module))
				break;
		}
		err = module == NO_MODULE ? resolve_generated(&resolver, begin, end)
					  : resolve_object(&resolver, begin, end);
	}
	free(resolver.order);
	return err == -ENOMEM ? err : 0;
}
