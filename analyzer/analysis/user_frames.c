/* SPDX-License-Identifier: MIT */
/* user_frames.c - see user_frames.h. Which functions are thin layers is in thin_layers.h. */
#include "user_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"
#include "thin_layers.h"
#include "wrapper_names.h"

/* Frames without a name between malloc and an allocator's function; more are something else. */
#define UNNAMED_MAX 4u

/* What a function is by its name alone. */
enum name_role {
	NAME_OTHER,
	NAME_LIBRARY,
	NAME_ALLOCATOR,
	NAME_MAY_BE_LAYER,
	NAME_START,
	NAME_ADDED,    /* by the user: skipped */
	NAME_TAKEN_OUT /* by the user: not skipped */
};

struct opener {
	struct user_frames frames;
	struct pattern wrapper, no_wrapper;
	uint8_t *name_role; /* by function: enum name_role */
};

static bool has_rust(char *const *plain, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (wrapper_names_is_rust(plain[i]))
			return true;
	}
	return false;
}

static enum name_role role_of_name(const struct opener *opener, const struct wrapper_names *names,
				   const char *name, const char *plain, bool is_rust)
{
	if (pattern_matches(&opener->no_wrapper, name))
		return NAME_TAKEN_OUT;
	if (pattern_matches(&opener->wrapper, name))
		return NAME_ADDED;
	if (wrapper_names_is_start(plain))
		return NAME_START;
	switch (wrapper_names_find(names, plain, is_rust)) {
	case WRAPPER_ALLOCATOR:
		return NAME_ALLOCATOR;
	case WRAPPER_LIBRARY:
		return NAME_LIBRARY;
	default:
		return wrapper_names_may_be(plain) ? NAME_MAY_BE_LAYER : NAME_OTHER;
	}
}

static int note_names(struct opener *opener)
{
	const struct functions *functions = &opener->frames.functions;
	char **plain = calloc(functions->count + 1, sizeof(*plain));
	struct wrapper_names names;
	bool is_complete = plain && opener->name_role;

	wrapper_names_open(&names);
	for (size_t i = 0; i < functions->count && is_complete; i++) {
		plain[i] = wrapper_names_plain(functions->name[i]);
		is_complete = plain[i] != NULL;
	}
	const bool is_rust = is_complete && has_rust(plain, functions->count);
	for (size_t i = 0; i < functions->count && is_complete; i++)
		opener->name_role[i] = (uint8_t)role_of_name(opener, &names, functions->name[i],
							     plain[i], is_rust);
	for (size_t i = 0; plain && i < functions->count; i++)
		free(plain[i]);
	free(plain);
	return is_complete ? 0 : -ENOMEM;
}

/* By module: whether its code is a library's. NULL = out of memory. */
static bool *note_modules(const struct profile *profile)
{
	bool *is_library = calloc(profile->module_count + 1, sizeof(*is_library));

	for (size_t i = 0; is_library && i < profile->module_count; i++)
		is_library[i] = profile->module[i].path &&
				wrapper_names_has_module(profile->module[i].path);
	return is_library;
}

static enum frame_role role_of_call(enum name_role name_role, bool is_in_library)
{
	switch (name_role) {
	case NAME_TAKEN_OUT:
		return FRAME_USER;
	case NAME_ADDED:
		return FRAME_LAYER;
	case NAME_START:
		return FRAME_START;
	case NAME_ALLOCATOR:
		return FRAME_ALLOCATOR;
	case NAME_LIBRARY:
		return FRAME_LIBRARY;
	default:
		return is_in_library ? FRAME_LIBRARY : FRAME_USER;
	}
}

static int note_calls(struct opener *opener)
{
	const struct profile *profile = opener->frames.profile;
	const struct functions *functions = &opener->frames.functions;
	bool *is_library = note_modules(profile);

	for (size_t f = 0; is_library && f < profile->frame_count; f++) {
		const int32_t module = profile->frame[f].module;
		const bool is_in_library = module >= 0 && module < (int64_t)profile->module_count &&
					   is_library[module];

		for (uint32_t c = functions->first[f]; c < functions->first[f + 1]; c++)
			opener->frames.role[c] = (uint8_t)role_of_call(
				opener->name_role[functions->call[c].function], is_in_library);
	}
	free(is_library);
	return is_library ? 0 : -ENOMEM;
}

