/* SPDX-License-Identifier: MIT */
/* type_info.c - see type_info.h. */
#include "type_info.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"

#define WORD 8u
#define TABLE_ROOM_MIN 1024u
#define OFFSET_MAX (1 << 30) /* from a base class to its object */

/* What is known of an address that may be of a table of functions. */
struct type_table {
	remote_addr at; /* 0 = free */
	uint32_t type;  /* or TYPE_NONE */
};

void type_infos_open(struct type_infos *types, const struct heap_source *source)
{
	*types = (struct type_infos){.source = source, .lo = UINT64_MAX};
	for (size_t i = 0; i < source->maps->count; i++) {
		const struct mapping *mapping = &source->maps->mapping[i];

		if (!mapping->inode)
			continue;
		types->lo = mapping->lo < types->lo ? mapping->lo : types->lo;
		types->hi = mapping->hi;
	}
}

void type_infos_close(struct type_infos *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->name[i]);
	free(types->name);
	free(types->table);
	*types = (struct type_infos){0};
}

/* ---- from memory ----------------------------------------------------------------------------- */

/* Linkers put constants beside code, unless they are told to separate them; aarch64's do so. */
static const struct mapping *constant(const struct type_infos *types, remote_addr at)
{
	const struct mapping *mapping =
		at >= types->lo && at < types->hi ? maps_find(types->source->maps, at) : NULL;

	return mapping && mapping->inode && mapping->readable ? mapping : NULL;
}

static bool is_name(const char *name)
{
	size_t size = 0;

	for (; name[size]; size++)
		if (!isalnum((unsigned char)name[size]) && name[size] != '_')
			return false;
	return size > 1 && (isdigit((unsigned char)*name) || strchr("NSZ", *name));
}

/* The name at `at`, of at most TYPE_NAME_MAX bytes. False: there is none. */
static bool read_name(const struct type_infos *types, remote_addr at, char name[TYPE_NAME_MAX])
{
	const struct mapping *mapping = constant(types, at);

	if (!mapping)
		return false;
	const uint64_t left = mapping->hi - at;
	const size_t size = left < TYPE_NAME_MAX - 1 ? left : TYPE_NAME_MAX - 1;

	if (memory_read(types->source->memory, at, name, size))
		return false;
	name[size] = 0;
	/* of a class that other objects do not see */
	if (*name == '*')
		memmove(name, name + 1, size);
	return is_name(name);
}

/* The name of the class whose table of functions is at `at`. */
static bool read_type(const struct type_infos *types, remote_addr at, char name[TYPE_NAME_MAX])
{
	uint64_t before[2], info[2];

	if (!constant(types, at) || !constant(types, at - sizeof(before)) ||
	    memory_read(types->source->memory, at - sizeof(before), before, sizeof(before)))
		return false;
	/* the offset to the object, and the type information */
	if (-(int64_t)before[0] > OFFSET_MAX || (int64_t)before[0] > 0 || before[1] % WORD ||
	    !constant(types, before[1]) ||
	    memory_read(types->source->memory, before[1], info, sizeof(info)))
		return false;
	/* which itself begins with a table of functions, and has the name next */
	return constant(types, info[0]) && read_name(types, info[1], name);
}

/* ---- what is known --------------------------------------------------------------------------- */

static struct type_table *slot_of(const struct type_infos *types, remote_addr at)
{
	size_t slot = (at * 0x9e3779b97f4a7c15ull) >> 32;

	for (;; slot++) {
		struct type_table *table = &types->table[slot & (types->table_room - 1)];

		if (!table->at || table->at == at)
			return table;
	}
}

static bool make_room(struct type_infos *types)
{
	const size_t room = types->table_room ? 2 * types->table_room : TABLE_ROOM_MIN;
	struct type_infos larger = *types;

	if (2 * types->table_count < types->table_room)
		return true;
	larger.table = calloc(room, sizeof(*larger.table));
	larger.table_room = room;
	if (!larger.table)
		return false;
	for (size_t i = 0; i < types->table_room; i++)
		if (types->table[i].at)
			*slot_of(&larger, types->table[i].at) = types->table[i];
	free(types->table);
	*types = larger;
	return true;
}

/* The index of the name: a class may have several tables. */
static uint32_t add_name(struct type_infos *types, const char *name)
{
	for (size_t i = 0; i < types->count; i++)
		if (!strcmp(types->name[i], name))
			return (uint32_t)i;
	if (types->count == TYPES_MAX)
		return TYPE_NONE;
	if (types->count == types->room) {
		const size_t room = types->room ? 2 * types->room : 64;
		char **grown = realloc(types->name, room * sizeof(*grown));

		if (!grown)
			return TYPE_NONE;
		types->name = grown;
		types->room = room;
	}
	types->name[types->count] = strdup(name);
	return types->name[types->count] ? (uint32_t)types->count++ : TYPE_NONE;
}

uint32_t type_infos_find(struct type_infos *types, uint64_t word)
{
	char name[TYPE_NAME_MAX];

	if (word < types->lo || word >= types->hi || word % WORD)
		return TYPE_NONE;
	if (!make_room(types))
		return TYPE_NONE;
	struct type_table *table = slot_of(types, word);
	if (!table->at) {
		/* hostile programs may have as many as they have blocks */
		if (types->table_count >= 4 * TYPES_MAX)
			return TYPE_NONE;
		*table = (struct type_table){word, TYPE_NONE};
		types->table_count++;
		if (read_type(types, word, name))
			table->type = add_name(types, name);
	}
	return table->type;
}
