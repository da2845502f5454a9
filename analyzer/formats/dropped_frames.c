/* SPDX-License-Identifier: MIT */
/*
 * dropped_frames.c - see dropped_frames.h. A compiled expression keeps what it learns of each text,
 * and a hostile one much. So it is compiled anew after some thousand bytes.
 */
#include "dropped_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_MATCHED 4096u
#define RENEW_AFTER 4096u /* bytes */

/* To be freed. NULL = out of memory. (?i) stays at the beginning. */
static char *whole(const char *text)
{
	const size_t flags = strncmp(text, "(?i)", 4) == 0 ? 4 : 0;
	char *anchored;

	return asprintf(&anchored, "%.*s^(%s)$", (int)flags, text, text + flags) < 0 ? NULL
										     : anchored;
}

static int open_one(const char *text, char **out_text, char *complaint, struct pattern *out_pattern)
{
	if (!*text)
		return 0;
	*out_text = whole(text);
	return *out_text ? pattern_open_foreign(out_pattern, *out_text, complaint) : -ENOMEM;
}

int dropped_frames_open(struct dropped_frames *dropped, const char *drop, const char *keep,
			char complaint[PATTERN_COMPLAINT_MAX])
{
	int err;

	*dropped = (struct dropped_frames){0};
	if (!*drop)
		return 0;
	err = open_one(drop, &dropped->drop_text, complaint, &dropped->drop);
	if (!err)
		err = open_one(keep, &dropped->keep_text, complaint, &dropped->keep);
	if (err)
		dropped_frames_close(dropped);
	return err;
}

static int renew(struct dropped_frames *dropped)
{
	char complaint[PATTERN_COMPLAINT_MAX];

	dropped->since = 0;
	pattern_close(&dropped->drop);
	pattern_close(&dropped->keep);
	/* They were opened before, so that only memory can lack. */
	return pattern_open_foreign(&dropped->drop, dropped->drop_text, complaint) ||
			       pattern_open_foreign(&dropped->keep, dropped->keep_text, complaint)
		       ? -ENOMEM
		       : 0;
}

int dropped_frames_has(struct dropped_frames *dropped, const char *function)
{
	const size_t size = strlen(function);

	if (!dropped->drop.is_set || size > NAME_MAX_MATCHED ||
	    dropped->total + size > DROPPED_FRAMES_BYTES_MAX)
		return 0;
	dropped->total += size;
	dropped->since += size;
	if (dropped->since > RENEW_AFTER && renew(dropped))
		return -ENOMEM;
	return pattern_matches_function(&dropped->drop, function) &&
	       !pattern_matches_function(&dropped->keep, function);
}

void dropped_frames_close(struct dropped_frames *dropped)
{
	pattern_close(&dropped->drop);
	pattern_close(&dropped->keep);
	free(dropped->drop_text);
	free(dropped->keep_text);
	*dropped = (struct dropped_frames){0};
}

size_t dropped_frames_count(const unsigned char *at, size_t count)
{
	bool has_user = false;

	for (size_t i = count; i-- > 0;) {
		if (at[i] == DROPPED_NOTHING)
			has_user = true;
		else if (has_user)
			return at[i] == DROPPED_ALL ? i + 1 : i;
	}
	return 0;
}