/*
 * Code without a name that an allocator calls on its way to malloc is the allocator's own, as
 * PostgreSQL's static AllocSetAlloc in MemoryContextAlloc.
 */
static void note_unnamed(struct opener *opener, const struct profile_stack *stack)
{
	const struct functions *functions = &opener->frames.functions;
	uint8_t *role = opener->frames.role;
	uint32_t unnamed[UNNAMED_MAX];
	size_t count = 0;

	for (uint32_t f = 0; f < stack->frame_count; f++) {
		for (uint32_t c = functions->first[stack->frame[f]];
		     c < functions->first[stack->frame[f] + 1]; c++) {
			if (role[c] == FRAME_ALLOCATOR) {
				while (count > 0)
					role[unnamed[--count]] = FRAME_ALLOCATOR;
			} else if (role[c] == FRAME_USER) {
				if (functions->call[c].is_named || count == UNNAMED_MAX ||
				    opener->name_role[functions->call[c].function] != NAME_OTHER)
					return;
				unnamed[count++] = c;
			}
		}
	}
}

/* The calls of the functions that the stacks show to be thin layers become FRAME_LAYER. */
static int note_layers(struct opener *opener)
{
	struct user_frames *frames = &opener->frames;
	const struct functions *functions = &frames->functions;
	const size_t calls = functions->first[frames->profile->frame_count];
	bool *is_layer = calloc(functions->count + 1, sizeof(*is_layer));
	int err = is_layer ? 0 : -ENOMEM;

	for (size_t i = 0; i < functions->count && !err; i++)
		is_layer[i] = opener->name_role[i] == NAME_MAY_BE_LAYER;
	if (!err)
		err = thin_layers_find(frames->profile, functions, frames->role,
				       USER_FRAMES_CALLERS, is_layer);
	for (size_t c = 0; c < calls && !err; c++) {
		if (is_layer[functions->call[c].function] && frames->role[c] == FRAME_USER)
			frames->role[c] = FRAME_LAYER;
	}
	free(is_layer);
	return err;
}

static int open_all(struct opener *opener, const struct profile *profile)
{
	struct user_frames *frames = &opener->frames;
	struct profile by_function = *profile; /* a shallow copy, which nobody changes or closes */
	int err;

	by_function.meta.granularity = PROFILE_FUNCTIONS;
	err = functions_open(&by_function, &frames->functions);
	if (err)
		return err;
	frames->profile = profile;
	frames->role = calloc(frames->functions.first[profile->frame_count] + (size_t)1,
			      sizeof(*frames->role));
	frames->unfolded = malloc((functions_stack_bound(&frames->functions, profile) + 1) *
				  sizeof(*frames->unfolded));
	opener->name_role = calloc(frames->functions.count + 1, sizeof(*opener->name_role));
	err = frames->role && frames->unfolded ? note_names(opener) : -ENOMEM;
	if (!err)
		err = note_calls(opener);
	for (size_t i = 0; i < profile->stack_count && !err; i++)
		note_unnamed(opener, &profile->stack[i]);
	return err ? err : note_layers(opener);
}

int user_frames_open(const struct profile *profile, const struct user_frames_options *options,
		     struct user_frames *out_frames, char complaint[PATTERN_COMPLAINT_MAX])
{
	struct opener opener = {0};
	int err = pattern_open(&opener.wrapper, options ? options->wrapper : NULL, complaint);

	if (!err)
		err = pattern_open(&opener.no_wrapper, options ? options->no_wrapper : NULL,
				   complaint);
	if (!err)
		err = open_all(&opener, profile);
	pattern_close(&opener.wrapper);
	pattern_close(&opener.no_wrapper);
	free(opener.name_role);
	if (err)
		user_frames_close(&opener.frames);
	else
		*out_frames = opener.frames;
	return err;
}

void user_frames_close(struct user_frames *frames)
{
	functions_close(&frames->functions);
	free(frames->role);
	free(frames->unfolded);
	*frames = (struct user_frames){0};
}

bool user_frames_skips(const struct user_frames *frames, uint32_t call)
{
	return frames->role[call] != FRAME_USER && frames->role[call] != FRAME_START;
}

