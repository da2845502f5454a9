/* SPDX-License-Identifier: MIT */
/*
 * answer_fields.h - what a table needs of a session's answer for programs (`attach --json`). Only
 * members that come before all names of the process are found for certain: totals, sentence. So are
 * mappings, whose key no text can hold, as its quotes would be escaped there.
 */
#ifndef HI_ANSWER_FIELDS_H
#define HI_ANSWER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* What is still there of what was mapped in the window (`attach --mmap`), in bytes. */
enum answer_mapped {
	ANSWER_MAPPED_APPLICATION, /* for the program itself */
	ANSWER_MAPPED_ALLOCATOR,
	ANSWER_MAPPED_STACK,
	ANSWER_MAPPED_LINKER,
	ANSWER_MAPPED_GO,
	ANSWER_MAPPED_UNKNOWN,
	ANSWER_MAPPED_COUNT
};
/* As members of the answer: "application_bytes". */
extern const char *const answer_mapped_names[ANSWER_MAPPED_COUNT];

struct answer_fields {
	double samples, in_use_bytes, in_use_objects, allocated_bytes, allocated_objects;
	bool has_mappings; /* they were recorded */
	double mapped[ANSWER_MAPPED_COUNT];
	char sentence[512]; /* printable; "" = there is none */
};

/* False: there are no totals, as there was nothing to count. */
bool answer_fields_read(const char *answer, struct answer_fields *out_fields);

#endif
