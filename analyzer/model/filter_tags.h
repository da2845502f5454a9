/* SPDX-License-Identifier: MIT */
/*
 * filter_tags.h - one --tagfocus or --tagignore: by block size ("600b:", "1kb:1mb", "bytes=4kb"),
 * by thread ("worker", "thread=^io-", "thread_id=77"), or by a label ("request=/login").
 *
 * A range includes both of its ends; a number without a unit is bytes. Ranges are of numbers: the
 * size, and labels that are numbers. Anything else is one or more regular expressions, separated by
 * commas, for texts. After KEY= at least one of them must match the value. Without a key each of
 * them must match some "key:value".
 */
#ifndef HI_FILTER_TAGS_H
#define HI_FILTER_TAGS_H

#include "pattern.h"
#include "profile.h"

#define FILTER_TAG_PATTERNS 16u

struct filter_tag {
	bool is_set, is_range;
	double low, high; /* of a range; sizes in bytes */
	char *key;        /* NULL = any */
	struct pattern pattern[FILTER_TAG_PATTERNS];
	size_t pattern_count;
};

/*
 * text: NULL = no filter. 0, -ENOMEM, or -EINVAL with the reason in complaint. The caller closes
 * the tag in any case.
 */
int filter_tag_open(struct filter_tag *tag, const char *text,
		    char complaint[PATTERN_COMPLAINT_MAX]);
void filter_tag_close(struct filter_tag *tag);
/* thread: NULL = unknown. */
bool filter_tag_matches(const struct filter_tag *tag, const struct profile_row *row,
			const struct label_set *labels, const struct part_thread *thread);

#endif
