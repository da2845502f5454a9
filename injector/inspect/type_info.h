/* SPDX-License-Identifier: MIT */
/*
 * type_info.h - the C++ class of an object, by its first word.
 *
 * An object with virtual functions begins with a pointer to its class's table of them, and before
 * the table is a pointer to the class's type information, which has its mangled name (Itanium C++
 * ABI, 2.5.2 and 2.9). No symbol is needed. Classes that were compiled without type information
 * have no name.
 */
#ifndef HI_TYPE_INFO_H
#define HI_TYPE_INFO_H

#include "heap.h"

#define TYPE_NONE UINT32_MAX
#define TYPES_MAX 65536u
#define TYPE_NAME_MAX 512u

struct type_infos {
	const struct heap_source *source;
	char **name; /* mangled, as in typeid(T).name(): letters, digits, underscores */
	size_t count, room;
	struct type_table *table; /* by the address of the table of functions */
	size_t table_room, table_count;
	remote_addr lo, hi; /* of all mappings of files */
};

void type_infos_open(struct type_infos *types, const struct heap_source *source);
void type_infos_close(struct type_infos *types);
/* The index of the class's name, or TYPE_NONE. word: the first of a block. */
uint32_t type_infos_find(struct type_infos *types, uint64_t word);

#endif
