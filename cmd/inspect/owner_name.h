/* SPDX-License-Identifier: MIT */
/*
 * owner_name.h - what nodes of a graph of references are called. Symbols and classes are made
 * readable, so that all rights have to be given up before (type_names.h).
 */
#ifndef HI_OWNER_NAME_H
#define HI_OWNER_NAME_H

#include <stdio.h>

#include "owners.h"

struct owner_names {
	const struct owners *owners;
	char *const *type; /* readable, by number */
};

/* New strings, to be freed by the caller; NULL: out of memory. A class as a whole, or "text of
 * 56B".
 */
char *owner_name_of_group(const struct owner_names *names, uint32_t group);
/* "cache in redis-server", "stack of worker (1234)", ... */
char *owner_name_of_root(const struct reference_root *root);
/* Of either, to a stream, cut if it is long. */
void owner_name_print(const struct owner_names *names, uint32_t node, FILE *out);
/* As in JSON, documented in heapinject(1): "variable". */
const char *owner_kind_name(enum reference_kind kind);
/* Lines on what these pointers are, and what is not known of them. */
void owner_notes_print(const struct references *references, FILE *out);

#endif
