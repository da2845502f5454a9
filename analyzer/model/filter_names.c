/* SPDX-License-Identifier: MIT */
/*
 * filter_names.c - see filter_names.h. A frame with inlined calls stands for several functions: its
 * lines, innermost first. A filter may remove some of them and leave the others.
 */
#include "filter_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocators.h"

static bool matches_line(const struct pattern *pattern, const struct profile_line *line)
{
	return pattern_matches(pattern, line->function) || pattern_matches(pattern, line->file);
}

static bool matches_module(const struct profile *profile, const struct profile_frame *frame,
			   const struct pattern *pattern)
{
	return frame->module >= 0 && frame->module < (int64_t)profile->module_count &&
	       pattern_matches(pattern, profile->module[frame->module].path);
}

static bool matches_frame(const struct profile *profile, const struct profile_frame *frame,
			  const struct filtered_frame *filtered, const struct pattern *pattern)
{
	for (size_t i = 0; i < filtered->line_count; i++) {
		if (matches_line(pattern, &filtered->line[i]))
			return true;
	}
	return matches_module(profile, frame, pattern);
}

/* Leaves the lines that match, or those that do not. */
static void choose_lines(struct filtered_frame *filtered, const struct pattern *pattern,
			 bool matching)
{
	size_t count = 0;

	for (size_t i = 0; i < filtered->line_count; i++) {
		if (matches_line(pattern, &filtered->line[i]) == matching)
			filtered->line[count++] = filtered->line[i];
	}
	filtered->line_count = count;
}

static void hide(const struct profile *profile, const struct profile_frame *frame,
		 const struct pattern *pattern, struct filtered_frame *filtered,
		 unsigned int *matched)
{
	if (!matches_frame(profile, frame, filtered, pattern))
		return;
	*matched |= 1u << FILTER_HIDE;
	if (matches_module(profile, frame, pattern))
		filtered->line_count = 0;
	else
		choose_lines(filtered, pattern, false);
	filtered->is_hidden |= filtered->line_count == 0;
}

/* Code without a name is not shown even if its module matches: there is nothing to show of it. */
static void show(const struct profile *profile, const struct profile_frame *frame,
		 const struct pattern *pattern, struct filtered_frame *filtered,
		 unsigned int *matched)
{
	if (!matches_module(profile, frame, pattern))
		choose_lines(filtered, pattern, true);
	if (filtered->line_count)
		*matched |= 1u << FILTER_SHOW;
	else
		filtered->is_hidden = true;
}

static void show_from(const struct profile *profile, const struct profile_frame *frame,
		      const struct pattern *pattern, struct filtered_frame *filtered,
		      unsigned int *matched)
{
	size_t count = filtered->line_count;

	filtered->is_show_from = matches_module(profile, frame, pattern);
	while (!filtered->is_show_from && count > 0) {
		filtered->is_show_from = matches_line(pattern, &filtered->line[count - 1]);
		filtered->line_count = filtered->is_show_from ? count : filtered->line_count;
		count--;
	}
	if (filtered->is_show_from)
		*matched |= 1u << FILTER_SHOW_FROM;
}

static void prune_from(const struct pattern *pattern, struct filtered_frame *filtered,
		       unsigned int *matched)
{
	for (size_t i = 0; i < filtered->line_count; i++) {
		if (!filtered->line[i].function ||
		    !pattern_matches_function(pattern, filtered->line[i].function))
			continue;
		filtered->is_prune_from = true;
		filtered->line_count -= i;
		memmove(filtered->line, filtered->line + i,
			filtered->line_count * sizeof(*filtered->line));
		*matched |= 1u << FILTER_PRUNE_FROM;
		return;
	}
}

/* Removes the allocator's functions where they are inlined into others. */
static void drop_allocators(struct filtered_frame *filtered)
{
	size_t count = 0;

	while (count < filtered->line_count && filtered->line[count].function &&
	       allocators_has(filtered->line[count].function))
		count++;
	filtered->is_allocator = count > 0 && count == filtered->line_count;
	if (count == filtered->line_count)
		return;
	filtered->line_count -= count;
	memmove(filtered->line, filtered->line + count,
		filtered->line_count * sizeof(*filtered->line));
}