/* The calls of a whole stack, leaf first. Returns their number. */
static size_t unfold_whole(const struct user_frames *frames, const struct profile_stack *stack)
{
	const uint32_t *first = frames->functions.first;
	size_t count = 0;

	for (uint32_t f = 0; f < stack->frame_count; f++) {
		for (uint32_t c = first[stack->frame[f]]; c < first[stack->frame[f] + 1]; c++)
			frames->unfolded[count++] = c;
	}
	return count;
}

/* Whether the call has a name of its own, and not only an address. */
static bool is_named(const struct user_frames *frames, uint32_t call)
{
	return frames->functions.call[call].is_named;
}

static bool is_called(const struct user_frames *frames, uint32_t call, const char *name)
{
	return strcmp(frames->functions.name[frames->functions.call[call].function], name) == 0;
}

/*
 * Whether unfolded[i], outside of which all calls start a thread, starts one, too. Names may be
 * missing: glibc's without its debug file, and that of a stripped program's _start. musl's start is
 * told from a program's by its file, or by its caller.
 */
static bool is_start(const struct user_frames *frames, size_t i, size_t count)
{
	const uint32_t call = frames->unfolded[i];
	const enum frame_role role = (enum frame_role)frames->role[call];

	if (role == FRAME_START)
		return true;
	if (!is_named(frames, call))
		return role == FRAME_LIBRARY ||
		       (i + 1 == count && i > 0 && is_named(frames, frames->unfolded[i - 1]) &&
			frames->role[frames->unfolded[i - 1]] == FRAME_START);
	return is_called(frames, call, "start") &&
	       (role == FRAME_LIBRARY ||
		(i + 1 < count && (is_called(frames, frames->unfolded[i + 1], "__clone") ||
				   is_called(frames, frames->unfolded[i + 1], "clone"))));
}

/* The index in unfolded[] of the first call to look at, before `end`. */
static size_t first_to_look_at(const struct user_frames *frames, size_t end)
{
	size_t first = 0;

	while (first < end && user_frames_skips(frames, frames->unfolded[first]))
		first++;
	if (first < end)
		return first;
	while (first > 0) {
		if (is_named(frames, frames->unfolded[--first]))
			return first;
	}
	return 0;
}

/*
 * Unfolds a stack. The calls to look at are from *out_first up to the one before *out_end. Returns
 * how many there are in all.
 */
static size_t unfold(const struct user_frames *frames, uint32_t stack, size_t *out_first,
		     size_t *out_end)
{
	const size_t count = unfold_whole(frames, &frames->profile->stack[stack]);
	size_t end = count;

	while (end > 0 && is_start(frames, end - 1, count))
		end--;
	*out_first = first_to_look_at(frames, end);
	*out_end = end ? end : count > 0;
	return count;
}

const uint32_t *user_frames_unfold(const struct user_frames *frames, uint32_t stack,
				   size_t *out_count)
{
	size_t first, end;

	unfold(frames, stack, &first, &end);
	*out_count = end - first;
	return frames->unfolded + first;
}

void user_frames_note_folded(const struct user_frames *frames, uint32_t stack, bool *is_folded)
{
	size_t first, end;
	const size_t count = unfold(frames, stack, &first, &end);

	for (size_t i = 0; i < count; i++) {
		if (i < first || i >= end)
			is_folded[frames->functions.call[frames->unfolded[i]].function] = true;
	}
}

bool user_frame_of(const struct user_frames *frames, uint32_t stack, struct user_frame *out_frame)
{
	const struct profile_stack *of = &frames->profile->stack[stack];
	size_t first, end;
	uint32_t frame = 0;

	unfold(frames, stack, &first, &end);
	if (end == 0)
		return false;
	for (size_t left = first; frame + 1 < of->frame_count; frame++) {
		const size_t lines = frames->functions.first[of->frame[frame] + 1] -
				     frames->functions.first[of->frame[frame]];
		if (left < lines)
			break;
		left -= lines;
	}
	*out_frame = (struct user_frame){.frame = frame, .call = frames->unfolded[first]};
	return true;
}

char *user_frames_label(const struct user_frames *frames, uint32_t call)
{
	const struct function_call *at = &frames->functions.call[call];
	const char *name = frames->functions.name[at->function];
	char *text;

	if (!at->file || !*at->file || !at->line)
		return strdup(name);
	return asprintf(&text, "%s %s:%u", name, hi_base_name(at->file), at->line) < 0 ? NULL
										       : text;
}
