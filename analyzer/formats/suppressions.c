/* SPDX-License-Identifier: MIT */
/* suppressions.c - see suppressions.h. */
#include "suppressions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "leak:"
#define PATTERN_MAX 128u /* characters */

bool suppressions_add(struct suppressions *suppressions, const char *line)
{
	char *pattern;

	while (*line == ' ' || *line == '\t')
		line++;
	if (!*line || *line == '#')
		return true;
	if (strncmp(line, PREFIX, strlen(PREFIX)) != 0 || !line[strlen(PREFIX)] ||
	    strlen(line) > PATTERN_MAX || suppressions->count == SUPPRESSIONS_MAX)
		return false;
	pattern = strdup(line + strlen(PREFIX));
	if (pattern)
		suppressions->pattern[suppressions->count++] = pattern;
	return true;
}

void suppressions_close(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->count; i++)
		free(suppressions->pattern[i]);
	suppressions->count = 0;
}

/*
 * Whether the text matches. After a mismatch it goes back to the last * alone, which is enough, and
 * takes no more steps than the lengths multiplied.
 */
bool suppressions_matches(const char *pattern, const char *text)
{
	const bool is_begin = *pattern == '^';
	const char *after_star = NULL, *retry = text;

	pattern += is_begin;
	if (!is_begin)
		after_star = pattern; /* as if there were a * */
	for (;;) {
		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
		} else if (!*pattern || (pattern[0] == '$' && !pattern[1] && !*text)) {
			return true;
		} else if (*text && *pattern == *text) {
			pattern++;
			text++;
		} else if (after_star && *retry) {
			pattern = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
}

static bool matches_any(const struct suppressions *suppressions, const char *text)
{
	for (size_t i = 0; text && i < suppressions->count; i++) {
		if (suppressions_matches(suppressions->pattern[i], text))
			return true;
	}
	return false;
}

static bool is_suppressed(const struct suppressions *suppressions, const struct profile *profile,
			  const struct profile_frame *frame)
{
	for (size_t i = 0; i < frame->line_count; i++) {
		if (matches_any(suppressions, frame->line[i].system_name) ||
		    (suppressions->with_shown_names &&
		     matches_any(suppressions, frame->line[i].function)) ||
		    matches_any(suppressions, frame->line[i].file))
			return true;
	}
	return frame->module >= 0 && frame->module < (int64_t)profile->module_count &&
	       matches_any(suppressions, profile->module[frame->module].path);
}

bool *suppressions_frames(const struct suppressions *suppressions, const struct profile *profile)
{
	bool *matches = calloc(profile->frame_count + 1, sizeof(*matches));

	for (size_t i = 0; matches && suppressions->count && i < profile->frame_count; i++)
		matches[i] = is_suppressed(suppressions, profile, &profile->frame[i]);
	return matches;
}

bool suppressions_has_stack(const bool *matches, const struct profile_stack *stack)
{
	uint32_t frame = 0;

	while (frame < stack->frame_count && !matches[stack->frame[frame]])
		frame++;
	return frame < stack->frame_count;
}

int suppressions_apply(const struct suppressions *suppressions, struct profile *profile)
{
	bool *matches = suppressions->count ? suppressions_frames(suppressions, profile) : NULL;

	if (!suppressions->count)
		return 0;
	if (!matches)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		struct profile_row *row = &profile->row[i];

		if (!suppressions_has_stack(matches, &profile->stack[row->key.stack]))
			continue;
		profile->meta.suppressed_bytes += row->inuse_bytes;
		row->inuse_count = row->inuse_bytes = 0;
		row->inuse_ns = 0;
	}
	free(matches);
	return 0;
}
