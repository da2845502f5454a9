/* SPDX-License-Identifier: MIT */
/* filter_tags.c - see filter_tags.h. */
#include "filter_tags.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hi_units.h"

#define TAG_TEXT_MAX 512u

/* "600", "4kb", "1MB": advances *text. */
static bool take_size(const char **text, double *out_bytes)
{
	static const char *const units[][2] = {{"b", "bytes"},
					       {"kb", "kilobytes"},
					       {"mb", "megabytes"},
					       {"gb", "gigabytes"},
					       {"tb", "terabytes"}};
	uint64_t number;
	size_t length = 0;

	if (hi_parse_digits(*text, &number, text))
		return false;
	while (isalpha((unsigned char)(*text)[length]))
		length++;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (length && strncasecmp(*text, units[i][0], length) &&
		    strncasecmp(*text, units[i][1], length))
			continue;
		if (length && length < strlen(units[i][0]))
			continue;
		*out_bytes = ldexp((double)number, 10 * (int)i);
		*text += length;
		return true;
	}
	return false;
}

static bool parse_range(const char *text, struct filter_tag *tag)
{
	tag->low = 0;
	tag->high = INFINITY;
	if (*text == ':') {
		text++;
		return take_size(&text, &tag->high) && !*text;
	}
	if (!take_size(&text, &tag->low))
		return false;
	if (!*text) {
		tag->high = tag->low;
		return true;
	}
	if (*text++ != ':')
		return false;
	return !*text || (take_size(&text, &tag->high) && !*text);
}

static int add_patterns(struct filter_tag *tag, const char *text,
			char complaint[PATTERN_COMPLAINT_MAX])
{
	char *copy = strdup(text), *rest = copy, *part;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (part = strsep(&rest, ","))) {
		if (tag->pattern_count == FILTER_TAG_PATTERNS) {
			snprintf(complaint, PATTERN_COMPLAINT_MAX, "more than %u expressions",
				 FILTER_TAG_PATTERNS);
			err = -EINVAL;
		} else {
			err = pattern_open(&tag->pattern[tag->pattern_count], part, complaint);
			tag->pattern_count += !err;
		}
	}
	free(copy);
	return err;
}

int filter_tag_open(struct filter_tag *tag, const char *text, char complaint[PATTERN_COMPLAINT_MAX])
{
	const char *equals = text ? strchr(text, '=') : NULL;

	*tag = (struct filter_tag){.is_set = text != NULL};
	if (!text)
		return 0;
	if (equals && !(tag->key = strndup(text, (size_t)(equals - text))))
		return -ENOMEM;
	text = equals ? equals + 1 : text;
	/* A thread id is matched as text. */
	tag->is_range = (!tag->key || strcmp(tag->key, "thread_id") != 0) && parse_range(text, tag);
	return tag->is_range ? 0 : add_patterns(tag, text, complaint);
}

void filter_tag_close(struct filter_tag *tag)
{
	for (size_t i = 0; i < tag->pattern_count; i++)
		pattern_close(&tag->pattern[i]);
	free(tag->key);
	*tag = (struct filter_tag){0};
}

static bool matches_value(const struct filter_tag *tag, const struct pattern *pattern,
			  const char *key, const char *value)
{
	char text[TAG_TEXT_MAX];

	if (!*value || (tag->key && strcmp(tag->key, key) != 0))
		return false;
	snprintf(text, sizeof(text), "%s:%s", key, value);
	return pattern_matches(pattern, tag->key ? value : text);
}

static bool matches_thread(const struct filter_tag *tag, const struct pattern *pattern,
			   const struct part_thread *thread)
{
	char tid[16] = "";

	if (!thread)
		return false;
	if (thread->tid)
		snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	return matches_value(tag, pattern, "thread", thread->name ? thread->name : "") ||
	       matches_value(tag, pattern, "thread_id", tid);
}

static bool matches_texts(const struct filter_tag *tag, const struct pattern *pattern,
			  const struct label_set *labels)
{
	bool matches = false;

	for (size_t i = 0; i < labels->count && !matches; i++)
		matches = labels->label[i].text &&
			  matches_value(tag, pattern, labels->label[i].key, labels->label[i].text);
	return matches;
}

static bool is_inside(const struct filter_tag *tag, const char *key, double number)
{
	return (!tag->key || strcmp(tag->key, key) == 0) && number >= tag->low &&
	       number <= tag->high;
}

static bool matches_numbers(const struct filter_tag *tag, const struct profile_row *row,
			    const struct label_set *labels)
{
	bool matches = is_inside(tag, "bytes", (double)profile_block_bytes(row));

	for (size_t i = 0; i < labels->count && !matches; i++)
		matches = !labels->label[i].text &&
			  is_inside(tag, labels->label[i].key, (double)labels->label[i].number);
	return matches;
}

bool filter_tag_matches(const struct filter_tag *tag, const struct profile_row *row,
			const struct label_set *labels, const struct part_thread *thread)
{
	size_t matches = 0;

	if (tag->is_range)
		return matches_numbers(tag, row, labels);
	for (size_t i = 0; i < tag->pattern_count; i++)
		matches += matches_thread(tag, &tag->pattern[i], thread) ||
			   matches_texts(tag, &tag->pattern[i], labels);
	return tag->key ? matches > 0 : matches == tag->pattern_count;
}