int filter_frame(const struct profile *profile, const struct profile_frame *frame,
		 const struct pattern *pattern, struct filtered_frame *out_frame,
		 unsigned int *matched)
{
	struct filtered_frame filtered = {.line_count = frame->line_count};

	filtered.line = malloc((frame->line_count + 1) * sizeof(*filtered.line));
	if (!filtered.line)
		return -ENOMEM;
	if (frame->line_count)
		memcpy(filtered.line, frame->line, frame->line_count * sizeof(*filtered.line));
	drop_allocators(&filtered);
	filtered.is_ignored = matches_frame(profile, frame, &filtered, &pattern[FILTER_IGNORE]);
	filtered.is_focused = !filtered.is_ignored &&
			      (!pattern[FILTER_FOCUS].is_set ||
			       matches_frame(profile, frame, &filtered, &pattern[FILTER_FOCUS]));
	if (!filtered.is_allocator)
		*matched |= (filtered.is_ignored ? 1u << FILTER_IGNORE : 0) |
			    (filtered.is_focused ? 1u << FILTER_FOCUS : 0);
	if (pattern[FILTER_HIDE].is_set)
		hide(profile, frame, &pattern[FILTER_HIDE], &filtered, matched);
	if (pattern[FILTER_SHOW].is_set)
		show(profile, frame, &pattern[FILTER_SHOW], &filtered, matched);
	if (pattern[FILTER_SHOW_FROM].is_set)
		show_from(profile, frame, &pattern[FILTER_SHOW_FROM], &filtered, matched);
	if (pattern[FILTER_PRUNE_FROM].is_set)
		prune_from(&pattern[FILTER_PRUNE_FROM], &filtered, matched);
	*out_frame = filtered;
	return 0;
}

/* ---- source files ---------------------------------------------------------------------------- */

/*
 * Takes the next directory of a list that is separated by colons, and returns its length. *list
 * moves to the next one, or becomes NULL.
 */
static size_t take_directory(const char **list, const char **out_directory)
{
	size_t length = strcspn(*list, ":");

	*out_directory = *list;
	*list = (*list)[length] ? *list + length + 1 : NULL;
	while (length > 1 && (*out_directory)[length - 1] == '/')
		length--;
	return length;
}

static bool trim_prefix(char *file, const char *prefix, size_t length)
{
	if (!length || strncmp(file, prefix, length) != 0 ||
	    (prefix[length - 1] != '/' && file[length] != '/'))
		return false;
	length += prefix[length - 1] != '/';
	memmove(file, file + length, strlen(file + length) + 1);
	return true;
}

/* "/elsewhere/project/a.c" becomes "a.c" if "/here/project" is a source directory. */
static bool trim_to_directory(char *file, const char *directory, size_t length)
{
	size_t base = length;

	while (base > 0 && directory[base - 1] != '/')
		base--;
	for (char *at = strchr(file, '/'); at && base < length; at = strchr(at + 1, '/')) {
		if (strncmp(at + 1, directory + base, length - base) == 0 &&
		    at[1 + length - base] == '/') {
			at += 2 + length - base;
			memmove(file, at, strlen(at) + 1);
			return true;
		}
	}
	return false;
}

void filter_trim_path(char *file, const struct filter_options *options)
{
	static const char *const always[] = {"/proc/self/cwd/./", "/proc/self/cwd/"};
	const char *directory;

	for (const char *list = options->trim_path ? NULL : options->source_path; list;) {
		const size_t length = take_directory(&list, &directory);

		if (trim_to_directory(file, directory, length))
			return;
	}
	for (const char *list = options->trim_path; list;) {
		const size_t length = take_directory(&list, &directory);

		if (trim_prefix(file, directory, length))
			return;
	}
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		if (trim_prefix(file, always[i], strlen(always[i])))
			return;
	}
}
