/* SPDX-License-Identifier: MIT */
/*
 * filter_tags.h - one --tagfocus or --tagignore: by size of block ("600b:", "1kb:1mb", "bytes=4kb") or by thread ("worker", "thread=^io-", "thread_id=77").
 *
 * A range holds both of its ends; without a unit it is bytes. Anything else is one or more regular expressions, separated by commas: after KEY= one of them has
 * to match the value, else each of them some "key:value".
 */
#ifndef HI_FILTER_TAGS_H
#define HI_FILTER_TAGS_H

#include "pattern.h"
#include "profile.h"

#define FILTER_TAG_PATTERNS 16u

struct filter_tag {
	bool is_set, is_range;
	double low, high; /* bytes; of a range */
	char *key;        /* NULL = any */
	struct pattern pattern[FILTER_TAG_PATTERNS];
	size_t pattern_count;
};

/* text: NULL = none. 0, -ENOMEM, or -EINVAL, with what is wrong in complaint. To be closed in any case. */
int filter_tag_open(struct filter_tag *tag, const char *text, char complaint[PATTERN_COMPLAINT_MAX]);
void filter_tag_close(struct filter_tag *tag);
/* thread: NULL = unknown. */
bool filter_tag_matches(const struct filter_tag *tag, const struct profile_row *row, const struct part_thread *thread);

#endif
