/* SPDX-License-Identifier: MIT */
/*
 * answer_fields.h - what a table needs of a session's answer for programs (`attach --json`). Only
 * members that come before all names of the process are found for certain: totals, sentence.
 */
#ifndef HI_ANSWER_FIELDS_H
#define HI_ANSWER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct answer_fields {
	double samples, in_use_bytes, in_use_objects, allocated_bytes, allocated_objects;
	char sentence[512]; /* printable; "" = there is none */
};

/* False: there are no totals, as there was nothing to count. */
bool answer_fields_read(const char *answer, struct answer_fields *out_fields);

#endif
